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
from lastbit.ledger import codec, names
from lastbit.ledger.account import Account
from lastbit.ledger.chain import digest, parse_price, seal
from lastbit.ledger.entry import Entry
from lastbit.ledger.identity import Identity
from lastbit.ledger.price import Price, write_terms
from lastbit.ledger.statement import Statement
from lastbit.ledger.store import Store
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency, parse_adjacency

_HISTORY_COLUMNS: Final = (
    *(column for column in ENTRIES.c if column.name != "published"),
    ENTRIES.c.published.is_not(None).label("recorded"),
)
"""What the history reads of an entry: all but the published release, which may be long."""
_PAGE: Final = 500
_LONG: Final = 1 << 22
"""The characters of published releases after which a page ends."""

_BY_NAME: Final = sa.select(ACCOUNTS).where(ACCOUNTS.c.dataset == sa.bindparam("name"))
_ACCOUNT: Final = Statement(_BY_NAME)
_ACCOUNT_LOCKED: Final = Statement(_BY_NAME.with_for_update())
_ENTRY: Final = sa.select(ENTRIES).where(ENTRIES.c.id == sa.bindparam("entry"))
_ENTRY_HISTORY: Final = sa.select(*_HISTORY_COLUMNS).where(ENTRIES.c.id == sa.bindparam("entry"))
_RELEASE_COLUMNS: Final = ("released", "published", "published_digest")
_ADD_ENTRY: Final = Statement(
    ENTRIES.insert(), *(column.name for column in ENTRIES.c if column.name not in ("id", *_RELEASE_COLUMNS))
)
_CHANGE_ENTRY: Final = ENTRIES.update().where(ENTRIES.c.id == sa.bindparam("entry"))
_SET_DIGEST: Final = Statement(_CHANGE_ENTRY, "entry", "digest")
_SET_RELEASE: Final = Statement(_CHANGE_ENTRY, "entry", *_RELEASE_COLUMNS)
_ANSWERS: Final = Statement(
    # Without an order, which SQLite would take another index for.
    sa.select(ENTRIES.c.id).where(
        ENTRIES.c.dataset == sa.bindparam("name"),
        ENTRIES.c.question_digest == sa.bindparam("question_digest"),
        ENTRIES.c.kind.in_((sa.literal_column("'charge'"), sa.literal_column("'part'"))),
        ENTRIES.c.mechanism == sa.bindparam("mechanism"),
        ENTRIES.c.parameters == sa.bindparam("parameters"),
        ENTRIES.c.adjacency == sa.bindparam("adjacency"),
        ENTRIES.c.question == sa.bindparam("question"),  # somebody may have changed the digest by hand
        ENTRIES.c.released.is_not(None),
        ENTRIES.c.published.is_not(None),
    )
)
_SET_STATE: Final = Statement(
    ACCOUNTS.update().where(ACCOUNTS.c.dataset == sa.bindparam("name")),
    "name",
    *(column.name for column in ACCOUNTS.c if column.name != "dataset"),
)


def now() -> str:
    """Return the time, as the books write it."""
    return datetime.now(UTC).isoformat()


def find_account_row(connection: sa.Connection, dataset: str, *, lock: bool = False) -> Any:
    """Read the row of an account; with `lock` nobody else can charge the account before the transaction ends."""
    try:
        row = (_ACCOUNT_LOCKED if lock else _ACCOUNT).first(connection, {"name": dataset})
    except UnicodeEncodeError:  # half a character, which no database holds
        row = None
    if row is not None:
        return row
    similar = names.find_same_name(dataset, connection.scalars(sa.select(ACCOUNTS.c.dataset)))
    advice = (
        "Create it with a limit first: lastbit budget create NAME --ledger FILE --epsilon 3, or ledger.create(NAME, "
        "epsilon=3). lastbit budget show lists all accounts."
        if similar is None
        else f"There is one named {similar!r}: write it so."
    )
    raise AccountNotFound(f"there is no account named {dataset!r}. {advice} Nothing was drawn.")


def read_history(
    connection: sa.Connection, dataset: str, *, last: int | None = None, before: int | None = None
) -> Sequence[Any]:
    """Read the entries of an account without what they published, oldest first: all, or the `last` before an id."""
    query = sa.select(*_HISTORY_COLUMNS).where(ENTRIES.c.dataset == dataset).order_by(ENTRIES.c.id.desc()).limit(last)
    if before is not None:
        query = query.where(ENTRIES.c.id < before)
    return connection.execute(query).all()[::-1]


