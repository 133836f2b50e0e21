"""`Ledger`: what was spent on each data set, what may still be, and a record of every release."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, TypeVar

import sqlalchemy as sa

from lastbit.chance.draw import Draw
from lastbit.errors import BudgetExceeded, LedgerError, ParameterError
from lastbit.exact.numbers import Number, positive
from lastbit.ledger.store import ACCOUNTS, ENTRIES, Store
from lastbit.mechanisms.mechanism import Mechanism, chance
from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.privacy.cost import Cost

Published = TypeVar("Published")


@dataclass(frozen=True)
class Account:
    """What a data set may cost in all, and what it has cost so far: exact, in epsilon."""

    dataset: str
    limit: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.limit - self.spent

    def allows(self, cost: Cost) -> bool:
        """Whether the limit leaves room for a cost."""
        return cost.amount <= self.remaining

    def charged(self, cost: Cost) -> Account:
        """The account as it would be after a charge, or BudgetExceeded. This writes nothing."""
        if not self.allows(cost):
            raise BudgetExceeded(self.dataset, cost.amount, self.spent, self.limit)
        return replace(self, spent=self.spent + cost.amount)


@dataclass(frozen=True)
class Entry:
    """One line of the history: an account created, a charge, or a limit raised. Nothing private is in it."""

    id: int
    dataset: str
    kind: str
    """create, charge or raise."""
    time: datetime
    mechanism: str
    parameters: Mapping[str, str]
    cost: str
    """As the mechanism states it."""
    amount: Fraction
    """What was charged, in epsilon; for create and raise, the new limit."""
    note: str
    released: datetime | None
    """When the release was done; None when it failed, was cut short, or is under way. It is charged all the same."""


@dataclass(frozen=True)
class Charge:
    """Proof that a cost is in the books: whoever holds one may draw."""

    id: int
    account: Account


class Ledger:
    """Accounts with limits, in a SQLite file or a PostgreSQL database, that no number of processes can overdraw.

    A charge is committed to disk before anything is drawn. A release that fails or crashes stays charged: that may
    waste budget and can never exceed it. Sums are exact fractions. What is recorded is public: mechanism, parameters,
    cost, time, note; never a value.

    >>> import tempfile, lastbit as lb
    >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.create("clinic", epsilon=1)
    Account(dataset='clinic', limit=Fraction(1, 1), spent=Fraction(0, 1))
    >>> noisy = ledger.release("clinic", lb.DiscreteLaplace(epsilon="0.7"), [120, 45], note="weekly")
    >>> ledger.account("clinic").remaining
    Fraction(3, 10)
    >>> ledger.release("clinic", lb.DiscreteLaplace(epsilon="0.7"), [120, 45])
    Traceback (most recent call last):
    lastbit.errors.BudgetExceeded: the budget of 'clinic' allows no more than 3/10: requested 7/10, spent 7/10, ...
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._store = Store(place)

    def __repr__(self) -> str:
        return f"<Ledger: {self._store!r}>"

    def create(self, dataset: str, *, epsilon: Number, note: str = "") -> Account:
        """Open an account with a limit. The first one makes the ledger."""
        limit = _limit(epsilon)
        if not isinstance(dataset, str) or not dataset.strip():
            raise ParameterError("a data set must have a name: got none.")
        with self._store.transaction(create=True) as books:
            taken = books.execute(sa.select(ACCOUNTS.c.dataset).where(ACCOUNTS.c.dataset == dataset)).first()
            if taken is None:
                # PostgreSQL: of two who create the same account at once, the second fails on the primary key.
                books.execute(ACCOUNTS.insert().values(dataset=dataset, budget=str(limit), spent="0"))
                _write(books, dataset, "create", limit, note=note)
        if taken is not None:
            raise LedgerError(
                f"there is an account named {dataset!r} already. Raise its limit, or choose another name."
            )
        return Account(dataset, limit, Fraction(0))

    def account(self, dataset: str) -> Account:
        """The state of one account."""
        with self._store.transaction() as books:
            return _account(books, dataset)

    def accounts(self) -> tuple[Account, ...]:
        """The state of all accounts, by name."""
        with self._store.transaction() as books:
            rows = books.execute(sa.select(ACCOUNTS).order_by(ACCOUNTS.c.dataset)).all()
        return tuple(_state(row) for row in rows)

    def history(self, dataset: str) -> tuple[Entry, ...]:
        """Everything that happened to an account, oldest first."""
        with self._store.transaction() as books:
            _account(books, dataset)
            rows = books.execute(sa.select(ENTRIES).where(ENTRIES.c.dataset == dataset).order_by(ENTRIES.c.id)).all()
        return tuple(_entry(row) for row in rows)

    def raise_limit(self, dataset: str, *, epsilon: Number, note: str = "") -> Account:
        """Set a higher limit. The history records it."""
        limit = _limit(epsilon)
        with self._store.transaction() as books:
            account = _account(books, dataset, lock=True)
            if limit <= account.limit:
                raise LedgerError(
                    f"the limit of {dataset!r} is {account.limit}: the new one must be above that, got {limit}."
                )
            books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == dataset).values(budget=str(limit)))
            _write(books, dataset, "raise", limit, note=note)
        return Account(dataset, limit, account.spent)

    def charge(self, dataset: str, mechanism: Mechanism[Any], *, note: str = "") -> Charge:
        """Take a mechanism's cost from the budget, or raise BudgetExceeded. When this returns, it is on disk."""
        with self._store.transaction() as books:
            account = _account(books, dataset, lock=True).charged(mechanism.cost)
            books.execute(ACCOUNTS.update().where(ACCOUNTS.c.dataset == dataset).values(spent=str(account.spent)))
            entry = _write(books, dataset, "charge", mechanism.cost.amount, mechanism=mechanism, note=note)
        return Charge(entry, account)

    def record(self, charge: Charge) -> None:
        """Note that the release of a charge was done."""
        with self._store.transaction() as books:
            books.execute(ENTRIES.update().where(ENTRIES.c.id == charge.id).values(released=_now()))

    def spend(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        ready: Callable[[Draw], Published],
        *,
        note: str = "",
        draw: Draw | None = None,
    ) -> Published:
        """Charge a mechanism's cost, then draw, then record: the one way from a budget to a release.

        `ready` is the second half of a release of this mechanism, such as `mechanism.ready(values)` gives.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.ExponentialMechanism(epsilon="1/2")
        >>> ledger.spend("clinic", mechanism, mechanism.ready_ranking([0, 1000, 500], 2)).indices
        (1, 2)
        """
        draw = chance(draw)
        charge = self.charge(dataset, mechanism, note=note)
        published = ready(draw)
        self.record(charge)
        return published

    def release(
        self,
        dataset: str,
        mechanism: Mechanism[Published],
        *values: Any,
        note: str = "",
        draw: Draw | None = None,
        **options: Any,
    ) -> Published:
        """Charge, then draw, then record. What the mechanism refuses is refused before, and costs nothing.

        Values and options are those of `mechanism.release`.
        """
        return self.spend(dataset, mechanism, mechanism.ready(*values, **options), note=note, draw=draw)

    def start(self, dataset: str, mechanism: StreamMechanism, *, note: str = "", draw: Draw | None = None) -> Run:
        """Charge the whole cost of a sparse vector, then start a run.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> run = ledger.start("clinic", lb.SparseVector(threshold=1000, limit=1, epsilon="1/2"))
        >>> run.ask(2000).above, ledger.account("clinic").remaining
        (True, Fraction(1, 2))
        """
        return self.spend(dataset, mechanism, mechanism.start, note=note, draw=draw)


