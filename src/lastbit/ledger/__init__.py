"""Exact budgets: one account for each data set, in a SQLite file or, for a team, in PostgreSQL."""

from lastbit.errors import LastbitError

try:
    import sqlalchemy as _  # noqa: F401
except ImportError:
    raise LastbitError("Ledger needs SQLAlchemy. Install it with: pip install 'lastbit[ledger]'") from None

from lastbit.ledger.account import Account
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.identity import Identity
from lastbit.ledger.ledger import Ledger

__all__ = ["Account", "Charge", "Entry", "Identity", "Ledger"]
