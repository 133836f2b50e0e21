"""Numbers, tables, pictures and JSON, as people and programs read them."""
