"""From tables to `Counts`, in the engine the table is in."""
