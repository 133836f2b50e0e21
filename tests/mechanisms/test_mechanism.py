"""The one protocol of all mechanisms: ready, release, of, equality; and what releases give back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lastbit as lb
from lastbit.audit.target import all_mechanisms
from lastbit.mechanisms.grid_mechanism import GridMechanism

COUNTS = lb.Counts(items=["flu", "cold", "gout"], values=[500, 80, 7], monotone=True)
WORDS = lb.Unlisted.of({"flu": 5000, "cold": 800, "gout": 7}, most_items=2)
BUILT: dict[str, Callable[..., Any]] = {
    "AutomaticBounds": lb.AutomaticBounds,
    "DiscoverHistogram": lambda **more: lb.DiscoverHistogram(**{"delta": "1e-6", "most_items": 2, **more}),
    "DiscoverRanking": lambda **more: lb.DiscoverRanking(**{"k": 2, "delta": "1e-6", **more}),
    "DiscoverTopK": lambda **more: lb.DiscoverTopK(**{"k": 2, "delta": "1e-6", **more}),
    "DiscreteGaussian": lambda **more: gaussian(**more),
    "DiscreteLaplace": lambda **more: lb.DiscreteLaplace(**{"sensitivity": 3, **more}),
    "ExponentialMechanism": lb.ExponentialMechanism,
    "GroupMeans": lambda **more: lb.GroupMeans(groups=["a", "b"], bounds=(0, 10), **more),
    "GroupQuantiles": lambda **more: lb.GroupQuantiles(groups=["a", "b"], bounds=(0, 10), **more),
    "GroupTopK": lambda **more: lb.GroupTopK(groups=["a", "b"], k=2, most_groups=1, **more),
    "NoisyMax": lb.NoisyMax,
    "NoisyMean": lambda **more: lb.NoisyMean(bounds=(0, 10), **more),
    "NoisyTopK": lambda **more: lb.NoisyTopK(k=2, **more),
    "Parts": lambda **more: lb.Parts(parts={"people": lb.DiscreteLaplace(**more), "top": lb.NoisyTopK(k=2, **more)}),
    "Quantile": lambda **more: lb.Quantile(bounds=(0, 10), **more),
    "Quantiles": lambda **more: lb.Quantiles(qs=["1/4", "1/2"], bounds=(0, 10), **more),
    "SubsetTopK": lambda **more: lb.SubsetTopK(k=2, **more),
    "SelectAndMeasure": lambda **more: lb.SelectAndMeasure(k=2, **more),
    "SparseVector": lambda **more: lb.SparseVector(threshold=50, limit=2, **more),
    "SparseVector with measure": lambda **more: lb.SparseVector(threshold=50, limit=2, measure="1/2", **more),
    "AdaptiveSparseVector": lambda **more: lb.AdaptiveSparseVector(threshold=50, limit=2, **more),
    "Snapping": lambda **more: lb.Snapping(bounds=(0, 100), **more),
    "Tables": lambda **more: tables(**more),
}
VALUES: dict[str, Any] = {
    "Snapping": 7,
    "NoisyMean": [3, 4],
    "AutomaticBounds": [3, 4],
    "GroupMeans": {"a": [3, 4]},
    "GroupQuantiles": {"a": [3, 4]},
    "GroupTopK": {"a": [3, 4], "b": [5, 3, 4]},
    "Parts": {"people": 5, "top": COUNTS},
    "Quantile": [3, 4],
    "Quantiles": [3, 4],
    "Tables": [5, 3, 4],
    **dict.fromkeys(("DiscoverHistogram", "DiscoverRanking", "DiscoverTopK"), WORDS),
}


def gaussian(epsilon: Any = None, eta: lb.Eta | None = None, **more: Any) -> lb.DiscreteGaussian:
    """It has a rho in place of an epsilon."""
    rho = epsilon if eta is None else eta.fraction / 3
    return lb.DiscreteGaussian(rho=rho, **{"squared_sensitivity": 3, **more})


def tables(epsilon: Any = None, eta: lb.Eta | None = None, **more: Any) -> lb.Tables:
    """It has a rho in place of an epsilon."""
    rho = epsilon if eta is None else eta.fraction / 3
    return lb.Tables(domain={"age": ["young", "middle", "old"]}, ways=1, rho=rho, **more)


def make_release(name: str) -> lb.Release:
    release: lb.Release = BUILT[name](epsilon=1).release(VALUES.get(name, COUNTS))
    return release


def test_no_mechanism_is_left_out_here() -> None:
    names = {name.split(" with ")[0] for name in BUILT}
    assert {mechanism.__name__ for mechanism in all_mechanisms()} == {*names, "PrivateSearch", "PrivateSelection"}


@pytest.mark.parametrize("name", BUILT)
def test_equal_parameters_make_equal_mechanisms(name: str) -> None:
    build = BUILT[name]
    one, other = build(epsilon="1/2"), build(epsilon=0.5)
    assert one == other
    assert hash(one) == hash(other)
    assert one != build(epsilon="0.51")
    assert one.parameters == other.parameters
    assert build(eta=lb.Eta(1, 1, 1)) == build(eta=lb.Eta(1, 1, 1)) != one


def test_bounds_and_sensitivity_are_compared_as_numbers() -> None:
    one = lb.DiscreteLaplace(epsilon=1, sensitivity="2", resolution=0.5, bounds=[0, "10"])
    assert one == lb.DiscreteLaplace(epsilon="1", sensitivity=2.0, resolution="1/2", bounds=(0.0, 10))
    assert one.parameters["bounds"] == "(0, 10)"


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(
    "name", ["NoisyMax", "NoisyTopK", "SelectAndMeasure", "SparseVector", "AdaptiveSparseVector", "SubsetTopK"]
)
def test_neighbours_are_all_that_one_person_can_make(name: str, monotone: bool) -> None:
    """The auditor tries these and no others, so a fault that shows on a missing one is never found."""
    mechanism = BUILT[name](epsilon=1, resolution="1/2", monotone=monotone)
    steps = [Fraction(step, 2) for step in (-2, -1, 0, 1, 2)]
    moves = [(a, b) for a, b in product(steps, steps) if (a, b) != (0, 0) and (a * b >= 0 or not monotone)]
    assert sorted(mechanism.neighbours([0, 3])) == sorted((a, 3 + b) for a, b in moves)


def test_a_subclass_that_overrides_release_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(lb.MechanismError, match=r"must not define release or program.*ready") as refused:

        class Loud(lb.DiscreteLaplace):
            def release(self, values: Any, draw: lb.Draw | None = None) -> Any:  # type: ignore[override,misc]
                return values

    assert isinstance(refused.value, TypeError)


def test_a_mechanism_of_ones_own_writes_ready_and_has_the_rest(tmp_path: Any) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Sign(GridMechanism[lb.Choice]):
        """Whether a value is above zero, flipped by chance."""

        def ready(self, values: Any) -> Callable[[lb.Draw], lb.Choice]:
            above = int(self.grid.step(values) > 0)
            rate = self.cost.rate(Fraction(1)).fraction

            def choice(draw: lb.Draw) -> lb.Choice:
                return lb.Choice(self.name, self.cost, above ^ draw.bernoulli(rate / (1 + rate)))

            return choice

        def neighbours(self, values: Any) -> Any:
            return iter([0, 1])

    mechanism = Sign(epsilon=1)
    assert mechanism.release(3).index in (0, 1)
    assert lb.audit.check_all(mechanism, 3).holds
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=2)
    assert ledger.release("clinic", mechanism, 3).mechanism == "Sign"
    assert ledger.account("clinic").remaining == 1


@pytest.mark.parametrize("name", [name for name in BUILT if name not in VALUES])
def test_of_takes_from_the_counts_what_they_know(name: str) -> None:
    kind = getattr(lb, name.split(" with ")[0])
    more = {"SparseVector": {"threshold": 50, "limit": 2}, "AdaptiveSparseVector": {"threshold": 50, "limit": 2}}
    more["SparseVector with measure"] = {**more["SparseVector"], "measure": "1/2"}
    cost = "rho" if name == "DiscreteGaussian" else "epsilon"
    asked: dict[str, Any] = {cost: 1, **({"k": 2} if name in ("NoisyTopK", "SelectAndMeasure", "SubsetTopK") else {})}
    mechanism = kind.of(COUNTS, **asked, **more.get(name, {}))
    assert mechanism.resolution == 1
    assert mechanism.sensitivity == {"DiscreteLaplace": 3, "DiscreteGaussian": None}.get(name, 1)
    assert getattr(mechanism, "monotone", True) is True
    assert isinstance(mechanism.release(COUNTS), lb.Release)
    assert kind.of(COUNTS, **asked, **more.get(name, {}), resolution="1/4").resolution == Fraction(1, 4)


def test_of_takes_a_statistic_and_refuses_bare_values() -> None:
    total = lb.exact_sum([1, 2, 3], bounds=(0, 10), resolution="1/4")
    mechanism = lb.DiscreteLaplace.of(total, epsilon=1)
    assert (mechanism.sensitivity, mechanism.resolution) == (10, Fraction(1, 4))
    assert lb.Snapping.of(total, epsilon=1, bounds=(0, 100)).sensitivity == 10
    with pytest.raises(lb.ParameterError, match="of takes Counts or a Statistic"):
        lb.DiscreteLaplace.of([1, 2], epsilon=1)  # type: ignore[arg-type]


def test_a_statistic_is_accepted_wherever_counts_are() -> None:
    ages = lb.histogram([1] * 900 + [5] * 10, bounds=(0, 10), bins=2)
    assert ages.monotone
    for mechanism in (
        lb.NoisyTopK.of(ages, k=1, epsilon=1),
        lb.SelectAndMeasure.of(ages, k=1, epsilon=1),
        lb.SparseVector.of(ages, threshold=100, limit=1, epsilon=1),
    ):
        assert mechanism.release(ages).indices == (0,)
    assert lb.ExponentialMechanism.of(ages, epsilon=1).release(ages).index == 0
    replaced = lb.histogram([1, 5], bounds=(0, 10), bins=2, replaces=True)
    with pytest.raises(lb.ParameterError, match="not monotone"):
        lb.NoisyMax(epsilon=1, sensitivity=2, monotone=True).release(replaced)


def test_counts_with_a_resolution_are_floored_to_it() -> None:
    counts = lb.Counts(items="ab", values=[Fraction(7, 3), Fraction(1)], sensitivity=2, resolution="1/2")
    assert counts.values == (Fraction(2), Fraction(1))
    assert lb.NoisyMax.of(counts, epsilon=1).resolution == Fraction(1, 2)
    unknown = lb.Counts(items="ab", values=[Fraction(7, 3), Fraction(1)])
    assert unknown.resolution is None
    with pytest.raises(lb.ParameterError, match="resolution must divide"):
        lb.Counts(items="ab", values=[1, 2], resolution="2/3")


@pytest.mark.parametrize("name", BUILT)
def test_a_release_echoes_as_its_table_and_converts(name: str) -> None:
    release = make_release(name)
    assert repr(release) == str(release)
    assert release.title in repr(release)
    given = release.to_dict()
    assert json.loads(release.to_json()) == given
    facts = {"mechanism", "cost", "schema", "costs", "columns", *release.facts()} | (
        {"notes"} if release.notes else set()
    )
    assert set(given) - {"exact"} == facts | set(release.columns())
    assert given["columns"] == list(release.columns())
    rows = len(next(iter(release.columns().values())))
    frame = release.to_frame()
    assert list(frame.columns) == list(release.columns())
    assert len(frame) == rows
    array = np.asarray(release)
    assert array.shape in ((), (rows,))
    assert release.to_html().startswith("<p><strong>")
    assert "</strong></p><table><thead>" in release.to_html()


def test_frames_come_from_the_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    release = make_release("NoisyTopK")
    assert isinstance(release.to_frame(), pd.DataFrame)
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    assert isinstance(release.to_frame(), pl.DataFrame)
    monkeypatch.setitem(__import__("sys").modules, "polars", None)
    with pytest.raises(lb.LastbitError, match="pandas or Polars"):
        release.to_frame()


def test_arrays_of_measurements_are_their_values() -> None:
    draw = lb.Sampler(lb.Tape([1 << 62] * 8))
    noisy = lb.DiscreteLaplace(epsilon=1).release([3, 4], draw)
    assert noisy.to_numpy().dtype == np.int64
    assert noisy.to_numpy().tolist() == [int(value) for value in noisy.values]
    quarters = lb.DiscreteLaplace(epsilon=1, resolution="1/4").release([3, 4], draw)
    assert np.asarray(quarters).tolist() == [float(value) for value in quarters.values]
    assert np.asarray(lb.DiscreteLaplace(epsilon=1).release(3, draw)).shape == ()


def test_public_names_are_all_there_is_to_see() -> None:
    shown = set(dir(lb))
    assert shown == {*lb.__all__, "__version__"}
    for name in lb.__all__:
        assert getattr(lb, name) is not None
    for kind in (lb.TopK, lb.Maximum, lb.MeasuredTopK, lb.NoisyValues, lb.AboveThreshold, lb.Winner, lb.Statistic):
        assert is_dataclass(kind)
    assert callable(lb.estimate.variance_weighted)
    assert lb.ledger.Ledger is lb.Ledger


@pytest.mark.parametrize("name", BUILT)
def test_internals_are_not_shown_as_public(name: str) -> None:
    mechanism = BUILT[name](epsilon=1)
    derived = {field.name for field in fields(mechanism) if not field.init and not field.name.startswith("_")}
    public = {"cost", "grid", "rate", "share", "k", "resolution", "sensitivity", "threshold", "noise", "tau", "allowed"}
    public |= {"shape", "shares", "rates"}
    assert derived <= public


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_an_item_that_no_file_can_hold_is_in_the_table(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a character, as in file names of other systems: the release was paid for, and must come out."""
    monkeypatch.setattr("lastbit.release._FRAMES", (library,))
    counts = lb.Counts(items=["flu", "\ud800"], values=[0, 10**9])
    frame = lb.NoisyTopK.of(counts, k=2, epsilon=1).release(counts).to_frame()
    assert type(frame).__module__.startswith(library)
    assert list(frame["item"]) == ["\ud800", "flu"]
    assert list(frame["index"]) == [1, 0]
