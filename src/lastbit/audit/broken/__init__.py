"""Mechanisms that cost more than they claim, each with two inputs that prove it."""
