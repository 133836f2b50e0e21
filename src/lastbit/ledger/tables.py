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
    sa.Column("budget", sa.Text, nullable=False),  # in epsilon, or "none"; "limit" is a word of SQL
    sa.Column("spent", sa.Text, nullable=False),  # in epsilon, or "none" where a release had none
    sa.Column("adjacency", sa.Text, nullable=False),
    sa.Column("digest", sa.Text, nullable=False),  # of the last entry
    sa.Column("rho_budget", sa.Text, nullable=False),  # or "none"
    sa.Column("delta_budget", sa.Text, nullable=False),
    sa.Column("delta_of_rho", sa.Text, nullable=False),
    sa.Column("spent_rho", sa.Text, nullable=False),
    sa.Column("spent_delta", sa.Text, nullable=False),
    sa.Column("protects", sa.Text, nullable=False),  # what all charges protect; "" before the first that says so
    sa.Column("seal", sa.Text, nullable=False),  # of all columns above
)

ENTRIES: Final = sa.Table(
    "lastbit_entries",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("dataset", sa.Text, sa.ForeignKey("lastbit_accounts.dataset"), nullable=False),
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
    sa.Column("terms", sa.Text, nullable=False),  # the exact numbers in all currencies
    sa.Column("question", sa.Text, nullable=False),  # its facts as JSON; "" where nobody said
    sa.Column("question_digest", sa.Text, nullable=False),  # an index cannot hold long questions
    sa.Column("about", sa.Text, nullable=False),  # the question as people read it
    sa.Column("protects", sa.Text, nullable=False),
    sa.Column("asker", sa.Text, nullable=False),  # the name of a token; "" where nobody said
    sa.Column("published", sa.Text),  # filled in with `released`
    sa.Column("published_digest", sa.Text),
    # What keeps a charge, a page of the history and an answer from the books quick among many entries.
    sa.Index("lastbit_entries_in_order", "dataset", "id"),
    sa.Index("lastbit_entries_by_question", "dataset", "question_digest"),
)

ONCE: Final = sa.Table(
    "lastbit_once",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("entry", sa.Integer, nullable=False),
)
