"""What each mechanism costs, once and a hundred times: a table of docs/guarantees.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import lastbit as lb


def _fit(*_: object) -> Any:
    """A private program of somebody's own. Nothing runs here: only its cost is read."""
    raise AssertionError("a candidate ran")


ASKED: Final[Mapping[str, lb.Mechanism[Any]]] = {
    "NoisyMax": lb.NoisyMax(epsilon="1/10"),
    "NoisyTopK, k=10": lb.NoisyTopK(k=10, epsilon="1/10"),
    "SelectAndMeasure, k=10": lb.SelectAndMeasure(k=10, epsilon="1/10"),
    "SubsetTopK, k=100": lb.SubsetTopK(k=100, epsilon="1/10"),
    "GroupTopK, k=10, two groups": lb.GroupTopK(groups=("a", "b"), k=10, epsilon="1/10"),
    "ExponentialMechanism": lb.ExponentialMechanism(epsilon="1/10"),
    "SparseVector, limit=3": lb.SparseVector(threshold=0, limit=3, epsilon="1/10"),
    "AdaptiveSparseVector, limit=3": lb.AdaptiveSparseVector(threshold=0, limit=3, epsilon="1/10"),
    "DiscreteLaplace": lb.DiscreteLaplace(epsilon="1/10"),
    "NoisyMean": lb.NoisyMean(epsilon="1/10", bounds=(0, 1)),
    "GroupMeans": lb.GroupMeans(epsilon="1/10", groups=("a", "b"), bounds=(0, 1)),
    "Quantile": lb.Quantile(epsilon="1/10", bounds=(0, 100)),
    "Quantiles, three": lb.Quantiles(qs=["1/4", "1/2", "3/4"], epsilon="1/10", bounds=(0, 100)),
    "GroupQuantiles, the median": lb.GroupQuantiles(groups=("a", "b"), qs=["1/2"], epsilon="1/10", bounds=(0, 100)),
    "AutomaticBounds": lb.AutomaticBounds(epsilon="1/10"),
    "Snapping": lb.Snapping(epsilon="1/10", bounds=(0, 100)),
    "Parts, two": lb.Parts(parts={name: lb.DiscreteLaplace(epsilon="1/20") for name in ("people", "rows")}),
    "DiscreteGaussian, rho=1/200": lb.DiscreteGaussian(rho="1/200"),
    "Tables, rho=1/200": lb.Tables(domain={"sex": "fm", "age": range(5)}, ways=2, rho="1/200"),
    "DiscoverTopK, k=10": lb.DiscoverTopK(k=10, epsilon="1/10", delta="1e-9"),
    "DiscoverRanking, k=10": lb.DiscoverRanking(k=10, epsilon="1/10", delta="1e-9"),
    "DiscoverHistogram": lb.DiscoverHistogram(epsilon="1/10", delta="1e-9", most_items=1),
    "PrivateSelection, at most 20 of ε = 1/20": lb.PrivateSelection(candidates=[_fit], candidate_cost="1/20", most=20),
    "PrivateSearch, at most 20 of ε = 1/20": lb.PrivateSearch(
        grid={"depth": [2, 3]}, fit_score=_fit, candidate_cost="1/20", most=20
    ),
}

_COLUMNS: Final = ("mechanism", "ε", "ρ, at most", "δ, at most", "ε at δ = 10⁻⁶", "ε of 100 of them at δ = 10⁻⁶")


def section() -> Iterator[str]:
    """The lines of the section of the page."""
    yield "## What each costs"
    yield ""
    yield "All but Gaussian noise, tables and private selections are asked for ε = 1/10. The epsilons of a hundred"
    yield "releases add up to 10. With a [δ](learn/delta.md) they cost about half of it, a quarter, or less."
    yield ""
    yield f"| {' | '.join(_COLUMNS)} |"
    yield "|" + " --- |" * len(_COLUMNS)
    for name, mechanism in ASKED.items():
        yield f"| {name} | {' | '.join(_prices(mechanism.cost))} |"
    yield ""


def _prices(cost: lb.Cost) -> tuple[str, ...]:
    return (
        "none" if cost.epsilon is None else str(cost.epsilon),
        f"{float(cost.rho):.4f}",
        f"{float(cost.delta):.2g}",
        f"{cost.epsilon_at('1e-6'):.3f}",
        f"{(cost * 100).epsilon_at('1e-6'):.2f}",
    )
