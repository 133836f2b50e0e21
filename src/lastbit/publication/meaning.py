"""What a cost means for one person, in sentences and in a small table: bounds are rounded up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from lastbit.exact.numbers import number
from lastbit.output.numbers import format_digits
from lastbit.output.words import article
from lastbit.privacy.cost import Cost

_DELTA: Final = Fraction(1, 10**6)
"""A budget in rho is also said as an epsilon with this delta."""
_BEFORE: Final = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
"""How certain somebody may have been before the report."""


@dataclass(frozen=True)
class Meaning:
    """Sentences before and after a table of what somebody may come to believe."""

    before: Sequence[str]
    names: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str
    after: Sequence[str]


def explain_cost(budget: Mapping[str, str], person: str, people: str) -> Meaning:
    """Return what a budget means for one person.

    >>> meaning = explain_cost({"epsilon": "1"}, "patient", "patients")
    >>> print(meaning.before[1])
    Whatever the report may say, that is at most 2.72 times as likely with one patient as without, and the other way ...
    >>> meaning.rows[1]
    ['10%', '23.2%']
    """
    exact = {name: number(budget[name], name) for name in ("epsilon", "rho", "delta") if name in budget}
    delta = exact.get("delta", Fraction(0))
    cost = " and ".join(f"{name} {amount}" for name, amount in exact.items())
    lines = [
        f"Everything in this report together costs at most {cost}. The cost bounds what the report can tell about any "
        f"one {person}: it compares the table with the same table without all rows of that {person}."
    ]
    epsilon = exact.get("epsilon")
    if epsilon is None:
        cost_of_rho = Cost.zcdp(exact["rho"], delta)
        delta += _DELTA
        epsilon = Fraction(cost_of_rho.epsilon_at(delta))
        lines.append(
            f"A rho bounds the average surprise of a report, and adds up well over many tables. This one is no more "
            f"than epsilon {_up(epsilon)} with delta {delta}."
        )
    factor = Cost.of(epsilon).odds_bounds()[1]
    lines.append(
        f"Whatever the report may say, that is at most {_up(factor)} times as likely with one {person} as without, and "
        f"the other way round{', plus delta' if delta else ''}. The factor is e to the power of epsilon."
    )
    rows = [
        [f"{before * 100}%", f"{_up(100 * before * factor / (1 - before + before * factor))}%"] for before in _BEFORE
    ]
    names = ["before the report", "after it, at most"]
    caption = f"How sure somebody who knows all other rows can be that {article(person)} {person} is in the table"
    after = [
        f"What the report says about all {people} together, everybody may learn: that is its purpose. It may also say "
        f"something about {people} who are not in the table.",
        "Random noise was added once, by exact sampling, and is part of every number. The intervals say how far a "
        "number may be from the one in the table. They do not describe sampling, or errors in the table.",
    ]
    if delta:
        after.insert(0, f"The table leaves out delta, a probability of {delta}, with which the bound may fail.")
    return Meaning(lines, names, rows, caption, after)


def _up(value: Fraction) -> str:
    """Return a bound to three digits, rounded up."""
    return format_digits(value, 3, "up")
