"""Rows of a ledger, read and written inside a transaction of its store."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

import sqlalchemy as sa

from lastbit.errors import AccountNotFound, LedgerError
from lastbit.ledger import names, published
from lastbit.ledger.account import Account
from lastbit.ledger.chain import digest, price_of, seal
from lastbit.ledger.entry import Entry
from lastbit.ledger.identity import Identity
from lastbit.ledger.statement import Statement
from lastbit.ledger.store import Store
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency, named

_LINE: Final = (
    *(each for each in ENTRIES.c if each.name != "published"),
    ENTRIES.c.published.is_not(None).label("kept"),
)
"""What the history reads of an entry: all but the published release, which may be long."""
_PAGE: Final = 500
_LONG: Final = 1 << 22
"""The characters of published releases after which a page ends."""

_NAMED: Final = sa.select(ACCOUNTS).where(ACCOUNTS.c.dataset == sa.bindparam("name"))
_ACCOUNT: Final = Statement(_NAMED)
_LOCKED: Final = Statement(_NAMED.with_for_update())
_ENTRY: Final = sa.select(ENTRIES).where(ENTRIES.c.id == sa.bindparam("entry"))
_ENTRY_LINE: Final = sa.select(*_LINE).where(ENTRIES.c.id == sa.bindparam("entry"))
_KEPT: Final = ("released", "published", "published_digest")
_ADD: Final = Statement(ENTRIES.insert(), *(each.name for each in ENTRIES.c if each.name not in ("id", *_KEPT)))
_CHANGE: Final = ENTRIES.update().where(ENTRIES.c.id == sa.bindparam("entry"))
_SIGN: Final = Statement(_CHANGE, "entry", "digest")
_KEEP: Final = Statement(_CHANGE, "entry", *_KEPT)
_STATE: Final = Statement(
    ACCOUNTS.update().where(ACCOUNTS.c.dataset == sa.bindparam("name")),
    "name",
    *(each.name for each in ACCOUNTS.c if each.name != "dataset"),
)


def now() -> str:
    """The time, as the books write it."""
    return datetime.now(UTC).isoformat()


def row_of(books: sa.Connection, dataset: str, *, lock: bool = False) -> Any:
    """The row of an account as it is; with `lock` nobody else can charge it before the transaction ends."""
    try:
        row = (_LOCKED if lock else _ACCOUNT).first(books, {"name": dataset})
    except UnicodeEncodeError:  # half a character, which no database holds
        row = None
    if row is not None:
        return row
    meant = names.same(dataset, books.scalars(sa.select(ACCOUNTS.c.dataset)))
    advice = (
        "Create it with a limit first: lastbit budget create NAME --ledger FILE --epsilon 3, or ledger.create(NAME, "
        "epsilon=3). lastbit budget show lists all accounts."
        if meant is None
        else f"There is one named {meant!r}: write it so."
    )
    raise AccountNotFound(f"there is no account named {dataset!r}. {advice} Nothing was drawn.")


def lines_of(
    books: sa.Connection, dataset: str, *, last: int | None = None, before: int | None = None
) -> Sequence[Any]:
    """The entries of an account without what they published, oldest first: all, or the last so many before an id."""
    query = sa.select(*_LINE).where(ENTRIES.c.dataset == dataset).order_by(ENTRIES.c.id.desc()).limit(last)
    if before is not None:
        query = query.where(ENTRIES.c.id < before)
    return books.execute(query).all()[::-1]


def state_of(books: sa.Connection, dataset: str) -> tuple[Any, int]:
    """The row of an account and the id of its last entry, both of one moment."""
    row_of(books, dataset)
    last = sa.select(sa.func.max(ENTRIES.c.id)).where(ENTRIES.c.dataset == dataset).scalar_subquery()
    row = books.execute(sa.select(ACCOUNTS, last.label("last")).where(ACCOUNTS.c.dataset == dataset)).one()
    return row, row.last or 0


def has(books: sa.Connection, dataset: str, entry: int, digest: str) -> bool:
    """Whether an account has an entry with this id and digest."""
    row = entry_row(books, entry)
    return row is not None and (row.dataset, row.digest) == (dataset, digest)


def has_digest(books: sa.Connection, datasets: Sequence[str], digest: str) -> bool:
    """Whether an entry of these accounts has this digest."""
    found = books.scalars(sa.select(ENTRIES.c.dataset).where(ENTRIES.c.digest == digest))
    return not set(datasets).isdisjoint(found)


def pages_of(store: Store, dataset: str, last: int) -> Iterator[Any]:
    """The whole entries of an account up to this id, oldest first. Entries never change, so that pages will do."""
    query = sa.select(ENTRIES).where(ENTRIES.c.dataset == dataset, ENTRIES.c.id <= last).order_by(ENTRIES.c.id)
    query = query.where(ENTRIES.c.id > sa.bindparam("after")).limit(_PAGE).execution_options(yield_per=20)
    after, more = 0, True
    while more:
        page: list[Any] = []
        size = 0
        with store.look() as books, books.execute(query, {"after": after}) as found:
            for row in found:
                page.append(row)
                size += len(row.published or "")
                if size > _LONG:
                    break
        # Outside of the transaction: nobody knows when, and in which thread, the reader goes on.
        for row in page:
            yield row
            after = row.id
        more = bool(page)


def entry_row(books: sa.Connection, entry: int) -> Any:
    """The row of the entry with this id; None where there is none."""
    return _one(books, _ENTRY, entry)


def line_row(books: sa.Connection, entry: int) -> Any:
    """The row of the entry with this id, without what it published; None where there is none."""
    return _one(books, _ENTRY_LINE, entry)


def _one(books: sa.Connection, query: sa.Select[Any], entry: int) -> Any:
    # A database cannot even be asked for a number that is longer than its ids.
    return books.execute(query, {"entry": entry}).first() if entry.bit_length() < 32 else None


def account_of(row: Any) -> Account:
    """The state of an account from its row."""
    if row.seal != seal(row):
        raise LedgerError(
            f"the books of {row.dataset!r} are damaged: somebody changed the account by hand. lastbit budget verify "
            "says how. Restore the ledger from a copy. Nothing was drawn."
        )
    try:
        return Account(
            row.dataset,
            _optional(row.budget),
            _optional(row.spent),
            named(row.adjacency),
            row.digest,
            _optional(row.rho_budget),
            _fraction(row.delta_budget),
            _fraction(row.delta_of_rho),
            _fraction(row.spent_rho),
            _fraction(row.spent_delta),
        )
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damaged(row.dataset)


def columns_of(account: Account) -> dict[str, str]:
    """The columns of an account's row that charges and higher limits change, and that a new account begins with."""
    return {
        "budget": _or_none(account.epsilon_limit),
        "spent": _or_none(account.spent_epsilon),
        "rho_budget": _or_none(account.rho_limit),
        "delta_budget": str(account.delta_limit),
        "delta_of_rho": str(account.delta_of_rho),
        "spent_rho": str(account.spent_rho),
        "spent_delta": str(account.spent_delta),
    }


