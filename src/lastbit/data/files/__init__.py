"""Files and databases, opened as relations of DuckDB: one module for each format."""
