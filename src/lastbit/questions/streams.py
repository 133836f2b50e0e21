"""Streams: sparse-vector runs as people ask for them, and each answer as data."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.exact.numbers import number, probability

if TYPE_CHECKING:
    from lastbit.mechanisms.sparse_vector.answers import Answer

RULE: Final = (
    "A line without a number counts as the lowest number there is, and is answered below. Numbers are rounded down to "
    "whole steps."
)


@dataclass(frozen=True)
class Stream:
    """A mechanism that answers a stream, with the threshold and the level of its bounds."""

    mechanism: Any
    threshold: Fraction
    level: str

    @classmethod
    def of(cls, *, threshold: str, level: str, adaptive: bool = False, **parameters: Any) -> Stream:
        """The stream with these parameters, refused before anything is spent where they cannot work."""
        import lastbit as lb
        from lastbit.estimate.gaps import confident

        kind: Any = lb.AdaptiveSparseVector if adaptive else lb.SparseVector
        mechanism = kind(threshold=threshold, **parameters)
        confident(level)
        return cls(mechanism, number(threshold, "threshold"), level)

    def told(self, place: int, answer: Answer) -> dict[str, Any]:
        """An answer as data: where it is above, with its gap, an estimate, and a bound that holds at the level.

        >>> stream = Stream.of(threshold="100", level="0.95", limit=1, epsilon=1)
        >>> run = stream.mechanism.start()
        >>> stream.told(1, run.ask(0)), sorted(stream.told(2, run.ask(10**6)))
        ({'query': 1, 'above': False}, ['above', 'at_least', 'estimate', 'gap', 'level', 'query'])
        """
        if answer.gap is None:
            return {"query": place, "above": False}
        kind: Any = self.mechanism.gap_noise
        noise = kind(answer) if callable(kind) else kind
        return {
            "query": place,
            "above": True,
            "gap": answer.gap,
            "estimate": noise.estimate(self.threshold, answer.gap).value,
            "at_least": noise.listed_bound(self.threshold, answer.gap, self.level),
            "level": probability(self.level, "level"),
        }
