"""Quantiles of one number for each person: one, or several by halves."""
