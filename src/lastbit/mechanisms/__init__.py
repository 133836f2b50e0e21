"""The mechanisms. Each is short, because a `Draw` does the hard part; none imports another."""
