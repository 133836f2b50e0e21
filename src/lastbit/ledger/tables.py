"""The tables of a ledger. Sums are exact fractions, so they are kept as text."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

METADATA: Final = sa.MetaData()

SCHEMA: Final = sa.Table("lastbit_schema", METADATA, sa.Column("version", sa.Integer, nullable=False))

ACCOUNTS: Final = sa.Table(
    "lastbit_accounts",
    METADATA,
    sa.Column("dataset", sa.Text, primary_key=True),
    sa.Column("budget", sa.Text, nullable=False),  # "limit" is a word of SQL
    sa.Column("spent", sa.Text, nullable=False),
    sa.Column("adjacency", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),  # of the last entry
)

ENTRIES: Final = sa.Table(
    "lastbit_entries",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("dataset", sa.Text, sa.ForeignKey("lastbit_accounts.dataset"), nullable=False, index=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("time", sa.Text, nullable=False),
    sa.Column("mechanism", sa.Text, nullable=False),
    sa.Column("parameters", sa.Text, nullable=False),
    sa.Column("cost", sa.Text, nullable=False),
    sa.Column("amount", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("released", sa.Text),
    sa.Column("adjacency", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),
)
