"""Rows of a ledger, read and written inside a transaction of its store."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import sqlalchemy as sa

from lastbit.errors import LedgerError
from lastbit.ledger import names
from lastbit.ledger.account import Account, Entry
from lastbit.ledger.chain import digest
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.adjacency import Adjacency, named


def now() -> str:
    """The time, as the books write it."""
    return datetime.now(UTC).isoformat()


def row_of(books: sa.Connection, dataset: str, *, lock: bool = False) -> Any:
    """The row of an account as it is; with `lock` nobody else can charge it before the transaction ends."""
    query = sa.select(ACCOUNTS).where(ACCOUNTS.c.dataset == dataset)
    row = books.execute(query.with_for_update() if lock else query).first()
    if row is not None:
        return row
    meant = names.same(dataset, books.scalars(sa.select(ACCOUNTS.c.dataset)))
    advice = "Create it with a limit first." if meant is None else f"There is one named {meant!r}: write it so."
    raise LedgerError(f"there is no account named {dataset!r}. {advice} Nothing was drawn.")


def rows_of(books: sa.Connection, dataset: str) -> Any:
    """The entries of an account, oldest first."""
    return books.execute(sa.select(ENTRIES).where(ENTRIES.c.dataset == dataset).order_by(ENTRIES.c.id)).all()


def account_of(row: Any) -> Account:
    """The state of an account from its row."""
    try:
        return Account(row.dataset, Fraction(row.budget), Fraction(row.spent), named(row.adjacency), row.digest)
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damaged(row.dataset)


def entry_of(row: Any) -> Entry:
    """A line of the history from its row."""
    try:
        return Entry(
            id=row.id,
            dataset=row.dataset,
            kind=row.kind,
            time=datetime.fromisoformat(row.time),
            mechanism=row.mechanism,
            parameters=json.loads(row.parameters),
            cost=row.cost,
            amount=Fraction(row.amount),
            note=row.note,
            released=None if row.released is None else datetime.fromisoformat(row.released),
            adjacency=named(row.adjacency),
            digest=row.digest,
        )
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damaged(row.dataset)


def damaged(dataset: str) -> LedgerError:
    """The refusal to read what nobody can have written."""
    return LedgerError(f"the books of {dataset!r} are damaged. Restore the ledger from a copy. Nothing was drawn.")


def write(
    books: sa.Connection,
    account: Account,
    kind: str,
    amount: Fraction,
    *,
    adjacency: Adjacency | None = None,
    mechanism: Mechanism[Any] | None = None,
    note: str,
) -> tuple[int, str]:
    """Add an entry after the account's last one, and keep the state of the account. The id and the digest."""
    line = {
        "dataset": account.dataset,
        "kind": kind,
        "time": now(),
        "mechanism": "" if mechanism is None else str(mechanism.name),
        "parameters": json.dumps({} if mechanism is None else mechanism.parameters),
        "cost": "" if mechanism is None else mechanism.cost.text,
        "amount": str(amount),
        "note": note,
        "adjacency": adjacency or account.adjacency,
    }
    (made,) = books.execute(ENTRIES.insert().values(**line, digest="")).inserted_primary_key or (0,)
    last = digest(account.digest, SimpleNamespace(**line, id=made))
    books.execute(ENTRIES.update().where(ENTRIES.c.id == made).values(digest=last))
    books.execute(
        ACCOUNTS.update()
        .where(ACCOUNTS.c.dataset == account.dataset)
        .values(budget=str(account.limit), spent=str(account.spent), digest=last)
    )
    return int(made), last
