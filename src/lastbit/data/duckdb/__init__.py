"""Tables of DuckDB, counted in its own SQL."""