def read_account_state(connection: sa.Connection, dataset: str) -> tuple[Any, int]:
    """Read the row of an account and the id of its last entry, both of one moment."""
    find_account_row(connection, dataset)
    last = sa.select(sa.func.max(ENTRIES.c.id)).where(ENTRIES.c.dataset == dataset).scalar_subquery()
    row = connection.execute(sa.select(ACCOUNTS, last.label("last")).where(ACCOUNTS.c.dataset == dataset)).one()
    return row, row.last or 0


def has_entry(connection: sa.Connection, dataset: str, entry: int, digest: str) -> bool:
    """Return whether an account has an entry with this id and digest."""
    row = find_entry_row(connection, entry)
    return row is not None and (row.dataset, row.digest) == (dataset, digest)


def has_digest(connection: sa.Connection, datasets: Sequence[str], digest: str) -> bool:
    """Return whether an entry of these accounts has this digest."""
    owners = connection.scalars(sa.select(ENTRIES.c.dataset).where(ENTRIES.c.digest == digest))
    return not set(datasets).isdisjoint(owners)


def read_entries(store: Store, dataset: str, last: int) -> Iterator[Any]:
    """Read the whole entries of an account up to this id, oldest first. Entries never change, so that pages will do."""
    query = sa.select(ENTRIES).where(ENTRIES.c.dataset == dataset, ENTRIES.c.id <= last).order_by(ENTRIES.c.id)
    query = query.where(ENTRIES.c.id > sa.bindparam("after")).limit(_PAGE).execution_options(yield_per=20)
    after, more = 0, True
    while more:
        page: list[Any] = []
        size = 0
        with store.read_transaction() as connection, connection.execute(query, {"after": after}) as result:
            for row in result:
                page.append(row)
                size += len(row.published or "")
                if size > _LONG:
                    break
        # Outside of the transaction: nobody knows when, and in which thread, the reader goes on.
        for row in page:
            yield row
            after = row.id
        more = bool(page)


def find_entry_row(connection: sa.Connection, entry: int) -> Any:
    """Read the row of the entry with this id; None where there is none."""
    return _find_by_id(connection, _ENTRY, entry)


def find_history_row(connection: sa.Connection, entry: int) -> Any:
    """Read the row of the entry with this id, without what it published; None where there is none."""
    return _find_by_id(connection, _ENTRY_HISTORY, entry)


def _find_by_id(connection: sa.Connection, query: sa.Select[Any], entry: int) -> Any:
    # A database cannot even be asked for a number that is longer than its ids.
    return connection.execute(query, {"entry": entry}).first() if entry.bit_length() < 32 else None


def parse_account(row: Any) -> Account:
    """Return the state of an account from its row."""
    if row.seal != seal(row):
        raise LedgerError(
            f"the books of {row.dataset!r} are damaged: somebody changed the account by hand. lastbit budget verify "
            "says how. Restore the ledger from a copy. Nothing was drawn."
        )
    try:
        return Account(
            row.dataset,
            _parse_optional(row.budget),
            _parse_optional(row.spent),
            parse_adjacency(row.adjacency),
            row.digest,
            _parse_optional(row.rho_budget),
            _parse_fraction(row.delta_budget),
            _parse_fraction(row.delta_of_rho),
            _parse_fraction(row.spent_rho),
            _parse_fraction(row.spent_delta),
            row.protects,
        )
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damage_error(row.dataset)


def account_columns(account: Account) -> dict[str, str]:
    """Return the columns of an account's row that a charge or a higher limit changes."""
    return {
        "budget": _write_optional(account.epsilon_limit),
        "spent": _write_optional(account.spent_epsilon),
        "rho_budget": _write_optional(account.rho_limit),
        "delta_budget": str(account.delta_limit),
        "delta_of_rho": str(account.delta_of_rho),
        "spent_rho": str(account.spent_rho),
        "spent_delta": str(account.spent_delta),
        "protects": account.protects,
    }


@lru_cache(64)
def _parse_fraction(text: str) -> Fraction:
    """Return a sum or a limit. Most are those of the charge before, so they are remembered."""
    return Fraction(text)


def _parse_optional(text: str) -> Fraction | None:
    return None if text == "none" else _parse_fraction(text)


def _write_optional(value: Fraction | None) -> str:
    return "none" if value is None else str(value)


