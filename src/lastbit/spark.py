"""Noisy top-k where the candidates are: in Spark."""
