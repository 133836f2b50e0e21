"""One number for each unit: the same on every engine, by the rule said again; and one unit moves its own only."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lastbit as lb
from lastbit.audit import hostile, stability
from lastbit.data.numbers import Numbers
from lastbit.data.per_unit import per_unit
from lastbit.values.contribution_bound import one_key
from tests.stability.judge import ENGINES

KINDS = {"unit": pa.int64(), "of": pa.float64(), "when": pa.string(), "group": pa.string()}
PERS: dict[str, dict[str, Any]] = {
    "mean": {},
    "total": {},
    "latest": {"latest_by": "when"},
    "first": {"first_by": "when"},
    "any": {},
    "row": {"most_rows": 100},
}


def table(rows: list[dict[str, Any]], kinds: dict[str, pa.DataType] = KINDS) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in kinds.items()})


def said_again(
    rows: list[dict[str, Any]], per: str, low: Fraction, high: Fraction, step: Fraction
) -> Counter[Fraction]:
    """The rule in plain Python, for bounds on the grid."""

    def number(value: float, low: Fraction, high: Fraction) -> Fraction:
        exact = (high if value > 0 else low) if math.isinf(value) else Fraction(value)
        return math.floor(max(low, min(high, exact)) / step) * step

    far = step * 2**60
    own: dict[Any, list[tuple[str, Fraction]]] = defaultdict(list)
    for row in rows:
        if row["unit"] is None or row["of"] is None or math.isnan(row["of"]):
            continue
        if per in ("latest", "first") and row["when"] is None:
            continue
        limits = (-far, far) if per == "total" else (low, high)
        own[row["unit"]].append((row["when"], number(row["of"], *limits)))
    if per == "row":
        return Counter(value for values in own.values() for _, value in values)
    found = []
    for values in own.values():
        numbers = [value for _, value in values]
        if per == "latest":
            found.append(max(values)[1])
        elif per == "first":
            found.append(min(values)[1])
        elif per == "any":
            found.append(max(numbers))
        elif per == "total":
            found.append(max(low, min(high, sum(numbers, Fraction(0)))))
        else:
            found.append(math.floor(sum(numbers, Fraction(0)) / len(numbers) / step) * step)
    return Counter(found)


rows = st.lists(
    st.fixed_dictionaries(
        {
            "unit": st.sampled_from([1, 2, 3, None]),
            "of": st.none() | st.floats() | st.floats(-4, 4) | st.sampled_from([0.5, -1.0, 2.0, 2.0**61, -(2.0**61)]),
            "when": st.sampled_from(["2026-01-01", "2026-02-01", "10", "9", None]),
            "group": st.sampled_from(["a", "b", None]),
        }
    ),
    max_size=8,
)


@pytest.mark.parametrize("per", PERS)
@given(
    rows=rows, bounds=st.sampled_from([(-1, 3), (1, 2), (-3, -1), None]), resolution=st.sampled_from([None, "1/4", 1])
)
def test_every_engine_has_the_numbers_of_the_rule(per: str, rows: list, bounds: Any, resolution: Any) -> None:
    found = {}
    if bounds is None:
        resolution = resolution or "1/100"
    for engine in ("Polars", "PyArrow", "DuckDB"):
        frame = ENGINES[engine](table(rows))
        found[engine] = per_unit(
            frame,
            of="of",
            unit="unit",
            per=per,
            bounds=bounds,
            resolution=resolution,
            **PERS[per],  # type: ignore[arg-type]
        )
    step = found["DuckDB"].resolution
    if bounds is None:
        # At least 2^9 steps to one of the resolution, and 2^60 either side of zero.
        assert step <= Fraction(resolution) / 2**9
        bounds = -(2**60) * step, 2**60 * step
    expected = said_again(rows, per, Fraction(bounds[0]), Fraction(bounds[1]), step)
    for numbers in found.values():
        assert Counter(numbers.values) == expected
        assert (numbers.most, numbers.bounds) == (100 if per == "row" else 1, bounds)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("per", ["mean", "total", "latest"])
def test_without_bounds_numbers_of_every_size_are_read_exactly(engine: str, per: str) -> None:
    # The ends of int64, which are clamped, and numbers near the limit of the finest grid.
    far = [2**63 - 1, -(2**63), 2**50, 2**50 - 1, -(2**50) + 1, 10**15, 0, -7]
    kinds = {"unit": pa.int64(), "of": pa.int64(), "when": pa.string()}
    rows = [{"unit": i, "of": value, "when": "a"} for i, value in enumerate(far)]
    latest = {"latest_by": "when"} if per == "latest" else {}
    numbers = per_unit(ENGINES[engine](table(rows, kinds)), of="of", unit="unit", per=per, **latest)  # type: ignore[arg-type]
    assert sorted(numbers.values) == sorted(max(-(2**50), min(2**50, value)) for value in far)
    floats = {**kinds, "of": pa.float64()}
    tenths = [{"unit": i, "of": value, "when": "a"} for i, value in enumerate([0.5, -1e300, math.inf, 2.0**40, -0.0])]
    parts = per_unit(
        ENGINES[engine](table(tenths, floats)),
        of="of",
        unit="unit",
        per=per,
        resolution="1/10",
        **latest,  # type: ignore[arg-type]
    )
    reach = parts.bounds[1]
    assert reach > 10**12
    assert sorted(parts.values) == [-reach, 0, Fraction(1, 2), 2**40, reach]
    with pytest.raises(lb.ParameterError, match="bounds or a resolution must be said, as the type of 'of'"):
        per_unit(ENGINES[engine](table(tenths, floats)), of="of", unit="unit", per=per, **latest)  # type: ignore[arg-type]


@pytest.mark.parametrize("engine", ENGINES)
def test_groups_and_missing_numbers(engine: str) -> None:
    rows = [
        {"unit": 1, "of": 2.0, "when": "a", "group": "x"},
        {"unit": 1, "of": None, "when": "b", "group": "x"},
        {"unit": 1, "of": 4.0, "when": "b", "group": "y"},
        {"unit": 2, "of": float("nan"), "when": None, "group": "y"},
        {"unit": 3, "of": 9.0, "when": None, "group": "z"},
    ]
    frame = ENGINES[engine](table(rows))
    options: dict[str, Any] = {"of": "of", "unit": "unit", "bounds": (0, 8), "by": "group", "domain": ["y", "x"]}

    def found(**more: Any) -> list[tuple[int, Fraction]]:
        numbers = per_unit(frame, **options, **more)
        return sorted(zip(numbers.places.tolist(), numbers.values, strict=True))

    assert found() == [(0, 4), (1, 2)]
    assert found(missing="lowest") == [(0, 0), (0, 4), (1, 1)]
    assert found(missing=3) == [(0, 3), (0, 4), (1, Fraction(5, 2))]
    assert len(found(most_items=1)) == 1
    assert per_unit(frame, **options).most == 2
    assert per_unit(frame, **options, most_items=1).most == 1
    assert per_unit(frame, **options).of(1).values == (2,)
    assert sorted(per_unit(frame, of="of", bounds=(0, 8)).values) == [2, 4, 8]


WHOLE = {"whole": pa.int64(), "decimal": pa.decimal128(20, 2), "unsigned": pa.uint64(), "short": pa.int8()}


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "pandas"])  # it has no such types
@pytest.mark.parametrize("per", ["mean", "total"])
def test_numbers_of_other_types(engine: str, kind: str, per: Any) -> None:
    rows = [{"unit": unit, "of": value} for unit, value in ((1, 3), (1, 4), (2, None), (3, 90), (None, 3))]
    frame = ENGINES[engine](table(rows, {"unit": pa.int64(), "of": WHOLE[kind]}))
    numbers = per_unit(frame, of="of", unit="unit", bounds=(0, 8), per=per)
    assert sorted(numbers.values) == [Fraction(7, 2) if per == "mean" else 7, 8]
    assert (numbers.floored == 0) is (kind != "decimal" and per == "total")


@pytest.mark.parametrize("kind", WHOLE)
@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "pandas"])
def test_bounds_between_two_values_of_a_type_are_kept(engine: str, kind: str) -> None:
    """An engine that clamps to values of the column's own type must clamp the steps once more."""
    given = [number / Decimal(100 if kind == "decimal" else 1) for number in (-90, -1, 0, 1, 90)]
    given = [value for value in given if value >= 0 or kind != "unsigned"]
    rows = [{"of": value if kind == "decimal" else int(value)} for value in given]
    frame = ENGINES[engine](table(rows, {"of": WHOLE[kind]}))
    for bounds, resolution in ((("-3/1024", "5/1024"), "1/1024"), (("-1/2", "1/4"), "1/8"), (("1/4", "3/4"), "1/4")):
        low, high, step = map(Fraction, (*bounds, resolution))
        expected = [math.floor(max(low, min(high, Fraction(value))) / step) * step for value in given]
        found = per_unit(frame, of="of", bounds=bounds, resolution=resolution)
        assert sorted(found.values) == sorted(expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_of_a_unit_so_many_rows_count_and_rows_that_are_alike_count_each(engine: str) -> None:
    rows = [{"unit": 1, "of": value} for value in (5.0, 5.0, 5.0, 1.0)] + [{"unit": 2, "of": 5.0}]
    frame = ENGINES[engine](table(rows, {"unit": pa.int64(), "of": pa.float64()}))
    kept: Counter[Any] = Counter()
    for key in range(64):
        with one_key(key):
            numbers = per_unit(frame, of="of", unit="unit", bounds=(0, 8), per="row", most_rows=1)
        assert len(numbers) == 2
        kept[tuple(sorted(map(int, numbers.values)))] += 1
    # Each row of the unit has its own lot: three of four draws are 5 on average, and not one of two.
    assert kept[(5, 5)] > kept[(1, 5)] > 0
    assert kept[(5, 5)] + kept[(1, 5)] == 64


@pytest.mark.parametrize("per", PERS)
@pytest.mark.parametrize("engine", ["pandas", "Polars", "DuckDB"])
def test_one_unit_moves_its_own_numbers_only(engine: str, per: Any) -> None:
    most = 2 if per == "row" else 1
    options = {**PERS[per], "most_rows": 2} if per == "row" else PERS[per]

    def count(rows: list[Any]) -> lb.Unlisted:
        frame = ENGINES[engine](table(rows))
        numbers = per_unit(frame, of="of", unit="unit", per=per, bounds=(-3, 5), **options)
        return lb.Unlisted.of(Counter(map(str, numbers.values)), sensitivity=most, most_items=most)

    ordinary = [
        {"unit": place % 20, "of": place / 8, "when": f"2026-01-{place:02}", "group": "a"} for place in range(10, 60)
    ]
    strange = [
        {"unit": 900, "of": value, "when": when, "group": "a"}
        for value in [*hostile.values("float"), None]
        for when in ("", "2026-01-33", None, "\U0010ffff")
    ]
    verdict = stability(count, ordinary, unit="unit", hostile=[strange, strange[:1], strange * 20])
    assert verdict.holds, str(verdict)
    assert verdict.moved


def test_sums_and_means_of_numbers_are_exact() -> None:
    steps = np.array([3, -5, 2**40], np.int64)
    facts: Any = (np.zeros(3, np.int64), (), Fraction(1, 4), (Fraction(-2), Fraction(2**40)))
    numbers = Numbers(steps, *facts, floored=Fraction(1, 2))
    assert numbers.sum == Fraction(2**40 - 2, 4)
    total = numbers.total(1)
    assert (total.values, total.sensitivity, total.monotone) == ((2**40 - 2) // 4, 2**40, False)
    assert total.above == 1 + 2**31
    assert numbers.mean(1).values[1] == 3 * Fraction(2**40 + 2, 2)
    exact = Numbers(steps * 4, *facts)
    assert (exact.total("1/2").above, exact.total(2).above) == (0, 1)
    assert (exact.mean("1/2").floored, exact.mean(2).floored) == (0, Fraction(1, 4))
    with pytest.raises(lb.LastbitError, match="not written down"):
        exact.__reduce__()
    assert "3" not in repr(numbers).split("between")[0]


@pytest.mark.parametrize("bounds", [("0.1", "0.5"), ("-0.3", "0.5"), ("-0.7", "-0.1"), ("1/3", 7)])
def test_sums_are_floored_and_never_above_the_exact_ones(bounds: tuple[Any, Any]) -> None:
    low, high = Fraction(bounds[0]), Fraction(bounds[1])
    rows = [{"unit": i, "of": -9.0} for i in range(1000)]
    rows += [{"unit": 1000 + i // 2, "of": x} for i, x in enumerate([0.3 - 1e-11, 0.3 - 1e-11, -0.2, 0.4, 9.0])]
    frame = table(rows, {"unit": pa.int64(), "of": pa.float64()})
    clamped = [max(low, min(high, Fraction(row["of"]))) for row in rows]
    truth = {"row": sum(clamped), "mean": sum(clamped[:1000]) + sum(clamped[1000:-1]) / 2 + clamped[-1]}
    per: Any
    for per, exact in truth.items():
        most = {"most_rows": 2} if per == "row" else {}
        numbers = per_unit(frame, of="of", unit="unit", bounds=bounds, per=per, **most)
        assert 0 <= exact - numbers.sum < len(numbers) * numbers.floored
        # The lower end of an interval is this sum less the noise: it must not be above the truth.
        assert numbers.total("1/10").values <= exact


def test_a_missing_number_may_count_as_any_number_between_the_bounds() -> None:
    rows = [{"unit": 1, "of": None}, {"unit": 2, "of": 1}]
    frame = table(rows, {"unit": pa.int64(), "of": pa.float64()})
    for missing in ("0.1", "3.3", "1/3"):
        found = per_unit(frame, of="of", unit="unit", bounds=("0.1", "3.3"), missing=missing)
        assert (
            abs(min(found.values, key=lambda each: abs(each - Fraction(missing))) - Fraction(missing)) < found.floored
        )
        assert all(Fraction("0.1") <= each <= Fraction("3.3") for each in found.values)
    whole = table(rows, {"unit": pa.int64(), "of": pa.int64()})
    for missing, exact in (("leave-out", True), (2, True), ("1/2", False)):
        found = per_unit(whole, of="of", unit="unit", per="total", bounds=(0, 3), missing=missing)
        assert (found.total(1).above == 0) is exact


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "per": ({"per": "median"}, "per must be one of 'mean', 'total', 'latest', 'first', 'any', 'row'"),
    "latest": ({"per": "latest"}, "per='latest' and latest_by go together"),
    "order": ({"latest_by": "when"}, "per='latest' and latest_by go together"),
    "first": ({"per": "first"}, "per='first' and first_by go together"),
    "first by": ({"first_by": "when"}, "per='first' and first_by go together"),
    "rows": ({"per": "row"}, "per='row' needs most_rows"),
    "most rows": ({"most_rows": 3}, "most_rows goes with per='row'"),
    "text": ({"of": "when"}, "weights must be numbers: the column 'when' holds text"),
    "column": ({"of": "cost"}, "there is no column 'cost'"),
    "resolution": ({"resolution": "1/3"}, "resolution must be a power of two"),
    "fine": ({"resolution": Fraction(1, 2**60)}, "at most 2\\^40 steps"),
    "bounds": ({"bounds": (1, 1)}, "bounds must rise"),
    "large": ({"bounds": (0, 2**80)}, "at most 2\\^50"),
    "missing": ({"missing": 9}, "missing must be a number between the bounds"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused_says_what_to_do(case: str) -> None:
    given_options, message = WRONG[case]
    options = {"of": "of", "unit": "unit", "bounds": (0, 8)} | given_options
    with pytest.raises(lb.ParameterError, match=message):
        per_unit(table([]), **options)