def parse_entry(row: Any, source: Callable[[int], str]) -> Entry:
    """Return an entry of the history from its row; `source` reads what the entry published."""
    try:
        amount = Fraction(row.amount)
        price = parse_price(row.terms) if row.kind == "charge" else None
        if row.kind == "refund":
            price = Price(-amount, Fraction(0))
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
            adjacency=parse_adjacency(row.adjacency),
            digest=row.digest,
            epsilon=None if price is None else price.epsilon,
            rho=None if price is None else price.rho,
            delta=Fraction(0) if price is None else price.delta,
            question=row.question,
            about=row.about,
            protects=row.protects,
            asker=row.asker,
            recorded=bool(row.recorded),
            source=source,
        )
    except (TypeError, ValueError, ZeroDivisionError):
        pass
    raise damage_error(row.dataset)


def check_published(row: Any) -> Any:
    """Return the row of an entry, or raise where its published release does not fit its digest."""
    if row.published is not None and row.published_digest != codec.digest(row.digest, row.published):
        raise damage_error(row.dataset)
    return row


def damage_error(dataset: str) -> LedgerError:
    """Return the error for a row that no lastbit can have written."""
    return LedgerError(f"the books of {dataset!r} are damaged. Restore the ledger from a copy. Nothing was drawn.")


def add_entry(
    connection: sa.Connection,
    account: Account,
    kind: str,
    amount: Fraction,
    terms: str,
    *,
    adjacency: Adjacency | None = None,
    mechanism: Mechanism[Any] | None = None,
    note: str,
    question: Identity | None = None,
    asker: str = "",
) -> tuple[int, str]:
    """Add an entry after the account's last one, and keep the state of the account. The id and the digest."""
    values = {
        "dataset": account.dataset,
        "kind": kind,
        "time": now(),
        "mechanism": "" if mechanism is None else str(mechanism.name),
        "parameters": "{}" if mechanism is None else write_parameters(mechanism),
        "cost": "" if mechanism is None else mechanism.cost.text,
        "amount": str(amount),
        "note": note,
        "adjacency": adjacency or account.adjacency,
        "terms": terms,
        "question": "" if question is None else question.text,
        "question_digest": "" if question is None else question.digest,
        "about": "" if question is None else question.about,
        "protects": "" if question is None else question.protects,
        "asker": asker,
    }
    entry_id = _ADD_ENTRY.insert(connection, {**values, "digest": ""})
    last = digest(account.digest, SimpleNamespace(**values, id=entry_id))
    _SET_DIGEST.change(connection, {"entry": entry_id, "digest": last})
    state = {"dataset": account.dataset, "adjacency": account.adjacency, "digest": last, **account_columns(account)}
    state["seal"] = seal(SimpleNamespace(**state))
    _SET_STATE.change(connection, {"name": account.dataset, **state})
    return entry_id, last


def has_refund(connection: sa.Connection, dataset: str, terms: str) -> bool:
    """Tell whether an account has given this back already."""
    query = sa.select(ENTRIES.c.id).where(
        ENTRIES.c.dataset == dataset, ENTRIES.c.kind == "refund", ENTRIES.c.terms == terms
    )
    return connection.execute(query).first() is not None


def find_part_rows(connection: sa.Connection, dataset: str, charge: int) -> Sequence[Any]:
    """Read the rows of the parts that a charge has paid for, oldest first, without what they published."""
    query = sa.select(*_HISTORY_COLUMNS).where(
        ENTRIES.c.dataset == dataset, ENTRIES.c.kind == "part", ENTRIES.c.terms == write_terms(of=Fraction(charge))
    )
    return connection.execute(query.order_by(ENTRIES.c.id)).all()


def mark_released(connection: sa.Connection, entry: int, text: str | None, text_digest: str | None) -> None:
    """Mark an entry as released, with what it published and the digest of that."""
    _SET_RELEASE.change(
        connection, {"entry": entry, "released": now(), "published": text, "published_digest": text_digest}
    )


def write_parameters(mechanism: Mechanism[Any]) -> str:
    """Return the parameters of a mechanism as the books write them."""
    return json.dumps(mechanism.parameters)


def find_answer_row(
    connection: sa.Connection, dataset: str, mechanism: Mechanism[Any], adjacency: Adjacency | None, question: Identity
) -> Any:
    """Find the row of the last release that answered this very question; None where there is none."""
    account = parse_account(find_account_row(connection, dataset))
    facts = {
        "name": dataset,
        "question_digest": question.digest,
        "mechanism": str(mechanism.name),
        "parameters": write_parameters(mechanism),
        "adjacency": adjacency or account.adjacency,
        "question": question.text,
    }
    # One by one: each may hold megabytes, and the first will do unless this lastbit cannot build it.
    for entry in sorted((row.id for row in _ANSWERS.all(connection, facts)), reverse=True):
        if isinstance(codec.decode(check_published(find_entry_row(connection, entry)).published), Release):
            return find_history_row(connection, entry)
    return None
