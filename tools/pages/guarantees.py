"""docs/guarantees.md, from docstrings and from runs: `python -m tools.pages.guarantees > docs/guarantees.md`."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from textwrap import wrap
from typing import Any, Final

from lastbit.audit.target import all_mechanisms
from lastbit.audit.verdict import check_all
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.privacy.eta import Eta
from lastbit.values.unlisted import Unlisted
from tools.pages import costs

HEADINGS: Final = ("Paper", "Law", "Cost", "Assumes", "Checked", "Speed")


@dataclass(frozen=True)
class Instance:
    """Parameters and values small enough to follow every branch on all neighbours."""

    parameters: Mapping[str, Any]
    values: Any
    tolerance: Fraction = Fraction(1, 1 << 12)


_BIT, _TWO, _FOUR = Eta(1, 1, 1), Eta(1, 1, 2), Eta(1, 1, 4)


def _words(most_items: int | None) -> Unlisted:
    return Unlisted.of({"a": 1, "b": 1}, most_items=most_items)


_TWO_BY_TWO = {"domain": {"a": "xy", "b": "uv"}, "rho": 4}

INSTANCES: Final[Mapping[str, Sequence[Instance]]] = {
    "AutomaticBounds": [
        Instance({"eta": Eta(1, 1, 6), "overshoot": "1/4", "choices": (1, 3)}, [2, -2], Fraction(1, 1 << 9)),
    ],
    "DiscoverHistogram": [
        Instance({"eta": _BIT, "delta": "1/10", "most_items": 1}, _words(1), Fraction(1, 1 << 10)),
    ],
    "DiscoverRanking": [
        Instance({"k": 2, "candidates": 2, "eta": _TWO, "delta": "1/4", "resolution": 1}, _words(None), Fraction(0)),
    ],
    "DiscoverTopK": [
        Instance(
            {"k": 1, "candidates": 2, "eta": _BIT, "delta": "1/8", "resolution": 1}, _words(None), Fraction(1, 1 << 10)
        ),
    ],
    "DiscreteGaussian": [
        Instance({"rho": "1/2"}, [0], Fraction(1, 1 << 40)),
        Instance({"rho": 1, "squared_sensitivity": 2}, [0, 1], Fraction(1, 1 << 20)),
    ],
    "DiscreteLaplace": [
        Instance({"eta": _BIT}, [0], Fraction(1, 1 << 40)),
        Instance({"eta": _BIT}, [0, 1]),
        Instance({"epsilon": "1/2", "sensitivity": 2}, [3]),
    ],
    "ExponentialMechanism": [
        Instance({"eta": _TWO}, [0, 1, 2], Fraction(0)),
        Instance({"eta": _TWO, "monotone": True}, [0, 1, 2], Fraction(0)),
        Instance({"epsilon": 1}, [0, 0, 1, 2], Fraction(0)),
    ],
    "GroupMeans": [
        Instance(
            {"groups": ("a", "b"), "eta": _TWO, "bounds": (0, 1), "resolution": 1}, {"a": [1]}, Fraction(1, 1 << 7)
        ),
        Instance({"groups": ("a",), "rho": 2, "bounds": (0, 1), "resolution": 1}, {"a": [0]}, Fraction(1, 1 << 20)),
    ],
    "GroupQuantiles": [
        Instance({"groups": ("a", "b"), "eta": _TWO, "bounds": (0, 5)}, {"a": [1, 4], "b": [2]}, Fraction(0)),
    ],
    "GroupTopK": [
        Instance(
            {"groups": ("a", "b"), "k": 1, "eta": Eta(1, 1, 4), "resolution": 1, "monotone": True},
            {"a": [0], "b": [0, 1]},
            Fraction(1, 1 << 10),
        ),
        Instance(
            {"groups": ("a", "b"), "k": 1, "rho": 2, "resolution": 1, "monotone": True, "most_groups": 1},
            {"a": [0, 0], "b": [1]},
            Fraction(1, 1 << 10),
        ),
    ],
    "NoisyMax": [
        Instance({"eta": _TWO, "resolution": 1}, [0, 1]),
        Instance({"eta": _TWO, "resolution": 1}, [0, 1, 1], Fraction(1, 1 << 7)),
        Instance({"eta": _BIT, "resolution": 1, "monotone": True}, [0, 1, 1], Fraction(1, 1 << 7)),
    ],
    "NoisyMean": [
        Instance({"eta": _BIT, "bounds": (0, 2)}, [0, 1], Fraction(1, 1 << 9)),
        Instance({"epsilon": 1, "bounds": (-1, 1)}, [1], Fraction(1, 1 << 9)),
    ],
    "NoisyTopK": [
        Instance({"k": 2, "eta": _FOUR, "resolution": 1}, [0, 1, 1], Fraction(1, 1 << 7)),
        Instance({"k": 1, "eta": _TWO, "resolution": 1, "monotone": True}, [0, 1], Fraction(1, 1 << 10)),
    ],
    "SparseVector": [
        Instance({"threshold": 1, "limit": 1, "eta": _FOUR, "split": "1/2"}, [0, 1], Fraction(1, 1 << 10)),
        Instance({"threshold": 0, "limit": 1, "eta": _TWO, "monotone": True, "split": "1/2"}, [0, 1], Fraction(1, 256)),
        Instance(
            {"threshold": 0, "limit": 1, "eta": Eta(1, 1, 16), "split": "1/2", "measure": "1/2"},
            [0, 1],
            Fraction(1, 256),
        ),
    ],
    "AdaptiveSparseVector": [
        Instance({"threshold": 1, "limit": 1, "eta": Eta(1, 1, 8), "split": "1/2"}, [0], Fraction(1, 1 << 8)),
        Instance({"threshold": 1, "limit": 1, "eta": Eta(1, 1, 16), "split": "1/2"}, [4, 1], Fraction(1, 1 << 8)),
    ],
    "Snapping": [
        Instance({"epsilon": 1, "bounds": (0, 8)}, [0], Fraction(0)),
        Instance({"epsilon": 1, "bounds": (0, 8)}, [3], Fraction(0)),
        Instance({"epsilon": "1/3", "bounds": (-20, 20)}, [7], Fraction(0)),
        Instance({"eta": _BIT, "bounds": (0, 100), "sensitivity": 3}, [50], Fraction(0)),
    ],
    "Quantile": [
        Instance({"eta": _TWO, "bounds": (0, 5)}, [1, 1, 4], Fraction(0)),
        Instance({"q": "1/4", "epsilon": 1, "bounds": (0, 20)}, [3, 9], Fraction(0)),
        Instance({"q": 0, "eta": _BIT, "bounds": (0, 5)}, [2, 3], Fraction(0)),
        Instance({"eta": _TWO, "bounds": (-4, 9), "scale": "log"}, [1, 1, 4], Fraction(0)),
    ],
    "Quantiles": [
        Instance({"qs": ("1/4", "1/2", "3/4"), "eta": _FOUR, "bounds": (0, 3), "spread": 1}, [1, 2], Fraction(0)),
        Instance({"qs": ("1/2", "3/4"), "epsilon": 1, "bounds": (0, 1), "spread": 2}, [0], Fraction(0)),
        Instance(
            {"qs": ("1/2", "3/4"), "eta": _FOUR, "bounds": (-1, 3), "scale": "log", "spread": 2}, [0], Fraction(0)
        ),
    ],
    "SubsetTopK": [
        Instance({"k": 2, "eta": _TWO, "monotone": True}, [2, 0, 1, 0], Fraction(0)),
        Instance({"k": 2, "eta": _TWO, "monotone": True, "form": "left-out"}, [2, 0, 1, 0], Fraction(0)),
        Instance({"k": 1, "epsilon": 1}, [0, 1, 1], Fraction(0)),
    ],
    "Tables": [
        Instance({**_TWO_BY_TWO, "tables": [("a", "b")]}, [1, 0, 1, 1], Fraction(1, 1 << 20)),
        Instance({**_TWO_BY_TWO, "tables": [("a",), ("b",)]}, [1, 0, 1, 1], Fraction(1, 1 << 20)),
        Instance({**_TWO_BY_TWO, "tables": [("a", "b")], "replaces": True}, [1, 0, 1, 1], Fraction(1, 1 << 20)),
    ],
    "SelectAndMeasure": [
        Instance({"k": 1, "eta": _FOUR, "resolution": 1}, [0, 1], Fraction(1, 1 << 7)),
    ],
}

_HEAD = """# Guarantees

