"""A release of several parts, paid for at once. A later part may depend on what an earlier part published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, Final

from lastbit.chance.draw import Draw
from lastbit.errors import MechanismError, ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.output.picture import Panel
from lastbit.privacy.cost import Cost
from lastbit.release import Interval, Release
from lastbit.values.adjacency import Adjacency

_MOST_NAMES: Final = 4
"""The mechanisms of more parts are counted."""

Published = Mapping[str, Release]
"""The parts that are published already, by name."""


@dataclass(frozen=True)
class LaterPart:
    """A part that is built when earlier parts are published, of what they published and of nothing else.

    Its cost is fixed beforehand. Two later parts with one `name` and equal `parameters` build equal mechanisms.

    >>> import lastbit as lb
    >>> def count(published):
    ...     return lb.DiscreteLaplace(epsilon=1, sensitivity=int(published["bound"].value))
    >>> later = LaterPart("DiscreteLaplace", lb.Cost.of(1), {"sensitivity": "the published bound"}, count)
    >>> lb.Parts(parts={"bound": lb.Quantile(epsilon="1/10", bounds=(1, 9)), "counts": later}).cost.text
    'epsilon 11/10'
    """

    name: str
    cost: Cost
    parameters: Mapping[str, str]
    build: Callable[[Published], Mechanism[Any]] = field(compare=False)


@dataclass(frozen=True)
class LaterValues:
    """The private values of a part that depend on what earlier parts published, such as a bound.

    >>> items = [2, 1, 7]
    >>> later = LaterValues(lambda published: sum(min(number, published["bound"]) for number in items))
    >>> later.make({"bound": 3})
    6
    """

    make: Callable[[Published], Any] = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class PartsRelease(Release):
    """What all parts published. The last part is the answer; those before it say what the answer is about.

    >>> import lastbit as lb
    >>> release = lb.Parts(parts={"people": lb.DiscreteLaplace(epsilon=1), "visits": lb.DiscreteLaplace(epsilon=2)})
    >>> release = release.release({"people": 300, "visits": 900})
    >>> list(release), release.cost.text, release["people"].cost.text, release.main is release["visits"]
    (['people', 'visits'], 'epsilon 3', 'epsilon 1', True)
    """

    parts: tuple[tuple[str, Release], ...]

    @property
    def main(self) -> Release:
        """The last part: the answer. A last part of several parts has an answer of its own."""
        last = self.parts[-1][1]
        return last.main if isinstance(last, PartsRelease) else last

    @property
    def _by_name(self) -> dict[str, Release]:
        """All parts by name, those of the last part too."""
        *_, (_, last) = self.parts
        return {**(last._by_name if isinstance(last, PartsRelease) else {}), **dict(self.parts)}

    def __getitem__(self, name: str) -> Any:
        return self._by_name[name]

    def __iter__(self) -> Any:
        return iter(dict(self.parts))

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the table of the last part."""
        return self.main.columns()

    def facts(self) -> dict[str, Any]:
        """Return the facts of the last part, and all parts before it."""
        facts = self.parts[-1][1].facts()
        parts = {name: part.to_dict() for name, part in self.parts[:-1]} | facts.get("parts", {})
        for part in parts.values():
            part.pop("notes", None)  # whose the values are, is said of the whole
        return {**facts, "parts": parts}

    def error_bars(self, level: Number = "0.95", most: int | None = None) -> Mapping[str, Sequence[Interval | None]]:
        """Return the intervals of the last part."""
        return self.main.error_bars(level, most)

    def panels(self, level: Number = "0.95") -> Sequence[Panel]:
        """Return the picture of the last part."""
        return self.main.panels(level)


