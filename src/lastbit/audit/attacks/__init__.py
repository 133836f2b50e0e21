"""Attacks that break textbook mechanisms, run against those and against ours."""
