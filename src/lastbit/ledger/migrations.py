"""How the tables of an older lastbit become those of this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

from lastbit.errors import LedgerError
from lastbit.ledger.chain import digest
from lastbit.ledger.tables import ACCOUNTS, ENTRIES

VERSION: Final = 2


def _name_neighbours_and_begin_digests(books: sa.Connection) -> None:
    """Version 2: accounts and entries name their adjacency, and a running hash covers the entries.

    Version 1 knew no adjacency: its accounts add up what is said for people who come or go. Its entries get their
    digests here, so what happened to them before shows in sums at most.
    """
    known = {column["name"] for column in sa.inspect(books).get_columns(ENTRIES.name)}
    if "digest" in known:
        # Digests made anew would hide a change: whoever could set the version back has had a reason.
        raise LedgerError(
            "the ledger says that it has version 1, but it has the digests of version 2: somebody changed it. Restore "
            "it from a copy. Nothing was drawn."
        )
    for table in (ACCOUNTS.name, ENTRIES.name):
        for column, value in (("adjacency", "add-remove"), ("digest", "")):
            books.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL DEFAULT '{value}'")
            if books.dialect.name == "postgresql":
                # An older lastbit that has looked at the version before this fails when it writes now.
                books.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT")
    last: dict[str, str] = {}
    for entry in books.execute(sa.select(ENTRIES).order_by(ENTRIES.c.id)).all():
        last[entry.dataset] = digest(last.get(entry.dataset, ""), entry)
        books.execute(ENTRIES.update().where(ENTRIES.c.id == entry.id).values(digest=last[entry.dataset]))
    for dataset, made in last.items():
        books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == dataset).values(digest=made))


MIGRATIONS: Final[dict[int, Callable[[sa.Connection], None]]] = {1: _name_neighbours_and_begin_digests}
"""MIGRATIONS[v] turns the tables of version v into those of version v + 1, in the transaction that finds them old."""
