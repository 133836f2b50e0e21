"""Filters and columns made of one row at a time: the text a person types → a tree → SQL of our own."""
