"""Which candidates are on top, and by how much."""
