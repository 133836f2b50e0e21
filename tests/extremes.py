"""Legal parameters at their extremes, for every public mechanism, and the promises that it makes about accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import lastbit as lb

TINY = Fraction(1, 1 << 4000)
HUGE = Fraction(1 << 4000)
WHOLE = [1, 2, 3, 10, 1000, 10_000, 10**6, 10**9, 10**18, 2**62, 2**63, 2**64, 10**30, 10**100, 2**4095]
EPSILONS = ["1e-150", "1e-100", "1e-30", "1e-6", "1/3", 1, 7, 100, 2048, "1e6", Fraction(1, 1 << 500)]
RHOS = [*EPSILONS, Fraction(1, 1 << 1000), Fraction(1 << 1000), Fraction(1, 2 * 65_000**2)]
ETAS = [
    *(lb.Eta(1, 1, 1), lb.Eta(2**62 - 1, 62, 1), lb.Eta(1, 1, 4000)),
    *(lb.Eta(2**4000 - 1, 4000, 1), lb.Eta(3, 2, 2000), lb.Eta(1, 4096, 1)),
]
DELTAS = [TINY, Fraction(1, 1 << 257), Fraction(12345, 2**3000 + 1), "1e-6", "0.4", "0.999", 1 - TINY]
LEVELS = ["0.5", "0.95", "0.999999", "1/3", 1 - Fraction(1, 1 << 64), 1 - TINY, TINY]
RESOLUTIONS = [
    1,
    "1/10",
    "1/3",
    1000,
    Fraction(1, 10**30),
    Fraction(10**40, 7),
    TINY,
    HUGE,
    Fraction(2**61 - 1, 2**60 + 3),
]
BOUNDS = [(0, 1), (0, 100), (-(10**9), 10**9), (0, HUGE), (-HUGE, HUGE), (0, TINY), ("0.1", "0.3"), (-3, 7)]
_SCALES = ["linear", "log"]
QUANTILES = [["1/2"], ["1/4", "1/2"], [Fraction(i, 200) for i in range(1, 200)], [TINY, 1 - TINY]]
SHARES = ["1/2", "1/3", TINY, 1 - TINY]
SPLITS = ["even", "optimal", *SHARES]


class Case:
    """One random choice of extreme parameters: the same for the same name and number."""

    def __init__(self, name: str, number: int) -> None:
        self.name, self._random = name, Random(f"{name} {number}")
        self.parameters: dict[str, Any] = PARAMETERS[name](self)

    def one(self, choices: Sequence[Any]) -> Any:
        return self._random.choice(choices)

    def some(self, **choices: Sequence[Any]) -> dict[str, Any]:
        """A few of these parameters; a mechanism has a default for each."""
        return {name: self.one(values) for name, values in choices.items() if self._random.random() < 0.6}

    def pay(self) -> dict[str, Any]:
        name, values = self.one([("epsilon", EPSILONS), ("epsilon", EPSILONS), ("eta", ETAS), ("rho", RHOS)])
        return {name: self.one(values)}

    def grid(self) -> dict[str, Any]:
        """A resolution, and a sensitivity of so many steps."""
        resolution = self.one(RESOLUTIONS)
        steps = self.one([1, 1, 3, 2**20, 2**48, 2**60])
        return {"resolution": resolution, "sensitivity": Fraction(resolution) * steps}

    def build(self) -> Any:
        return getattr(lb, self.name)(**self.parameters)

    def promises(self, mechanism: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
        """What the mechanism says of itself: its cost in words, and how accurate it is."""
        level, n, delta = self.one(LEVELS), self.one(WHOLE), self.one(DELTAS)
        yield "text", lambda: (mechanism.cost.text, mechanism.parameters, repr(mechanism))
        yield "epsilon_at", lambda: mechanism.cost.epsilon_at(delta)
        for name, ask in PROMISES.get(self.name, {}).items():
            yield name, lambda ask=ask: ask(mechanism, level, n)


def _noise(mechanism: Any) -> Any:
    if isinstance(mechanism, lb.SparseVector):
        return mechanism.gap_noise
    last = mechanism._plan.branches[-1]
    return mechanism.gap_noise(lb.Answer(True, Fraction(3), mechanism._plan.prices[last.units]))


_SEARCH = {"law": ["uniform", "geometric", "poisson", 1, "1/2", TINY, HUGE], "stop": SHARES, "threshold": [0, "1/3"]}
_BOUND = {"bounds": BOUNDS}
_SIGN = {"monotone": [True, False]}
_STREAM = {**_SIGN, "split": SPLITS, "noise": ["laplace", "one-sided"]}
_THRESHOLDS = [0, 0, 0, 1000, 2**61, "1/3"]
_FEW = [1, 2, 10, 1000, 10**5, 10**30]
_COSTS = [*map(lb.Cost.of, EPSILONS + ETAS), *(lb.Cost.zcdp(rho, delta) for rho in RHOS for delta in DELTAS)]

PARAMETERS: dict[str, Callable[[Case], dict[str, Any]]] = {
    "AdaptiveSparseVector": lambda of: {
        **of.pay(), **of.grid(), "threshold": of.one(_THRESHOLDS), "limit": of.one(WHOLE),
        **of.some(branches=[2, 3, 8, 16, 17, 10**30], sigma=[0, 1, 2**61, "1/3"], **_STREAM),
    },
    "AutomaticBounds": lambda of: {
        **of.pay(), **of.some(resolution=RESOLUTIONS, overshoot=SHARES, most_values=WHOLE, choices=[[1, 2], [2**61]])
    },
    "DiscoverHistogram": lambda of: {
        **of.pay(), **of.grid(), "delta": of.one(DELTAS), "most_items": of.one(WHOLE)
    },
    "DiscoverRanking": lambda of: {
        **of.pay(), **of.grid(), "delta": of.one(DELTAS), "k": of.one(_FEW),
        **of.some(most_items=WHOLE, candidates=WHOLE),
    },
    "DiscoverTopK": lambda of: {
        **of.pay(), **of.grid(), "delta": of.one(DELTAS), "k": of.one(_FEW),
        **of.some(most_items=WHOLE, candidates=WHOLE),
    },
    "DiscreteGaussian": lambda of: {"rho": of.one(RHOS), **of.grid(), **of.some(**_BOUND)},
    "DiscreteLaplace": lambda of: {**of.pay(), **of.grid(), **of.some(**_BOUND)},
    "ExponentialMechanism": lambda of: {
        **of.pay(), **of.grid(), **of.some(rounding=["floor", "randomized"], **_BOUND, **_SIGN)
    },
    "GroupMeans": lambda of: {
        **of.one([of.pay(), {"rho": of.one(RHOS)}]), "groups": range(of.one([1, 2, 2000])), "bounds": of.one(BOUNDS),
        **of.some(resolution=RESOLUTIONS, most_items=WHOLE, most_rows=WHOLE, sd=[True, False]),
    },
    "GroupQuantiles": lambda of: {
        **of.pay(), "groups": range(of.one([1, 2, 2000])), "bounds": of.one(BOUNDS),
        **of.some(resolution=RESOLUTIONS, qs=QUANTILES, most_values=WHOLE, spread=WHOLE, scale=_SCALES),
    },
    "GroupTopK": lambda of: {
        **of.one([of.pay(), {"rho": of.one(RHOS)}]), **of.grid(), "groups": range(of.one([1, 2, 2000])),
        "k": of.one(WHOLE), **of.some(most_groups=WHOLE, numbers=[True, False], **_SIGN),
    },
    "Parts": lambda of: {
        "parts": {
            f"part {number}": lb.LaterPart("later", of.one(_COSTS), {}, lambda published: None)
            for number in range(of.one([1, 2, 30]))
        }
    },
    "NoisyMax": lambda of: {**of.pay(), **of.grid(), **of.some(**_SIGN)},
    "NoisyMean": lambda of: {
        **of.pay(), "bounds": of.one(BOUNDS), **of.some(resolution=RESOLUTIONS, most_rows=WHOLE)
    },
    "NoisyTopK": lambda of: {**of.pay(), **of.grid(), "k": of.one(WHOLE), **of.some(**_SIGN)},
    "Tables": lambda of: {
        "rho": of.one([*RHOS, 1, "1/100"]),
        "domain": of.one([{"a": "xy"}, {"a": "xy", "b": range(1000)}, {f"c{i}": "xyz" for i in range(5)}]),
        "ways": of.one([1, 2, 3, 10**30]),
        **of.some(most_records=WHOLE, replaces=[True, False], rule=["mean", "worst"], weights=[{"a": 5}, {"a": TINY}]),
    },
    "SubsetTopK": lambda of: {
        **of.pay(), **of.grid(), "k": of.one(WHOLE), **of.some(form=["both", "left-out"], **_SIGN)
    },
    "PrivateSearch": lambda of: {
        "grid": {"depth": [1, 2]}, "fit_score": lambda draw, depth: (None, 1),
        "candidate_cost": of.one(EPSILONS + ETAS), "most": of.one(WHOLE), **of.some(constant=[True, False], **_SEARCH),
    },
    "PrivateSelection": lambda of: {
        "candidates": [lambda draw: (None, 1)] * of.one([1, 5]), "candidate_cost": of.one(EPSILONS + ETAS),
        "most": of.one(WHOLE), **of.some(constant=[True, False], **_SEARCH),
    },
    "Quantile": lambda of: {
        **of.pay(), "bounds": of.one(BOUNDS),
        **of.some(q=[0, 1, *SHARES], resolution=RESOLUTIONS, most_values=WHOLE, scale=_SCALES),
    },
    "Quantiles": lambda of: {
        **of.pay(), "bounds": of.one(BOUNDS), "qs": of.one(QUANTILES),
        **of.some(resolution=RESOLUTIONS, most_values=WHOLE, spread=WHOLE, scale=_SCALES),
    },
    "SelectAndMeasure": lambda of: {
        **of.pay(), **of.grid(), "k": of.one(WHOLE), **of.some(split=SHARES, **_SIGN)
    },
    "Snapping": lambda of: {
        **of.pay(), "bounds": of.one(BOUNDS),
        **of.some(sensitivity=[1, "1/3", 2**48, TINY, HUGE], gamma=["1/2", "1/3", Fraction(1, 1 << 60), TINY, 1000]),
    },
    "SparseVector": lambda of: {
        **of.pay(), **of.grid(), "threshold": of.one(_THRESHOLDS), "limit": of.one(WHOLE),
        **of.some(
            gaps=[True, False, [1, 2, 3], list(range(1000))], clamp=[(-1, 1, 1), (-(2**61), 2**61, 2**61)], **_STREAM
        ),
    },
}  # fmt: skip
"""Parameters of each mechanism: mostly legal ones, and some that only just are not."""

_Ask = Callable[[Any, Any, int], Any]
_NEEDED: dict[str, _Ask] = {"needed": lambda own, level, n: own.needed(level)}
_BOUNDS_OF_GAPS: dict[str, _Ask] = {
    "decisive": lambda own, level, n: own.decisive(level),
    "lower_bound": lambda own, level, n: _noise(own).lower_bound(0, 5, level),
    "listed_bound": lambda own, level, n: _noise(own).listed_bound(0, 5, level),
    "variance": lambda own, level, n: _noise(own).variance,
}
_NOISE: dict[str, _Ask] = {
    "accuracy": lambda own, level, n: own.accuracy(level),
    "accuracy of n": lambda own, level, n: own.accuracy(level, n=n),
}
PROMISES: dict[str, dict[str, _Ask]] = {
    "AdaptiveSparseVector": _BOUNDS_OF_GAPS,
    "AutomaticBounds": {"accuracy": lambda own, level, n: own.accuracy(level)},
    "DiscoverHistogram": _NEEDED,
    "DiscoverRanking": _NEEDED,
    "DiscoverTopK": _NEEDED,
    "DiscreteGaussian": _NOISE,
    "DiscreteLaplace": _NOISE,
    "ExponentialMechanism": {"accuracy": lambda own, level, n: own.accuracy(n, level, k=min(n, 10**6))},
    "GroupMeans": {
        "accuracy": lambda own, level, n: own.accuracy(level, n),
        "people_accuracy": lambda own, level, n: own.people_accuracy(level),
        "total_accuracy": lambda own, level, n: own.total_accuracy(level),
    },
    "GroupQuantiles": {"accuracy": lambda own, level, n: own.accuracy(level, ties=n)},
    "GroupTopK": {"accuracy": lambda own, level, n: own.accuracy(n, level)},
    "NoisyTopK": {"accuracy": lambda own, level, n: own.accuracy(n, level)},
    "Quantile": {"accuracy": lambda own, level, n: own.accuracy(level)},
    "Quantiles": {"accuracy": lambda own, level, n: own.accuracy(level, ties=n)},
    "Snapping": {"accuracy": lambda own, level, n: own.accuracy(level)},
    "SparseVector": _BOUNDS_OF_GAPS,
    "Tables": {"accuracy": lambda own, level, n: own.accuracy(own.shape.names[0], level=level)},
    "SubsetTopK": {
        "accuracy": lambda own, level, n: own.accuracy(n, level),
        "lead": lambda own, level, n: own.lead(n, level),
    },
}


def try_cases(name: str, numbers: range, watched: Callable[[Callable[[], Any]], Any]) -> tuple[int, int]:
    """Build every case and ask for its promises, each under a watch. Only a ParameterError may come.

    Return how many were built, and how many refused.
    """
    built = refused = 0
    for number in numbers:
        case = Case(name, number)
        try:
            mechanism = watched(case.build)
        except lb.ParameterError:
            refused += 1
            continue
        built += 1
        for _, promise in case.promises(mechanism):
            try:
                watched(promise)
            except lb.ParameterError:
                refused += 1
    return built, refused
