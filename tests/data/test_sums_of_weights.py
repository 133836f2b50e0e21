"""Sums of weights are floored once, for all engines alike, and say how far above the exact sums may lie."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.column_types import DECIMAL, FLOAT, INTEGER
from lastbit.data.weights import Weights
from tests.data.test_count import ENGINES
from tests.data.weight_tables import ITEMS, SETTINGS, TYPES, exact_sums, make_rows, make_table


def frames(name: str, rows: list[Any]) -> dict[str, Any]:
    """The rows in every engine that has the type: decimals of pandas are objects."""
    table = make_table(name, rows)
    return {
        engine: convert(table)
        for engine, convert in ENGINES.items()
        if engine != "pandas" or not pa.types.is_decimal(TYPES[name][0])
    }


SURE = Fraction(1) - Fraction(1, 10**12)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", TYPES)
def test_the_exact_sum_is_no_further_above_than_said(name: str, settings: dict[str, Any]) -> None:
    rows = make_rows(name)
    for unit in ("u", None):
        exact = exact_sums(rows, by_unit=unit is not None, **settings)
        sums = {}
        for engine, frame in frames(name, rows).items():
            counts = lb.count(frame, by="i", unit=unit, domain=ITEMS, weights="w", **settings)
            sums[engine] = list(map(Fraction, counts.values)), counts.above
            for value, total in zip(counts.values, exact, strict=True):
                assert value <= total <= value + counts.margin, engine
                assert (total == value) or counts.above
        assert len({str(pair) for pair in sums.values()}) == 1, sums


@pytest.mark.parametrize("settings", [each for each in SETTINGS if Fraction(each["bounds"][0]) >= 0])
@pytest.mark.parametrize("name", TYPES)
def test_sums_of_items_that_nobody_listed_are_the_same(name: str, settings: dict[str, Any]) -> None:
    rows = make_rows(name)
    listed = lb.count(make_table(name, rows), by="i", unit="u", domain=ITEMS, weights="w", **settings)
    step = Fraction(listed.resolution)
    for frame in frames(name, rows).values():
        found = lb.count(frame, by="i", unit="u", domain=lb.UNKNOWN, weights="w", **settings)
        items, steps = found.highest()
        sums = dict(zip(items, steps.tolist(), strict=True))
        assert [sums.get(item, 0) * step for item in ITEMS] == list(listed.values)
        assert (found.above, found.resolution, found.margin) == (listed.above, step, listed.margin)
        assert list(steps) == sorted(steps, reverse=True)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", TYPES)
def test_one_unit_moves_no_floor_further_than_the_sensitivity(name: str, settings: dict[str, Any]) -> None:
    rows = make_rows(name, seed=3, size=120)
    asked: dict[str, Any] = {"by": "i", "unit": "u", "domain": ITEMS, "weights": "w", **settings}
    before = lb.count(make_table(name, rows), **asked)
    low, high = map(Fraction, settings["bounds"])
    assert before.sensitivity == max(-low, high)
    furthest = Fraction(0)
    for leaver in range(40):
        after = lb.count(make_table(name, [row for row in rows if row[0] != leaver]), **asked)
        moves = [Fraction(a) - Fraction(b) for a, b in zip(before.values, after.values, strict=True)]
        furthest = max(furthest, *map(abs, moves))
        assert not before.monotone or min(moves) >= 0 or max(moves) <= 0
    assert furthest <= before.sensitivity


def test_a_thousand_people_with_nine_tenths_have_nine_hundred() -> None:
    frame = pd.DataFrame({"item": "flu", "person": range(1000), "cost": 0.9})
    for table in (frame, duckdb.connect().from_df(frame)):
        sums = lb.count(table, by="item", unit="person", domain=["flu"], weights="cost", bounds=(0, 4))
        assert sums.values.tolist() == [899]  # the float is below nine tenths on the grid
        assert sums.above == 2
        low, high = lb.DiscreteLaplace.of(sums, epsilon=1).release(sums).interval(SURE)[0]
        assert low <= 900 <= high
        assert high - low < 300


def test_the_item_with_more_is_on_top_and_what_is_left_out_is_as_promised() -> None:
    frame = pd.DataFrame(
        {"item": ["a"] * 1000 + ["b"] * 400, "person": range(1400), "cost": [0.9] * 1000 + [1.0] * 400}
    )
    sums = lb.count(frame, by="item", unit="person", domain=["a", "b"], weights="cost", bounds=(0, 1))
    mechanism = lb.NoisyTopK.of(sums, k=1, epsilon=1)
    top = mechanism.release(sums)
    assert top.items == ("a",)
    assert mechanism.accuracy(2, SURE, sums.margin) == mechanism.accuracy(2, SURE) + 2
    ((low, high),) = top.gap_intervals(SURE)
    assert low <= 500 <= high


def test_a_hundred_thousand_tenths_are_ten_thousand() -> None:
    table = pa.table({"item": ["a"] * 100_000, "cost": [0.1] * 100_000})
    for frame in (table, duckdb.connect().from_arrow(table)):
        sums = lb.count(frame, by="item", domain=["a"], weights="cost", bounds=(0, 1), resolution="1/128")
        low, high = lb.DiscreteLaplace.of(sums, epsilon=1).release(sums).interval(SURE)[0]
        assert low <= 10_000 <= high
        assert 10_000 - Fraction(sums.values[0]) <= Fraction(2, 128)


def test_sums_beyond_64_bits_are_exact() -> None:
    """5,000 numbers of 2^52 fine steps each do not fit in 64 bits, whether they are one unit's or many units'."""
    far, n, items = 1 << 20, 5000, ["many", "one", "heavy"]
    table = pa.table(
        {
            "i": ["many"] * n + ["one"] * (2 * n + 1) + ["heavy"] * 3000,
            "u": [*range(n), *[n] * (2 * n + 1 + 3000)],
            "w": pa.array([far] * n + [far] * n + [-far] * n + [3] + [far] * 3000, pa.float64()),
        }
    )
    for convert in ENGINES.values():
        sums = lb.count(convert(table), by="i", unit="u", domain=items, weights="w", bounds=(-far, far))
        assert list(sums.values) == [n * far, 3, far]
        rows = lb.count(convert(table), by="i", domain=items, weights="w", bounds=(-far, far))
        assert list(rows.values) == [n * far, 3, 3000 * far]


@pytest.mark.parametrize(
    ("column", "places", "bounds", "resolution", "above"),
    [
        (INTEGER, 0, (0, 10), 1, 0),
        (INTEGER, 0, (0, 10), "1/10", 0),
        (INTEGER, 0, (0, 10), 2, 1),
        (DECIMAL, 2, (0, 10), "1/100", 0),
        (DECIMAL, 2, (0, 10), 1, 1),
        (DECIMAL, 30, (0, 10), 1, 2),
        (FLOAT, 0, (0, 10), 1, 2),
        (FLOAT, 0, (0, 10), "1/128", 2),
        (FLOAT, 0, (0, 10), "1/10", 2),
        (FLOAT, 0, (0, 1 << 31), 1, 1 + (1 << 11)),
    ],
)
def test_how_far_above_depends_on_the_type_alone(
    column: Any, places: int, bounds: tuple[int, int], resolution: Any, above: int
) -> None:
    weights = Weights.of(bounds, resolution).refine(column, places)
    assert weights.above == above <= Weights.of(bounds, resolution).most_above
    assert weights.resolution == Fraction(resolution)
    assert weights.low % weights.parts == weights.high % weights.parts == 0


def test_a_grid_that_no_engine_has_room_for_is_refused() -> None:
    with pytest.raises(lb.ParameterError, match="shorter denominator"):
        Weights.of((0, Fraction(1, 3**60)), Fraction(1, 3**60)).refine(FLOAT)


def test_what_two_grids_take_off_is_said() -> None:
    """Floats are floored to a binary grid first where the resolution is not binary: both take off their part."""
    weights = Weights.of((0, "6553599/10"), "1/10").refine(FLOAT)
    assert weights.binary is not None
    lost = weights.grid.resolution + weights.binary.resolution
    assert weights.above == 1 + -(-(lost * 2**32) // weights.resolution)
    assert weights.above > 1 + -(-(weights.grid.resolution * 2**32) // weights.resolution)
