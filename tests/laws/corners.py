"""Corners of the parameters: small instances of each mechanism, with two inputs that one person makes of each other.

A fault hides where nobody looks: with a sensitivity of 10, with three items a person, with a rho. `cover` chooses
corners so that every two values of two parameters come together in one of them. Where an instance is `tight`, its laws
use most of the cost, so that noise that is too small by half is convicted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import lastbit as lb

Corner = Mapping[str, Any]


def cover(choices: Mapping[str, Sequence[Any]], every: bool = False) -> list[dict[str, Any]]:
    """Return corners in which every two values of two parameters come together, or every corner there is.

    >>> len(cover({"a": (1, 2, 3), "b": (1, 2, 3), "c": (1, 2)})), len(cover({"a": (1, 2, 3), "b": (1, 2)}, every=True))
    (9, 6)
    """
    corners = [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]
    if every:
        return corners

    def pairs(corner: Corner) -> set[Any]:
        return set(combinations(corner.items(), 2)) if len(corner) > 1 else set(corner.items())

    open_pairs = set().union(*map(pairs, corners))
    chosen = []
    while open_pairs:
        best = max(corners, key=lambda corner: len(pairs(corner) & open_pairs))
        chosen.append(best)
        open_pairs -= pairs(best)
    return chosen


@dataclass(frozen=True)
class Instance:
    """A mechanism, two inputs that one person makes of each other, and what may be left unexplored of their laws."""

    mechanism: lb.Mechanism[Any]
    one: Any
    other: Any
    tolerance: str = "0"
    tight: bool = True
    """Whether these inputs use more than half of an epsilon, or more than a quarter of a rho."""


def price(currency: str, bits: int) -> dict[str, Any]:
    """Return a cost of about so many bits: as an epsilon, as an eta, or as the rho that this range has at most."""
    if currency == "eta":
        return {"eta": lb.Eta(1, 1, bits)}
    return {"epsilon": Fraction(7, 10) * bits} if currency == "epsilon" else {"rho": Fraction(49, 800) * bits**2}


def scale(corner: Corner) -> dict[str, Any]:
    """Return the sensitivity of a corner, and the resolution: so many steps to one."""
    return {"sensitivity": corner["reach"], "resolution": Fraction(1, corner["factor"])}


CURRENCY = ("epsilon", "eta", "rho")
GRID = {"currency": CURRENCY, "reach": (1, 2, 10), "factor": (1, 10)}


def laplace(corner: Corner) -> Instance:
    return Instance(
        lb.DiscreteLaplace(**price(corner["currency"], 2), **scale(corner)), [0], [corner["reach"]], "1/1000"
    )


def gaussian(corner: Corner) -> Instance:
    """One person moves as many values as the bound says, each by the reach."""
    reach, bound = corner["reach"], corner["bound"]
    built = lb.DiscreteGaussian(rho=2, squared_sensitivity=bound * reach**2, resolution=Fraction(1, corner["factor"]))
    return Instance(built, [0] * bound, [reach] * bound, "1/1000", tight=bound == 1)


def exponential(corner: Corner) -> Instance:
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.ExponentialMechanism(**price(corner["currency"], 4), **scale(corner), monotone=monotone)
    return Instance(built, [0] * 4, [reach] + [0 if monotone else -reach] * 3)


def subset(corner: Corner) -> Instance:
    monotone, reach, k = corner["monotone"], corner["reach"], corner["k"]
    built = lb.SubsetTopK(k=k, **price(corner["currency"], 4), **scale(corner), monotone=monotone)
    # All four are a set without chance.
    return Instance(built, [0] * 4, [reach] * k + [0 if monotone else -reach] * (4 - k), tight=k < 4)


def top_k(corner: Corner) -> Instance:
    monotone, reach, k = corner["monotone"], corner["reach"], corner["k"]
    built = lb.NoisyTopK(k=k, **price(corner["currency"], 4 * k), **scale(corner), monotone=monotone)
    moves = [reach] * k + [0 if monotone else -reach] * (3 - k)
    return Instance(built, [0] * 3, moves, "1/1000", tight=k * reach == 1)


def noisy_max(corner: Corner) -> Instance:
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.NoisyMax(**price(corner["currency"], 4), **scale(corner), monotone=monotone)
    return Instance(built, [0, 0], [reach, 0 if monotone else -reach], "1/1000", tight=reach == 1 or not monotone)


def select_and_measure(corner: Corner) -> Instance:
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.SelectAndMeasure(
        k=1, **price(corner["currency"], 4), **scale(corner), monotone=monotone, selection=corner["selection"]
    )
    few = reach * corner["factor"] == 1
    tolerance, other = "1/1000" if few else "1/20", [reach, 0 if monotone else -reach]
    return Instance(built, [0, 0], other, tolerance, tight=few and not monotone)


def select_and_measure_two(corner: Corner) -> Instance:
    """Two of so many, or both of two."""
    among, monotone = corner["among"], corner["monotone"]
    built = lb.SelectAndMeasure(
        k=2,
        sensitivity=1,
        resolution=1,
        monotone=monotone,
        selection=corner["selection"],
        **price(corner["currency"], 4 * among),
    )
    other = [1, 1, 0 if monotone else -1][:among]
    return Instance(built, [0] * among, other, "1/20", tight=False)


def sparse_vector(corner: Corner) -> Instance:
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.SparseVector(
        threshold=0, limit=corner["k"], **price(corner["currency"], 4), **scale(corner), monotone=monotone, gaps=False
    )
    return Instance(built, [0, 0], [reach, 0 if monotone else -reach], "1/50", tight=False)


def measured_above(corner: Corner) -> Instance:
    """One query, whose value is measured too where it is above."""
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.SparseVector(
        threshold=0, limit=1, measure=corner["measure"], **price(corner["currency"], 4), **scale(corner),
        monotone=monotone,
    )  # fmt: skip
    return Instance(built, [0], [reach if corner["up"] else -reach], "1/20", tight=False)


def adaptive_sparse_vector(corner: Corner) -> Instance:
    monotone, reach = corner["monotone"], corner["reach"]
    built = lb.AdaptiveSparseVector(
        threshold=0, limit=corner["k"], sigma=0, **price(corner["currency"], 16), **scale(corner), monotone=monotone,
    )  # fmt: skip
    return Instance(built, [0, 0], [reach, 0 if monotone else -reach], "1/20", tight=False)


def automatic_bounds(corner: Corner) -> Instance:
    """One person has so many numbers that nobody had, on one side or on both."""
    bound, unit = corner["bound"], Fraction(1, corner["factor"])
    built = lb.AutomaticBounds(
        choices=[unit, 2 * unit], resolution=unit, most_values=bound, overshoot="1/4",
        **price(corner["currency"], 12 * bound),
    )  # fmt: skip
    tight = corner["sides"] == bound == 1 and corner["currency"] != "rho"
    numbers = [unit, -unit] if corner["sides"] == 2 else [unit]
    return Instance(built, [], (numbers * bound)[:bound], "1/1000000", tight=tight)


def parts(corner: Corner) -> Instance:
    """Several numbers of one person share the cost; the last is measured as finely as the first allows."""
    count, reach = corner["parts"], corner["reach"]
    share = price(corner["currency"], 8)
    own = [lb.DiscreteLaplace(**share, **scale(corner)) for _ in range(count)]

    def build(published: Any) -> Any:
        return (
            own[-1]
            if published["0"].values[0] > 0
            else lb.DiscreteLaplace(**price(corner["currency"], 4), **scale(corner))
        )

    last = lb.LaterPart("DiscreteLaplace", own[-1].cost, {}, build) if count > 1 else own[-1]
    built = lb.Parts(parts={str(place): part for place, part in enumerate([*own[:-1], last])})
    return Instance(
        built, dict.fromkeys(built.parts, (0,)), dict.fromkeys(built.parts, (reach,)), "1/1000", tight=count == 1
    )


def quantile(corner: Corner) -> Instance:
    bound = corner["bound"]
    built = lb.Quantile(
        bounds=(0, 3), resolution=Fraction(1, corner["factor"]), most_values=bound, scale=corner["scale"],
        **price(corner["currency"], 4),
    )  # fmt: skip
    return Instance(built, [1, 3, 3] * bound, [1, 3, 3, 1] * bound, tight=corner["scale"] == "linear")


def quantiles(corner: Corner) -> Instance:
    bound = corner["bound"]
    built = lb.Quantiles(
        qs=["1/3", "2/3"], bounds=(0, 3), resolution=Fraction(1, corner["factor"]), most_values=bound, spread=1,
        **price(corner["currency"], 4),
    )  # fmt: skip
    return Instance(built, [1, 3, 3] * bound, [1, 3, 3, 1] * bound, tight=False)


def group_quantiles(corner: Corner) -> Instance:
    """One person has a number in as many groups as the bound says."""
    bound = corner["bound"]
    names = "abc"[:bound]
    built = lb.GroupQuantiles(
        groups=[*names], bounds=(0, 3), resolution=Fraction(1, corner["factor"]), most_values=bound, spread=1,
        **price(corner["currency"], 8),
    )  # fmt: skip
    before = [1, 3, 3] * bound
    after = {name: [*before, 1] for name in names}
    return Instance(built, dict.fromkeys(names, before), after, tight=corner["currency"] != "rho")


def unlisted(corner: Corner, counts: Mapping[str, int]) -> lb.Unlisted:
    facts = {"sensitivity": corner["reach"], "most_items": corner["bound"]}
    return lb.Unlisted.of(
        {item: count * corner["reach"] for item, count in counts.items()},
        resolution=Fraction(1, corner["factor"]),
        **facts,
    )


def discover_ranking(corner: Corner) -> Instance:
    bound, k = corner["bound"], corner["k"]
    built = lb.DiscoverRanking(
        k=k, delta="1/1000", most_items=bound, **price(corner["currency"], 4 * k), **scale(corner)
    )
    before = dict.fromkeys("abc", 20)
    after = {item: 20 + (place >= 3 - (bound or 2)) for place, item in enumerate(before)}
    tolerance = "0" if k == 1 else "1/100"
    return Instance(built, unlisted(corner, before), unlisted(corner, after), tolerance, tight=k == 1)


def discover_histogram(corner: Corner) -> Instance:
    """One item that a person has; the bound says in how many others the person may count."""
    built = lb.DiscoverHistogram(
        delta="1/1000", most_items=corner["bound"], **price(corner["currency"], 2 * corner["bound"]), **scale(corner)
    )
    return Instance(built, unlisted(corner, {"a": 20}), unlisted(corner, {"a": 21}), "1/100", tight=False)


def discover_first(corner: Corner) -> Instance:
    """The first person of all: what nobody had before may be told with the probability delta at most."""
    built = lb.DiscoverHistogram(
        delta="1/10", most_items=corner["bound"], **price(corner["currency"], 2 * corner["bound"]), **scale(corner)
    )
    after = dict.fromkeys("ab"[: corner["bound"]], 1)
    return Instance(built, unlisted(corner, {}), unlisted(corner, after), "1/1000", tight=False)


def mean(corner: Corner) -> Instance:
    rows = corner["bound"]
    built = lb.NoisyMean(
        bounds=(0, 1), resolution=Fraction(1, corner["factor"]), most_rows=rows, **price(corner["currency"], 4)
    )
    tolerance = "1/1000" if rows * corner["factor"] < 10 else "1/10"
    return Instance(built, [], [1] * rows, tolerance, tight=rows * corner["factor"] == 1)


def group_means(corner: Corner) -> Instance:
    """One person has so many numbers, at the upper bound, in as many groups as the bound says."""
    rows, bound = corner["rows"], corner["bound"]
    built = lb.GroupMeans(
        groups=["a", "b"], bounds=(0, 1), resolution=Fraction(1, corner["factor"]), most_items=bound, most_rows=rows,
        sd=corner["sd"], **price(corner["currency"], (16 if corner["sd"] else 4) * bound * rows),
    )  # fmt: skip
    after = {group: [1] * rows for group in "ab"[:bound]}
    return Instance(built, {}, after, "1/20", tight=False)


def group_top_k(corner: Corner) -> Instance:
    """One person comes into as many groups as the bound says."""
    bound, monotone, other = corner["bound"], corner["monotone"], corner["other"]
    names = "abc"[:bound]
    built = lb.GroupTopK(
        groups=[*names], k=1, resolution=Fraction(1, corner["factor"]), monotone=monotone,
        **price(corner["currency"], 12 * corner["factor"]),
    )  # fmt: skip
    after = [1, other if monotone else -other]
    tight = other == 0 and monotone and corner["currency"] != "rho" and corner["factor"] == 1
    return Instance(built, dict.fromkeys(names, (0, 0)), dict.fromkeys(names, after), "1/1000", tight=tight)


def measured_group_top_k(corner: Corner) -> Instance:
    """The same, with the numbers of what is selected."""
    names = "ab"[: corner["bound"]]
    built = lb.GroupTopK(
        groups=[*names], k=1, numbers=True, sensitivity=corner["reach"], resolution=1, monotone=True,
        **price(corner["currency"], 16 * corner["reach"]),
    )  # fmt: skip
    return Instance(
        built, dict.fromkeys(names, (0, 0)), dict.fromkeys(names, (corner["reach"], 0)), "1/100", tight=False
    )


def tables(corner: Corner) -> Instance:
    """A person has up to `bound` records, or replaces as many."""
    bound, replaces = corner["bound"], corner["replaces"]
    built = lb.Tables(domain={"sex": "fm"}, ways=1, rho=2, most_records=bound, replaces=replaces)
    return Instance(built, [9, 9], [9 - bound, 9 + bound] if replaces else [9, 9 + bound], "1/1000", tight=False)


BOUNDED = {"currency": CURRENCY, "bound": (1, 2, 10), "factor": (1, 10)}
SIDES = {**GRID, "monotone": (False, True)}
SMALL = {"currency": CURRENCY, "reach": (1, 2), "factor": (1, 2), "monotone": (False, True)}
"""Noise on several values at once has too many outcomes where one person moves them by many steps: see test_corners."""
CASES: dict[str, tuple[Callable[[Corner], Instance], Mapping[str, Sequence[Any]]]] = {
    "DiscreteLaplace": (laplace, GRID),
    "DiscreteGaussian": (gaussian, {"reach": (1, 2), "bound": (1, 2), "factor": (1, 2)}),
    "ExponentialMechanism": (exponential, SIDES),
    "SubsetTopK": (subset, {**SIDES, "k": (1, 2, 3, 4)}),
    "NoisyMax": (noisy_max, SMALL),
    "NoisyTopK": (top_k, {**SMALL, "k": (1, 2, 3)}),
    "SelectAndMeasure": (select_and_measure, {**SMALL, "selection": ("noise", "set")}),
    "SelectAndMeasure, two": (
        select_and_measure_two,
        {"currency": CURRENCY, "among": (2, 3), "monotone": (False, True), "selection": ("noise", "set")},
    ),
    "SparseVector": (sparse_vector, {**SMALL, "k": (1, 2)}),
    "SparseVector, measured": (measured_above, {**SMALL, "measure": ("1/2", "1/4"), "up": (False, True)}),
    "AdaptiveSparseVector": (adaptive_sparse_vector, {**SMALL, "k": (1, 2)}),
    "AutomaticBounds": (automatic_bounds, {**BOUNDED, "sides": (1, 2)}),
    "Parts": (parts, {"currency": CURRENCY, "reach": (1, 2), "factor": (1, 2), "parts": (1, 2, 3)}),
    "Quantile": (quantile, {**BOUNDED, "scale": ("linear", "log")}),
    "Quantiles": (quantiles, BOUNDED),
    "GroupQuantiles": (group_quantiles, {**BOUNDED, "bound": (1, 2, 3), "factor": (1, 2)}),
    "GroupTopK": (
        group_top_k,
        {"currency": CURRENCY, "bound": (1, 2, 3), "other": (0, 1), "factor": (1, 2), "monotone": (False, True)},
    ),
    "GroupTopK, measured": (measured_group_top_k, {"currency": CURRENCY, "bound": (1, 2), "reach": (1, 2)}),
    "DiscoverRanking": (discover_ranking, {**GRID, "bound": (1, 2, None), "k": (1, 2, 3)}),
    "DiscoverHistogram": (discover_histogram, {**GRID, "bound": (1, 2, 3)}),
    "DiscoverHistogram, first": (discover_first, {**GRID, "reach": (1, 2), "factor": (1, 2), "bound": (1, 2)}),
    "NoisyMean": (mean, {**BOUNDED, "bound": (1, 2), "factor": (1, 2)}),
    "GroupMeans": (
        group_means,
        {"currency": CURRENCY, "bound": (1, 2), "rows": (1, 2), "factor": (1, 2), "sd": (False, True)},
    ),
    "Tables": (tables, {"bound": (1, 2), "replaces": (False, True)}),
}


def instances(every: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of a case and a corner of it, for all cases."""
    for name, (_, choices) in CASES.items():
        for corner in cover(choices, every):
            yield name, corner