@lru_cache(64)
def _fraction(text: str) -> Fraction:
    """A sum or a limit. Most are those of the charge before."""
    return Fraction(text)


def _optional(text: str) -> Fraction | None:
    return None if text == "none" else _fraction(text)


def _or_none(value: Fraction | None) -> str:
    return "none" if value is None else str(value)


def entry_of(row: Any, source: Callable[[int], str]) -> Entry:
    """A line of the history from its row; `source` reads what it published."""
    try:
        amount = Fraction(row.amount)
        price = price_of(row.terms) if row.kind == "charge" else None
        if row.kind == "charge" and price is None:
            raise ValueError
        return Entry(
            id=row.id,
            dataset=row.dataset,
            kind=row.kind,
            time=datetime.fromisoformat(row.time),
            mechanism=row.mechanism,
            parameters=json.loads(row.parameters),
            cost=row.cost,
            amount=amount,
            note=row.note,
            released=None if row.released is None else datetime.fromisoformat(row.released),
            adjacency=named(row.adjacency),
            digest=row.digest,
            epsilon=None if price is None else price.epsilon,
            rho=None if price is None else price.rho,
            delta=Fraction(0) if price is None else price.delta,
            question=row.question,
            about=row.about,
            protects=row.protects,
            recorded=bool(row.kept),
            source=source,
        )
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damaged(row.dataset)


