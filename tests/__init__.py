"""Everything the project promises, under test."""
