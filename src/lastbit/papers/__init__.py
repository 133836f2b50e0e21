"""The papers' algorithms, line by line on a Draw: to read, to teach, and to compare the mechanisms with."""
