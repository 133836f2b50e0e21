"""Public numbers: the exact value of the text that a person types, and rounding toward privacy."""
