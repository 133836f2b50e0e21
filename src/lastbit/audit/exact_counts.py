"""The counts of a table by some way of counting, and what one unit may change about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, Final, TypeAlias

import numpy as np

from lastbit.values.contribution_bound import one_key
from lastbit.values.counts import Counts
from lastbit.values.unlisted import Unlisted, sort_key

Exact: TypeAlias = Fraction | int
"""An exact number. Counts are integers, which Python adds up much faster than fractions."""

_SHOWN: Final = 160
"""A row is shown up to this length."""


@dataclass(frozen=True)
class CountFailure:
    """The error that a way of counting raised, by its type. Its message is left out, because it may quote a row."""

    kind: str


@dataclass(frozen=True)
class ExactCounts:
    """Exact counts, and their properties that no unit may change."""

    values: tuple[Exact, ...]
    items: tuple[Any, ...]
    names: tuple[str, ...]
    kind: str
    sensitivity: Fraction
    monotone: bool
    most_items: int | None = None
    """How many counts one unit moves at most; None where there is no bound."""
    together: Fraction | None = None
    """How far one unit moves all counts together at most; None where nobody says."""
    listed: bool = True
    """Whether the items are public. Items that nobody listed come and go with their units."""


def count_exactly(
    count: Callable[[list[Any]], Any], rows: list[Any], sensitivity: Fraction, monotone: bool
) -> ExactCounts | CountFailure:
    """Count these rows, or return the type of the error. A bound on items has one key, so that tables compare."""
    try:
        with one_key():
            return _to_exact_counts(count(rows), sensitivity, monotone)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:  # some engines end a thread with an error that is not an Exception
        return CountFailure(type(error).__name__)


def _to_exact_counts(counts: Any, sensitivity: Fraction, monotone: bool) -> ExactCounts:
    most = counts.most_items if isinstance(counts, Counts | Unlisted) else None
    together = counts.together if isinstance(counts, Counts) else None
    stated = None if together is None else Fraction(together)
    if isinstance(counts, Unlisted):
        occurring, steps = counts.highest()
        resolution = _exact(Fraction(counts.resolution))
        sums = tuple(int(step) * resolution for step in steps)
        facts = Fraction(counts.sensitivity), counts.monotone, most, None, False
        return ExactCounts(sums, tuple(occurring), tuple(map(render_value, occurring)), "Unlisted", *facts)
    if isinstance(counts, Counts):
        sensitivity, monotone = Fraction(counts.sensitivity), counts.monotone
        items, values = tuple(counts.items), counts.values
    elif isinstance(counts, Mapping):
        items, values = tuple(counts), tuple(counts.values())
    else:
        values = counts if isinstance(counts, np.ndarray) else tuple(counts)
        items = tuple(range(len(values)))
    if isinstance(values, np.ndarray):
        kind = f"{type(counts).__name__} of {values.dtype}"
        values = tuple(values.tolist())
    else:
        kind = f"{type(counts).__name__} of {' '.join(sorted({type(value).__name__ for value in values}))}"
    exact = tuple(_exact(value) for value in values)
    return ExactCounts(exact, items, tuple(map(render_value, items)), kind, sensitivity, monotone, most, stated)


def _exact(value: Any) -> Exact:
    """A float means its exact value. NaN, infinity and values that are no numbers raise: they have no distances."""
    if isinstance(value, int):
        return int(value)
    exact = Fraction(int(value.numerator), int(value.denominator)) if isinstance(value, Rational) else Fraction(value)
    return exact.numerator if exact.denominator == 1 else exact


def find_violation(
    without: ExactCounts | CountFailure, having: ExactCounts | CountFailure, whole: ExactCounts, way: int = 0
) -> str | None:
    """Say in words which forbidden change a unit makes to the counts; None if it makes none.

    without, having: the counts without the unit and with it. whole: the counts of the table, whose form all have.
    way: the sign of the moves of earlier units, which monotone counts keep.
    """
    for counts in (without, having):
        if isinstance(counts, CountFailure):
            return f"it raises {counts.kind}"
        if whole.listed and counts.names != whole.names:
            return (
                f"the items change: from {len(whole.items):,} items to {len(counts.items):,}, or to other items, or to "
                "another order"
            )
        if counts.kind != whole.kind:
            return f"the type of the counts changes from {whole.kind} to {counts.kind}"
        if _facts(counts) != _facts(whole):
            return "the stated sensitivity changes, or whether the counts are monotone, or the bound on items"
    if isinstance(without, CountFailure) or isinstance(having, CountFailure):
        return None
    names, moves = zip(*_moves(without, having), strict=True) if without.values or having.values else ((), ())
    for name, move in zip(names, moves, strict=True):
        if abs(move) > whole.sensitivity:
            return f"{name} moves by {move} where {whole.sensitivity} is stated"
    if whole.most_items is not None and sum(map(bool, moves)) > whole.most_items:
        return f"{sum(map(bool, moves)):,} counts move where {whole.most_items:,} are stated"
    if whole.together is not None and sum(map(abs, moves)) > whole.together:
        return f"all counts together move by {sum(map(abs, moves))} where {whole.together} is stated"
    if whole.monotone:
        down, up = min(moves, default=0), max(moves, default=0)
        if down < 0 < up:
            ends = (names[moves.index(end)] for end in (down, up))
            return "{} moves down and {} moves up where monotone counts all move the same way".format(*ends)
        if down * way < 0 or up * way < 0:
            name = names[moves.index(up if way < 0 else down)]
            return f"{name} moves by {up if way < 0 else down} where other units that come move counts the other way"
    return None


def _facts(counts: ExactCounts) -> tuple[Any, ...]:
    return counts.sensitivity, counts.monotone, counts.most_items, counts.together


def _moves(without: ExactCounts, having: ExactCounts) -> list[tuple[str, Exact]]:
    """Return how far each count moves. An item that nobody listed counts 0 where it does not occur."""
    if having.listed:
        pairs = zip(without.values, having.values, strict=True)
        return list(zip(having.names, (after - before for before, after in pairs), strict=True))
    # By their order: two items may be long, and be said alike.
    moves: dict[Any, tuple[str, Exact]] = {}
    for counts, sign in ((without, -1), (having, 1)):
        for item, name, value in zip(counts.items, counts.names, counts.values, strict=True):
            key = sort_key(item)
            moves[key] = name, moves.get(key, (name, 0))[1] + sign * value
    return list(moves.values())


def move_direction(without: ExactCounts, having: ExactCounts) -> int:
    """Return the sign of the first count that a new unit moves; 0 if it moves none."""
    return next((1 if move > 0 else -1 for _, move in _moves(without, having) if move), 0)


def largest_move(without: ExactCounts, having: ExactCounts) -> Fraction:
    """Return the most that any count moved."""
    moves = [move for _, move in _moves(without, having)]
    return Fraction(max(max(moves, default=0), -min(moves, default=0)))


def are_alike(one: Any, other: Any) -> bool:
    """Return whether some engine may take two keys for one unit: they are equal, or print alike."""
    try:
        if bool(one == other):
            return True
    except Exception:  # keys that cannot be compared are compared as text
        return render_value(one) == render_value(other)
    return render_value(one).strip("'\"b") == render_value(other).strip("'\"b")


def render_value(value: Any) -> str:
    """Return a value on one line that every terminal can show."""
    try:
        text = ascii(value)
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
