"""Every parameter that is True or False takes nothing else: the text "no" would count as true, and halve the noise."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.audit import stability
from lastbit.estimate.finding import expected_found
from lastbit.values.spark_counts import SparkCounts

BOUNDS = {"bounds": (0, 10)}
ONE = {"epsilon": 1}
CHECKED: dict[str, Callable[..., Any]] = {
    "AdaptiveSparseVector monotone": lambda **more: lb.AdaptiveSparseVector(threshold=0, limit=1, **ONE, **more),
    "Cost in_rho": lambda **more: lb.Cost(lb.Cost.of(1).epsilon, **more),
    "Counts monotone": lambda **more: lb.Counts(items=["flu"], values=[1], **more),
    "ExponentialMechanism monotone": lambda **more: lb.ExponentialMechanism(**ONE, **more),
    "Grid.around on_grid": lambda **more: lb.Grid(1).around(3, 1, **more),
    "GroupMeans sd": lambda **more: lb.GroupMeans(groups=["a"], **BOUNDS, resolution=1, **ONE, **more),
    "GroupTopK monotone": lambda **more: lb.GroupTopK(groups=["a"], k=1, **ONE, **more),
    "GroupTopK numbers": lambda **more: lb.GroupTopK(groups=["a"], k=1, **ONE, **more),
    "NoisyMax monotone": lambda **more: lb.NoisyMax(**ONE, **more),
    "NoisyTopK monotone": lambda **more: lb.NoisyTopK(k=1, **ONE, **more),
    "PrivateSearch constant": lambda **more: lb.PrivateSearch(
        grid={"depth": [1]}, fit_score=lambda draw, depth: (None, 1), candidate_cost=1, most=2, **more
    ),
    "PrivateSelection constant": lambda **more: lb.PrivateSelection(
        candidates=[lambda draw: (None, 1)], candidate_cost=1, most=2, **more
    ),
    "SelectAndMeasure monotone": lambda **more: lb.SelectAndMeasure(k=1, **ONE, **more),
    "SparkCounts monotone": lambda **more: SparkCounts(rows=None, **more),  # type: ignore[arg-type]
    "SparseVector monotone": lambda **more: lb.SparseVector(threshold=0, limit=1, **ONE, **more),
    "SparseVector gaps": lambda **more: lb.SparseVector(threshold=0, limit=1, **ONE, **more),
    "Statistic monotone": lambda **more: lb.Statistic(1, 1, 1, **more),  # type: ignore[arg-type]
    "SubsetTopK monotone": lambda **more: lb.SubsetTopK(k=1, **ONE, **more),
    "Tables replaces": lambda **more: lb.Tables(domain={"sex": "fm"}, ways=1, rho=1, **more),
    "exact_sum replaces": lambda **more: lb.exact_sum([1], **BOUNDS, **more),
    "expected_found monotone": lambda **more: expected_found([3, 2, 1], 1, lb.Cost.of(1), **more),
    "histogram replaces": lambda **more: lb.histogram([1], bins=2, **BOUNDS, **more),
    "mean_sums replaces": lambda **more: lb.mean_sums([1], **BOUNDS, **more),
    "stability monotone": lambda **more: stability(lambda rows: len(rows), [{"a": 1}], unit="a", **more),
}
MADE_BY_LASTBIT = (lb.Release, lb.Answer, lb.Entry, lb.audit.Verdicts, lb.audit.Stability)
"""Results: what lastbit says, and not what it is told."""
ELSEWHERE = {
    "Ledger verify", "Ledger.release reuse", "Run.answer_queries plain", "Publication.check tables", "verify audit",
    "Quantile.ready_steps of_rows", "Quantiles.ready_steps of_rows", "Numbers apart",
    "Numbers.group_sums squares",
}  # fmt: skip
"""None of them changes a cost or a noise: what is looked at in books and files, what a sentence says, how queries
are written, and what a reading says of itself.

tests/ledger asks about reuse."""


def flags_of(name: str, function: Callable[..., Any]) -> Iterator[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for parameter in parameters:
        if str(parameter.annotation).startswith("bool") or isinstance(parameter.default, bool):
            yield f"{name} {parameter.name}"


def public_flags() -> set[str]:
    """All parameters of public functions, classes and their methods that are declared as bool."""
    found: set[str] = set()
    for module in (lb, lb.audit, lb.estimate, lb.ledger):
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isclass(member) and not issubclass(member, MADE_BY_LASTBIT):
                methods = inspect.getmembers(member, callable)
                found.update(*(flags_of(f"{name}.{own}", method) for own, method in methods if own[0] != "_"))
            if callable(member) and not (inspect.isclass(member) and issubclass(member, MADE_BY_LASTBIT)):
                found.update(flags_of(name, member))
    return found


def test_no_flag_is_left_out_here() -> None:
    assert public_flags() - ELSEWHERE == set(CHECKED)


@pytest.mark.parametrize("wrong", ["no", 0, 1, None, []], ids=repr)
@pytest.mark.parametrize("name", CHECKED)
def test_a_flag_is_true_or_false(name: str, wrong: Any) -> None:
    parameter = name.split()[-1]
    with pytest.raises(lb.ParameterError, match=f"{parameter} must be True"):
        CHECKED[name](**{parameter: wrong})


@pytest.mark.parametrize("name", ["exact_sum replaces", "histogram replaces", "mean_sums replaces", "Counts monotone"])
def test_a_flag_of_numpy_is_one(name: str) -> None:
    parameter = name.split()[-1]
    for value in (True, False):
        one, other = CHECKED[name](**{parameter: value}), CHECKED[name](**{parameter: np.bool_(value)})
        assert (one.adjacency, one.monotone) == (other.adjacency, other.monotone)
