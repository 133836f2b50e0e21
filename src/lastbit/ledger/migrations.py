"""How the tables of an older lastbit become those of this one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import sqlalchemy as sa

from lastbit.errors import LedgerError
from lastbit.ledger.account import total
from lastbit.ledger.chain import FIELDS, digest, exact, seal
from lastbit.ledger.price import Price
from lastbit.ledger.tables import ACCOUNTS, ENTRIES, INDEXES

VERSION: Final = 5


def _name_neighbours_and_begin_digests(books: sa.Connection) -> None:
    """Version 2: accounts and entries name their adjacency, and a running hash covers the entries.

    Version 1 knew no adjacency: its accounts add up what is said for people who come or go. Its entries get their
    digests here, so what happened to them before shows in sums at most.
    """
    # Digests made anew would hide a change: whoever could set the version back has had a reason.
    _refuse_if_there(books, "digest", "version 1, but it has the digests of version 2")
    for table in (ACCOUNTS.name, ENTRIES.name):
        for column, value in (("adjacency", "add-remove"), ("digest", "")):
            _add(books, table, column, value)
    last: dict[str, str] = {}
    for entry in _entries(books):
        last[entry.dataset] = digest(last.get(entry.dataset, ""), entry)
        books.execute(ENTRIES.update().where(ENTRIES.c.id == entry.id).values(digest=last[entry.dataset]))
    for dataset, made in last.items():
        books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == dataset).values(digest=made))


def _count_in_three_currencies(books: sa.Connection) -> None:
    """Version 3: accounts add up epsilon, rho and delta, and entries keep questions and what was published.

    Accounts of version 2 are for epsilon alone. Their entries stay as they are, and so do their digests.
    """
    _refuse_if_there(books, "terms", "version 2, but it has the currencies of version 3")
    for column, value in (
        ("rho_budget", "none"),
        ("delta_budget", "0"),
        ("delta_of_rho", "0"),
        ("spent_rho", "0"),
        ("spent_delta", "0"),
    ):
        _add(books, ACCOUNTS.name, column, value)
    for column in ("terms", "question"):
        _add(books, ENTRIES.name, column, "")
    for column in ("published", "published_digest"):
        books.exec_driver_sql(f"ALTER TABLE {ENTRIES.name} ADD COLUMN {column} TEXT")
    sums: dict[str, Fraction] = {}
    for entry in _entries(books):
        amount = exact(entry.amount)
        if entry.kind == "charge" and amount is not None and amount > 0:  # verify names the others
            sums[entry.dataset] = total(sums.get(entry.dataset, Fraction(0)), Price.before_rho(amount).rho)
    for dataset, rho in sums.items():
        books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == dataset).values(spent_rho=str(rho)))


def _seal_accounts(books: sa.Connection) -> None:
    """Version 4: a seal covers what an account's row says. It begins with what the row says now."""
    if "seal" in {each["name"] for each in sa.inspect(books).get_columns(ACCOUNTS.name)}:
        raise _contradicted("version 3, but it has the seals of version 4")
    _add(books, ACCOUNTS.name, "seal", "")
    for row in books.execute(sa.select(ACCOUNTS)).all():
        books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == row.dataset).values(seal=seal(row)))


def _index_entries(books: sa.Connection) -> None:
    """Version 5: the entries of an account are found in order, and by their questions."""
    books.exec_driver_sql("DROP INDEX IF EXISTS ix_lastbit_entries_dataset")
    for index in INDEXES:
        books.execute(sa.schema.CreateIndex(index, if_not_exists=True))


def _entries(books: sa.Connection) -> Any:
    """All entries, by the columns that every version has."""
    return books.execute(sa.select(*(ENTRIES.c[name] for name in FIELDS)).order_by(ENTRIES.c.id)).all()


def _refuse_if_there(books: sa.Connection, column: str, contradiction: str) -> None:
    if column in {each["name"] for each in sa.inspect(books).get_columns(ENTRIES.name)}:
        raise _contradicted(contradiction)


def _contradicted(contradiction: str) -> LedgerError:
    return LedgerError(
        f"the ledger says that it has {contradiction}: somebody changed it. Restore it from a copy. Nothing was drawn."
    )


def _add(books: sa.Connection, table: str, column: str, value: str) -> None:
    """A column of text, with this value in all rows that are there."""
    books.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {column} TEXT NOT NULL DEFAULT '{value}'")
    if books.dialect.name == "postgresql":
        # An older lastbit that has looked at the version before this fails when it writes now.
        books.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT")


MIGRATIONS: Final[dict[int, Callable[[sa.Connection], None]]] = {
    1: _name_neighbours_and_begin_digests,
    2: _count_in_three_currencies,
    3: _seal_accounts,
    4: _index_entries,
}
"""MIGRATIONS[v] turns the tables of version v into those of version v + 1, in the transaction that finds them old."""
