"""What the server holds: the table, the ledger, public lists, confirmations that wait, work, and runs."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.query.parsing import joined
from lastbit.data.ranges import range_of
from lastbit.errors import ParameterError
from lastbit.questions.answering import Book, answer
from lastbit.questions.asking import digest_of
from lastbit.questions.kinds import KINDS, Built
from lastbit.questions.options import Table
from lastbit.questions.reading import columns_of
from lastbit.web.fields import TOPICS, items_in, options_of, topic_of
from lastbit.web.jobs import Job, Jobs
from lastbit.web.runs import Runs

if TYPE_CHECKING:
    from lastbit.ledger import Account, Ledger

_MOST_WAITING: Final = 10_000
_MOST_ITEMS: Final = 200_000
"""Of a list that somebody asks about; a list that the server was started with may be longer."""
_MOST_LISTS: Final = 100
"""So many lists of past questions are remembered."""


@dataclass
class Desk:
    """The state of a server. Everything that must outlive it is in the ledger."""

    rows: Mapping[str, Any]
    """How the table is read: the options of every command, as the person who started the server gave them."""
    ledger_place: str
    dataset: str
    tables: Sequence[str] = ()
    """The tables of a database to pick from; empty where the place is one table."""
    lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Public lists by the name of their column."""
    jobs: Jobs = field(default_factory=Jobs)
    runs: Runs = field(default_factory=Runs)
    _waiting: OrderedDict[str, dict[str, Any]] = field(default_factory=OrderedDict)
    _own: dict[str, Any] = field(default_factory=dict)
    _known: OrderedDict[str, Any] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._own |= {digest_of(items): items for items in self.lists.values()}

    @cached_property
    def ledger(self) -> Ledger:
        """The books."""
        from lastbit.ledger import Ledger

        return Ledger(self.ledger_place)

    @property
    def account(self) -> Account:
        """The account that pays for releases of this table."""
        return self.ledger.account(self.dataset)

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The columns of each table, by its name: "" where the place is one table."""
        return {name: columns_of(Table(**{**self.rows, **_table(name)})) for name in self.tables or ("",)}

    def remember(self, domain: Any) -> Any:
        """Keep a public list, so that a release of it can be shown again with all that was said."""
        digest = digest_of(domain)
        with self._lock:
            self._known[digest] = domain
            self._known.move_to_end(digest)
            if len(self._known) > _MOST_LISTS:
                self._known.popitem(last=False)
        return domain

    def recall(self, digest: str) -> Any:
        """The public list with this digest; the digest itself where the server has not seen it."""
        return self._own.get(digest) or self._known.get(digest, digest)

    def items(self, values: Mapping[str, str]) -> tuple[str, ...] | None:
        """The public list that a form means; None for items that nobody listed."""
        chosen = values.get("domain_from", "")
        if chosen == "unknown":
            return None
        if chosen == "list":
            column = values.get("by", "")
            if column not in self.lists:
                raise ParameterError(f"the server has no public list for {column}. Type the items, or say unknown.")
            return self.lists[column]
        items = items_in(values.get("domain", ""))
        if not items and chosen == "typed":
            raise ParameterError("Public items: type at least one, or say that the items are unknown.")
        return items or None

    def build(self, values: Mapping[str, str], epsilon: str) -> Built:
        """The question that a form asks, at this cost."""
        topic = topic_of(values)
        wants = any(each.name == "domain" for each in topic.fields)
        options = options_of(values, self.items(values) if wants else None)
        return self.ask(topic.command, {**options, "epsilon": epsilon}, values.get("table", ""), values.get("note", ""))

    def ask(self, command: str, options: Mapping[str, Any], table: str = "", note: str = "") -> Built:
        """A question to the table of this server, paid by its account."""
        if command not in KINDS:
            raise ParameterError(f"there is no question {command!r}. Use one of {', '.join(KINDS)}.")
        if self.tables and table not in self.tables:
            raise ParameterError(f"there is no table {table!r} here. Use one of {', '.join(self.tables)}.")
        given = {name: each for name, each in self.rows.items() if each is not None and each is not False}
        where = [str(each) for each in (given.pop("where", None), options.get("where")) if each]
        more = {"where": joined(*where)} if where else {}
        self._check_size(options.get("domain") or ())
        return KINDS[command].build(
            **{**given, **_table(table), **options, **more},
            ledger=self.ledger_place, dataset=self.dataset, note=note,
        )  # fmt: skip

    def _check_size(self, domains: Sequence[Any]) -> None:
        """Refuse lists that would keep the server busy for everybody."""
        typed = [each for each in domains if each not in self.lists.values()]
        size = prod(len(range_of(each) or (each,)) if isinstance(each, str) else len(each) for each in typed)
        if size > _MOST_ITEMS:
            raise ParameterError(f"domain must have at most {_MOST_ITEMS:,} items here: got {size:,}. List fewer.")

    def wait_for(self, asked: dict[str, Any]) -> str:
        """A key that pays once, for what was asked. Nothing is charged before it is confirmed."""
        key = secrets.token_urlsafe(24)
        with self._lock:
            self._waiting[key] = asked
            if len(self._waiting) > _MOST_WAITING:
                self._waiting.popitem(last=False)
        return key

    def waiting(self, key: str) -> dict[str, Any] | None:
        """What waits to be confirmed with a key."""
        return self._waiting.get(key)

    def release(self, key: str, built: Built) -> Job:
        """Begin the release of a key, once: charge, draw, record. The charge and the key are one entry."""
        for domain in built.spending.asked.get("domain") or ():
            self.remember(domain)

        def doing(job: Job) -> int:
            book = Book.of(built.spending)
            answer(built.question, built.spending, book, once=key, last_moment=job.last_moment)
            entry = self.ledger.charged(key)
            if entry is None:
                raise ParameterError("the books do not have the release.")
            return entry.id

        return self.jobs.start(key, doing)


def _table(name: str) -> dict[str, Any]:
    return {"table": name} if name else {}


def topics() -> list[dict[str, str]]:
    """The topics, for lists."""
    return [{"name": each.name, "label": each.label, "sentence": each.sentence} for each in TOPICS.values()]
