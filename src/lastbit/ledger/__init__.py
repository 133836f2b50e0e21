"""Exact budgets: one account for each data set, in a SQLite file or, for a team, in PostgreSQL."""

from lastbit.ledger.ledger import Account, Charge, Entry, Ledger

__all__ = ["Account", "Charge", "Entry", "Ledger"]
