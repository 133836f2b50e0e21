"""Which queries of a stream are over a threshold, and by how much."""