def _limit(epsilon: Number) -> Fraction:
    return positive(epsilon, "epsilon", "An account that allows nothing is of no use.")


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _account(books: sa.Connection, dataset: str, *, lock: bool = False) -> Account:
    query = sa.select(ACCOUNTS).where(ACCOUNTS.c.dataset == dataset)
    row = books.execute(query.with_for_update() if lock else query).first()
    if row is None:
        raise LedgerError(f"there is no account named {dataset!r}. Create it with a limit first. Nothing was drawn.")
    return _state(row)


def _state(row: Any) -> Account:
    try:
        return Account(row.dataset, Fraction(row.budget), Fraction(row.spent))
    except (ValueError, ZeroDivisionError):
        pass
    raise LedgerError(f"the books of {row.dataset!r} are damaged. Restore the ledger from a copy. Nothing was drawn.")


def _write(
    books: sa.Connection,
    dataset: str,
    kind: str,
    amount: Fraction,
    *,
    mechanism: Mechanism[Any] | None = None,
    note: str,
) -> int:
    line = ENTRIES.insert().values(
        dataset=dataset,
        kind=kind,
        time=_now(),
        mechanism="" if mechanism is None else mechanism.name,
        parameters=json.dumps({} if mechanism is None else mechanism.parameters),
        cost="" if mechanism is None else mechanism.cost.text,
        amount=str(amount),
        note=note,
    )
    (entry,) = books.execute(line).inserted_primary_key or (0,)
    return int(entry)


def _entry(row: Any) -> Entry:
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
    )
