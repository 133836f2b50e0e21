"""Attacks that break textbook mechanisms, run against textbook mechanisms and against lastbit's."""