@dataclass(frozen=True, kw_only=True)
class Parts(Mechanism[PartsRelease]):
    """Release several parts for one cost: what is asked for, and before it what the answer needs to be true of people.

    `parts` maps names to mechanisms, in the order in which they are drawn. A `LaterPart` is built of what the parts
    before it published. The values map the same names to values; `LaterValues` are made of what is published too.
    A ledger charges the whole cost before the first part is drawn, and keeps all parts as one entry.

    Paper:    none; Dwork, Rothblum and Vadhan 2010 for the composition of parts that depend on each other.
    Law:      the parts one after the other, each with chance of its own.
    Cost:     the sum of the parts' costs.
    Assumes:  all values are of the same people, and one person moves the values of each part by what its mechanism
              allows for. Values that are made later depend on the person and on published parts only.
    Checked:  tests/laws/test_parts.py, exactly: the law is the product, later parts included, and the loss is at most
              the cost on neighbours.
    Speed:    that of the parts.

    >>> import lastbit as lb
    >>> both = lb.Parts(parts={"people": lb.DiscreteLaplace(epsilon="1/10"), "visits": lb.DiscreteLaplace(epsilon=1)})
    >>> both.cost.text, both.name
    ('epsilon 11/10', 'DiscreteLaplace + DiscreteLaplace')
    """

    parts: Mapping[str, Mechanism[Any] | LaterPart] = field(hash=False)
    cost: Cost = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.parts, Mapping) or not self.parts:
            raise ParameterError(
                "parts must be a dict from names to mechanisms: got "
                f"{type(self.parts).__name__ if self.parts else 'none'}. Write parts={{'people': mechanism}}."
            )
        for name, part in self.parts.items():
            if not isinstance(name, str) or not isinstance(part, Mechanism | LaterPart):
                raise ParameterError(
                    f"parts must be mechanisms with names: got {type(part).__name__}. Build each mechanism first."
                )
        if len(self._adjacencies) > 1:
            raise ParameterError("parts must be for the same neighbours: some are for add-remove, others for replace.")
        self._derive(parts=dict(self.parts), cost=reduce(add, (part.cost for part in self.parts.values())))

    @property
    def _adjacencies(self) -> set[Adjacency]:
        own = (part.adjacency for part in self.parts.values() if isinstance(part, Mechanism))
        return {adjacency for adjacency in own if adjacency is not None}

    @property
    def name(self) -> str:
        """The names of the parts' mechanisms; where there are many parts, each name once, with its number."""
        names = [part.name for part in self.parts.values()]
        if len(names) > _MOST_NAMES:
            names = [f"{number} {name}" if number > 1 else name for name, number in Counter(names).items()]
        return " + ".join(names)

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters of every part, under the part's name."""
        return {
            f"{name}.{key}": text for name, part in self.parts.items() for key, text in part.parameters.items()
        }  # fmt: skip

    @property
    def adjacency(self) -> Adjacency | None:
        """That of a part which says its own; None where none does."""
        known = self._adjacencies
        return next(iter(known)) if known else None

    def ready(self, values: Mapping[str, Any]) -> Callable[[Draw], PartsRelease]:
        """Return the parts, each of its own values. What can be checked beforehand is checked now."""
        if not isinstance(values, Mapping) or values.keys() != self.parts.keys():
            raise ParameterError(
                f"values must be a dict with the values of each part, {', '.join(self.parts)}. Nothing was drawn."
            )
        prepared = {
            name: part.ready(values[name])
            for name, part in self.parts.items()
            if isinstance(part, Mechanism) and not isinstance(values[name], LaterValues)
        }

        def draw_parts(draw: Draw) -> PartsRelease:
            published: dict[str, Release] = {}
            for name, part in self.parts.items():
                ready = prepared.get(name) or _prepare_later(part, values[name], published)
                published[name] = ready(draw)
            return PartsRelease(self.name, self.cost, tuple(published.items()))

        return draw_parts


def _prepare_later(part: Mechanism[Any] | LaterPart, values: Any, published: Published) -> Callable[[Draw], Release]:
    """Return the second half of a part that depends on the parts before it."""
    mechanism = part
    if isinstance(part, LaterPart):
        mechanism = part.build(published)
        if not mechanism.cost <= part.cost:
            raise MechanismError(
                f"the part {part.name} was built at {mechanism.cost.text}, and {part.cost.text} was charged for it. "
                "Build it at its cost. Nothing more was drawn."
            )
    ready: Callable[[Draw], Release] = mechanism.ready(  # type: ignore[union-attr]
        values.make(published) if isinstance(values, LaterValues) else values
    )
    return ready