This page is the output of `python -m tools.pages.guarantees`. The list under each mechanism is its docstring: its law,
its cost, its assumptions, and where they are checked. "Followed on every branch" means that the auditor ran the
released code itself down every branch of its randomness, with exact probabilities, on the values shown and on every
neighbour of these values on the grid. It then compared the largest loss with the cost. Where the auditor left tails of
endless draws open, the verdict holds up to the `delta` shown, for every event and in both directions.

Snapping draws more than 120 bits, too many branches to follow. "From its exact law" means that the probability of every
outcome was computed instead: it is the exact length of the interval of uniform numbers that give the outcome, found by
halving with the release's own arithmetic. tests/laws/test_snapping.py compares this law with the release, branch by
branch, where there are few bits. The neighbours of a value are the furthest moves, up and down.

All mechanisms assume that the random words are uniform and independent (`SystemBits` takes words from the
operating system and from AES-256-CTR that it keys, so the assumption is that both are good), that the values move by no
more than the stated sensitivity, and what [limitations](limitations.md) says about time and memory.
"""


def page() -> str:
    """Return the whole page."""
    return "\n".join(
        [_HEAD, *costs.section(), *(line for mechanism in all_mechanisms() for line in _section(mechanism))]
    )


def headings_of(mechanism: type) -> dict[str, str]:
    """Return the text of a docstring under each heading.

    >>> headings_of(Mechanism)
    {}
    """
    text = (inspect.getdoc(mechanism) or "").split("\n\n>>>")[0]
    parts = re.split(rf"^({'|'.join(HEADINGS)}):", text, flags=re.MULTILINE)
    return {name: " ".join(body.split()) for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def _section(mechanism: type[Mechanism[Any]]) -> Iterator[str]:
    yield f"## {mechanism.__name__}"
    yield ""
    yield (inspect.getdoc(mechanism) or "").split("\n")[0]
    yield ""
    for name, text in headings_of(mechanism).items():
        yield from wrap(f"- **{name}**: {text}", 120, subsequent_indent="  ")
    yield ""
    instances = INSTANCES.get(mechanism.__name__, ())
    if not instances:
        yield "Followed on every branch: nothing here; see **Checked**."
    else:
        how = "from its exact law" if hasattr(mechanism, "law") else "followed on every branch"
        yield f"| {how} | values | neighbours | cost | largest loss found | delta at most |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for instance in instances:
            yield _row(mechanism, instance)
    yield ""


def _row(mechanism: type[Mechanism[Any]], instance: Instance) -> str:
    built = mechanism(**instance.parameters)
    verdicts = check_all(built, instance.values, instance.tolerance)
    parameters = ", ".join(f"{name}={_format_parameter(value)}" for name, value in instance.parameters.items())
    delta = max(verdict.delta for verdict in verdicts.each)
    return (
        f"| {parameters} | {_format_values(instance.values)} | {len(verdicts.each)} | {built.cost.in_bits} "
        f"| {verdicts.worst.in_bits} | {float(delta):.2g} |"
    )


def _format_values(values: Any) -> str:
    if isinstance(values, Unlisted):
        items, steps = values.highest()
        return ", ".join(f"{item}: {step}" for item, step in zip(items, steps, strict=True))
    if isinstance(values, Mapping):
        return ", ".join(f"{name}: {value}" for name, value in values.items())
    return ", ".join(map(str, values))


def _format_parameter(value: object) -> str:
    return f"({value.x}, {value.y}, {value.z})" if isinstance(value, Eta) else str(value)


if __name__ == "__main__":
    sys.stdout.write(page())
