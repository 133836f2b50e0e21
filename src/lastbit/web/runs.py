"""Sparse-vector runs that live on the server, where their noise belongs. The books have their charge."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from lastbit.data.query.parsing import joined
from lastbit.errors import ParameterError
from lastbit.questions.answering import COUNTED
from lastbit.questions.lines import number_in
from lastbit.questions.options import Table, cost_of
from lastbit.questions.reading import everybody
from lastbit.questions.streams import Stream

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.web.desk import Desk

_MOST: Final = 1000
_NAMES: Final = (
    "threshold", "limit", "epsilon", "rho", "sensitivity", "monotone", "adaptive", "resolution", "level", "about",
    "note", "key",
)  # fmt: skip


@dataclass
class Held:
    """A run, what it is about, and how far it is."""

    id: str
    stream: Stream
    run: Run
    table: Table | None
    """The table that conditions are counted in; None where numbers are sent."""
    asked_for: str
    """The request that started the run."""
    asked: int = 0
    above: int = 0
    lock: Lock = field(default_factory=Lock)

    def ask(self, query: Any) -> dict[str, Any]:
        """The answer to a number, or to a condition: how many people have a row for which it is true."""
        value = self._value(query)
        with self.lock:
            answer = self.run.ask(value)
            self.asked += 1
            self.above += answer.above
            return {**self.stream.told(self.asked, answer), "over": self.run.exhausted}

    def _value(self, query: Any) -> Any:
        if self.table is None:
            # What is no number counts as the lowest there is: no line raises.
            return number_in(str(query), "value")
        if not isinstance(query, str) or not query.strip():
            raise ParameterError('this run is about the table: ask a condition, such as "cost >= 100".')
        where = joined(*([] if self.table.where is None else [self.table.where]), query)
        (found,) = everybody(replace(self.table, where=where)).values
        return int(found)

    @property
    def data(self) -> dict[str, Any]:
        """The run for JSON. Its noise is not in it."""
        mechanism = self.stream.mechanism
        return {
            "id": self.id, "mechanism": mechanism.name, "cost": mechanism.cost.text, "asked": self.asked,
            "above": self.above, "over": self.run.exhausted, "about": "numbers" if self.table is None else "table",
        }  # fmt: skip


class Runs:
    """All runs of a server. They end with the server, and what was paid stays paid."""

    def __init__(self) -> None:
        self._runs: OrderedDict[str, Held] = OrderedDict()
        self._lock = Lock()

    def find(self, name: str) -> Held | None:
        """The run with this id."""
        return self._runs.get(name)

    def start(self, desk: Desk, asked: Mapping[str, Any]) -> Held:
        """Charge the whole cost, then start. The same key again gives the same run."""
        if unknown := sorted(asked.keys() - set(_NAMES)):
            raise ParameterError(f"there is no {unknown[0]} for a run. Use {', '.join(_NAMES)}.")
        key = str(asked.get("key") or secrets.token_urlsafe(24))
        if len(key) < 16:
            raise ParameterError("key must be text of at least 16 characters that nobody uses twice.")
        with self._lock:
            held = self._runs.get(key)
            if held is not None:
                if held.asked_for != _words(asked):
                    raise ParameterError(
                        "this key has started another run. Take a new key for a new run. Nothing was charged."
                    )
                return held
            held = self._runs[key] = self._started(desk, asked, key)
            if len(self._runs) > _MOST:
                self._runs.popitem(last=False)
            return held

    def _started(self, desk: Desk, asked: Mapping[str, Any], key: str) -> Held:
        about = asked.get("about", "table" if desk.rows.get("unit") else "numbers")
        if about not in ("table", "numbers"):
            raise ParameterError("about must be table (conditions are counted) or numbers (you send them).")
        if "limit" not in asked:
            raise ParameterError("a run needs limit: after so many answers above the threshold it is over.")
        given = {name: asked[name] for name in ("limit", "resolution") if name in asked}
        table = None
        if about == "table":
            if not desk.rows.get("unit") or desk.tables:
                raise ParameterError("a run about the table needs a server with --unit and one table. Send numbers.")
            if asked.get("sensitivity", 1) not in (1, "1"):
                raise ParameterError("a run about the table counts people: its sensitivity is 1. Leave it out.")
            table = Table(**desk.rows)
            moves: dict[str, Any] = {"sensitivity": 1, "monotone": True}
        else:
            if "sensitivity" not in asked:
                raise ParameterError("a run about numbers needs sensitivity: how far one person can move a number.")
            moves = {"sensitivity": _text(asked["sensitivity"]), "monotone": _truth(asked, "monotone")}
        cost = cost_of(_text(asked.get("epsilon")), _text(asked.get("rho")))
        stream = Stream.of(
            threshold=_text(asked.get("threshold")) or "", level=_text(asked.get("level")) or "0.95",
            adaptive=_truth(asked, "adaptive"), **given, **moves, **cost,
        )  # fmt: skip
        from lastbit.ledger import Identity

        words = {"version": 1, "command": "watch", "threshold": str(asked.get("threshold")), "about": about}
        run = desk.ledger.spend(
            desk.dataset, stream.mechanism, stream.mechanism.start, once=key, note=str(asked.get("note", "")),
            adjacency=COUNTED if table is not None else None, question=Identity(words),
        )  # fmt: skip
        return Held(key, stream, run, table, _words(asked))


def _words(asked: Mapping[str, Any]) -> str:
    return json.dumps({name: each for name, each in asked.items() if name != "key"}, sort_keys=True)


def _truth(asked: Mapping[str, Any], name: str) -> bool:
    """Whether something is so. Text is refused, because "false" is not empty."""
    found = asked.get(name)
    if not isinstance(found, bool | None):
        raise ParameterError(f"{name} must be true or false, without quotes.")
    return bool(found)


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
