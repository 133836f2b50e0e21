"""The papers' algorithms, line by line on a Draw: to read, to teach, to check the mechanisms against."""
