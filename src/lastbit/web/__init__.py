"""The page and the service of `lastbit serve`: to plan, to release, to watch the budget. Nothing is computed here."""
