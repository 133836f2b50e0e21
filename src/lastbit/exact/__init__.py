"""Public numbers: what a person types, exactly, and rounding toward privacy."""
