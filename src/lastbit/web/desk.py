"""What the server holds: the table, the ledger, public lists, confirmations that wait, and work."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lastbit.errors import LedgerError, ParameterError
from lastbit.questions.answer import Payer, answer
from lastbit.questions.domain import Domain
from lastbit.questions.group_types import imply_domains
from lastbit.questions.kinds import find_kind
from lastbit.questions.option import Face
from lastbit.questions.reading import read_column_names
from lastbit.questions.request import Request
from lastbit.questions.row_options import RowOptions
from lastbit.questions.row_units import ROW, names_column
from lastbit.questions.value_types import describe
from lastbit.web.jobs import Job, Jobs

if TYPE_CHECKING:
    from lastbit.ledger import Account, Ledger

_MOST_ITEMS: Final = 200_000
"""Of a list that somebody asks about; a list that the server was started with may be longer."""
_MOST_REMEMBERED: Final = 2_000_000
"""So many items of lists are remembered, of questions that wait, and of past ones: some 200 MB."""


Value = TypeVar("Value")


class BoundedMap(Generic[Value]):
    """So many values by their keys, of so much weight together: the oldest are forgotten where there are more.

    >>> lists = BoundedMap(3, 100)
    >>> for name, length in (("a", 60), ("b", 30), ("c", 20), ("d", 1000)):
    ...     lists.put(name, name.upper(), length)
    >>> [lists.get(name) for name in "abcd"], lists.weight
    ([None, None, None, 'D'], 1000)
    """

    def __init__(self, most: int, most_weight: int) -> None:
        self._most, self._most_weight = most, most_weight
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self.weight = 0
        self._lock = Lock()

    def put(self, key: str, value: Value, weight: int) -> None:
        """Remember a value as the newest one. The newest one is never forgotten for its weight."""
        with self._lock:
            self.weight += weight - self._values.pop(key, (value, 0))[1]
            self._values[key] = (value, weight)
            while len(self._values) > self._most or (self.weight > self._most_weight and len(self._values) > 1):
                self.weight -= self._values.popitem(last=False)[1][1]

    def get(self, key: str) -> Value | None:
        """Return the value of a key; None where it is forgotten or was never there."""
        value, _ = self._values.get(key, (None, 0))
        return value

    def clear(self) -> dict[str, Value]:
        """Forget everything, and return it."""
        with self._lock:
            values = {key: value for key, (value, _) in self._values.items()}
            self._values.clear()
            self.weight = 0
            return values


@dataclass(frozen=True)
class Confirmation:
    """A question that waits for somebody to confirm it."""

    request: Request
    units: int
    """The guess how many people there are, for the plan."""
    back: str = "/"
    """The page of its plan."""


@dataclass
class Desk:
    """The state of a server. Everything that must outlive it is in the ledger."""

    rows: RowOptions
    """How the table is read, as the person who started the server said."""
    ledger_place: str
    dataset: str
    tables: Sequence[str] = ()
    """The tables of a database to pick from; empty where the place is one table."""
    lists: Mapping[str, Domain] = field(default_factory=dict)
    """Public lists by the name of their column."""
    witness: str | None = None
    """The file that learns of each charge."""
    jobs: Jobs = field(default_factory=Jobs)
    _waiting: BoundedMap[Confirmation] = field(default_factory=lambda: BoundedMap(10_000, _MOST_REMEMBERED))
    _recent: BoundedMap[Domain] = field(default_factory=lambda: BoundedMap(100, _MOST_REMEMBERED))
    """Lists of past questions by their digests."""

    @cached_property
    def ledger(self) -> Ledger:
        """The ledger that the server charges."""
        from lastbit.ledger import Ledger

        return Ledger(self.ledger_place, witness=self.witness)

    def __getstate__(self) -> dict[str, Any]:
        # What a worker starts with. It reads the ledger by itself, and has no work of its own.
        names = ("rows", "ledger_place", "dataset", "tables", "lists", "witness")
        return {"values": {name: getattr(self, name) for name in names}, "columns": self.columns}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        Desk.__init__(self, **state["values"])
        self.__dict__["columns"] = state["columns"]

    @property
    def account(self) -> Account:
        """The account that pays for releases of this table."""
        return self.ledger.account(self.dataset)

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The columns of each table, by its name: "" where the place is one table."""
        if not self.tables:
            return {"": read_column_names(self.rows)}
        return {name: read_column_names(replace(self.rows, table=name)) for name in self.tables}

    @property
    def unit(self) -> tuple[str, ...]:
        """The columns that together say whom a row belongs to; none where each row is one person."""
        each_row = self.rows.unit == ROW and not any(map(names_column, self.columns.values()))
        return () if each_row else self.rows.unit_names

    @cached_property
    def _own_lists(self) -> dict[str, Domain]:
        return {domain.digest: domain for domain in self.lists.values()}

    def find_list(self, digest: str) -> Domain | None:
        """Return the public list with this digest, where the server has seen it."""
        return self._own_lists.get(digest) or self._recent.get(digest)

    def parse(
        self, kind: object, values: Mapping[str, Any], face: Face, *, table: Any = None, note: Any = None
    ) -> Request:
        """Return a question to the table of this server, paid by its account. Nothing is read.

        Whoever asks chooses the options that are open to the face, and can narrow the condition of the server.
        """
        fixed = self.rows.owner_options | {"ledger": self.ledger_place, "dataset": self.dataset, "note": note}
        fixed["witness"] = self.witness
        where = fixed.pop("where")
        fixed["table"] = self._pick_table(table)
        request = find_kind(kind).parse(values, face, fixed)
        if where is not None:
            request = request.narrow(where)
        self._check_size(request)
        return request

    def _pick_table(self, table: Any) -> str | None:
        """Return the table that somebody asks for, of those that the server offers."""
        if table is None and len(self.tables) < 2:
            return self.tables[0] if self.tables else self.rows.table
        if table in self.tables:
            return str(table)
        if not self.tables:
            raise ParameterError(f"there is no table {describe(table)} here: the server has one table. Leave it out.")
        said = "" if table is None else f" {describe(table)}"
        raise ParameterError(f"there is no table{said} here. Use one of {', '.join(self.tables)}.")

    def _check_size(self, request: Request) -> None:
        """Refuse lists that would keep the server busy for everybody."""
        size = prod(self._count_items(request))
        if size > _MOST_ITEMS:
            raise ParameterError(f"--domain must have at most {_MOST_ITEMS:,} items here: got {size:,}. List fewer.")

    def _count_items(self, request: Request) -> list[int]:
        """Return the lengths of the lists that somebody asks about, and that are not the server's own."""
        own = [id(domain) for domain in self.lists.values()]
        listed = [domain for domain in request.values.get("domain") or () if id(domain) not in own]
        return [len(domain.items) for domain in (*listed, *imply_domains(request.values).values())]

    def wait_for(self, confirmation: Confirmation) -> str:
        """Return a key that pays once for a question. Nothing is charged before somebody confirms it."""
        key = secrets.token_urlsafe(24)
        self.put_waiting({key: confirmation})
        return key

    def put_waiting(self, confirmations: Mapping[str, Confirmation]) -> None:
        """Remember what waits to be confirmed, by keys."""
        for key, confirmation in confirmations.items():
            self._waiting.put(key, confirmation, sum(self._count_items(confirmation.request)))

    def take_waiting(self) -> dict[str, Confirmation]:
        """Return all that waits to be confirmed, and forget it here: the server remembers it for a worker."""
        return self._waiting.clear()

    def find_waiting(self, key: str) -> Confirmation | None:
        """Return what waits to be confirmed with a key."""
        return self._waiting.get(key)

    def release(self, key: str, request: Request, asker: str = "") -> Job:
        """Begin the release of a key, once: charge, draw, record. The charge and the key are one entry."""
        self._remember_lists(request)

        def work(job: Job) -> int:
            payer = Payer.of(request, asker, self.ledger)
            answer(request, payer, once=key, watcher=job.listen, last_moment=job.last_moment)
            entry = self.ledger.charged(key)
            if entry is None:
                raise LedgerError("the books do not have the release.")
            return entry.id

        return self.jobs.start(key, work)

    def _remember_lists(self, request: Request) -> None:
        """Keep the public lists of a question, so that its release can be shown again with all that is said of it."""
        for domain in request.canonical.typed_domains:
            if domain.digest not in self._own_lists:
                self._recent.put(domain.digest, domain, len(domain.items))