def whole(row: Any) -> Any:
    """The row of an entry whose published release fits its digest."""
    if row.published is not None and row.published_digest != published.digest(row.digest, row.published):
        raise damaged(row.dataset)
    return row


def damaged(dataset: str) -> LedgerError:
    """The refusal to read what nobody can have written."""
    return LedgerError(f"the books of {dataset!r} are damaged. Restore the ledger from a copy. Nothing was drawn.")


def write(
    books: sa.Connection,
    account: Account,
    kind: str,
    amount: Fraction,
    terms: str,
    *,
    adjacency: Adjacency | None = None,
    mechanism: Mechanism[Any] | None = None,
    note: str,
    question: Identity | None = None,
) -> tuple[int, str]:
    """Add an entry after the account's last one, and keep the state of the account. The id and the digest."""
    line = {
        "dataset": account.dataset,
        "kind": kind,
        "time": now(),
        "mechanism": "" if mechanism is None else str(mechanism.name),
        "parameters": "{}" if mechanism is None else parameters_of(mechanism),
        "cost": "" if mechanism is None else mechanism.cost.text,
        "amount": str(amount),
        "note": note,
        "adjacency": adjacency or account.adjacency,
        "terms": terms,
        "question": "" if question is None else question.text,
        "question_digest": "" if question is None else question.digest,
        "about": "" if question is None else question.about,
        "protects": "" if question is None else question.protects,
    }
    made = _ADD.insert(books, {**line, "digest": ""})
    last = digest(account.digest, SimpleNamespace(**line, id=made))
    _SIGN.change(books, {"entry": made, "digest": last})
    state = {"dataset": account.dataset, "adjacency": account.adjacency, "digest": last, **columns_of(account)}
    state["seal"] = seal(SimpleNamespace(**state))
    _STATE.change(books, {"name": account.dataset, **state})
    return made, last


def record(books: sa.Connection, entry: int, text: str | None, made: str | None) -> None:
    """Mark an entry as released, with what it published and the digest of that."""
    _KEEP.change(books, {"entry": entry, "released": now(), "published": text, "published_digest": made})


def parameters_of(mechanism: Mechanism[Any]) -> str:
    """The parameters of a mechanism as the books write them."""
    return json.dumps(mechanism.parameters)


def answer_to(
    books: sa.Connection, dataset: str, mechanism: Mechanism[Any], adjacency: Adjacency | None, question: Identity
) -> Any:
    """The row of the last release that answered this very question; None where there is none."""
    account = account_of(row_of(books, dataset))
    # Without an order, which SQLite would take another index for.
    query = sa.select(*_LINE).where(
        ENTRIES.c.dataset == dataset,
        ENTRIES.c.question_digest == question.digest,
        ENTRIES.c.kind == "charge",
        ENTRIES.c.mechanism == str(mechanism.name),
        ENTRIES.c.parameters == parameters_of(mechanism),
        ENTRIES.c.adjacency == (adjacency or account.adjacency),
        ENTRIES.c.question == question.text,  # somebody may have changed the digest by hand
        ENTRIES.c.released.is_not(None),
        ENTRIES.c.published.is_not(None),
    )
    # One by one: each may hold megabytes, and the first will do unless this lastbit cannot build it.
    for row in sorted(books.execute(query), key=lambda row: -row.id):
        if isinstance(published.read(whole(entry_row(books, row.id)).published), Release):
            return row
    return None
