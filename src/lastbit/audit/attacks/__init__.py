"""Attacks that break the usual floating-point mechanisms, and must gain nothing here."""
