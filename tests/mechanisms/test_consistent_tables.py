"""Tables of a release as people use them: by columns, as frames, crosswise, totals, whole numbers, bad input."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lastbit as lb
from lastbit.estimate.tables.whole_numbers import add_up, whole_tables
from lastbit.ledger import codec

DOMAIN: dict[str, Any] = {"region": ["north", "south", "east"], "age": ["young", "old"], "sex": ["f", "m", "x", "?"]}
COUNTS = np.arange(24).reshape(3, 2, 4) * 7 + 3


def released(rho: Any = 1, **more: Any) -> lb.ConsistentTables:
    return lb.Tables(domain=DOMAIN, ways=2, rho=rho, **more).release(COUNTS)


def test_tables_by_their_columns_in_any_order() -> None:
    release = released()
    one, other = release.table("region", "sex"), release.table("sex", "region")
    assert one.values.shape == (3, 4)
    assert np.array_equal(one.values, other.values.T)
    assert np.allclose(one.to_numpy(), one.values.astype(float))
    assert one.items == (("north", "south", "east"), ("f", "m", "x", "?"))
    assert np.array_equal(one.values.sum(axis=1), release.table("region").values)
    assert release.table("region").values.sum() == release.table().values == release.table("age").values.sum()
    # The exact estimate is as near as is stated, and adds up too.
    exact = release.table("region", "sex", exact=True)
    off = max(abs(a - b) for a, b in zip(exact.values.flat, one.values.flat, strict=True))
    assert off <= release._reconstruction.error((0, 2))
    assert np.array_equal(exact.values.sum(axis=1), release.table("region", exact=True).values)
    for wrong in (("region", "region"), ("colour",), ("region", "age", "sex")):
        with pytest.raises(lb.ParameterError, match="a table must"):
            release.table(*wrong)


def test_frames_have_a_row_a_cell_with_interval_and_variance() -> None:
    release = released()
    frame = release.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["table", "region", "age", "sex", "value", "low", "high", "variance"]
    assert len(frame) == 3 + 2 + 4 + 6 + 12 + 8
    for (_, row), interval in zip(frame.iterrows(), release.error_bars()["value"], strict=True):
        assert row.low <= float(interval[0]) + 1e-9
        assert row.high >= float(interval[1]) - 1e-9
        assert row.low <= max(row.value, 0) <= row.high
    wide = release.to_frame(level="0.999")
    assert (wide.high > frame.high).all()
    own = release.table("age", "region").to_frame()
    assert own.kind.value_counts().to_dict() == {"cell": 6, "total": 2 + 3 + 1}
    assert own[own.kind == "cell"].value.sum() == pytest.approx(own[own.age.isna() & own.region.isna()].value.item())


def test_frames_of_polars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lastbit.release._FRAMES", ("polars",))
    release = released()
    frame = release.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame["sex"].null_count() == 3 + 2 + 6
    assert release.pivot("age", "region").columns == ["age", "north", "south", "east", "(all)"]


def test_a_pivot_has_its_totals() -> None:
    release = released()
    frame = release.pivot("region", "sex").set_index("region")
    assert list(frame.columns) == ["f", "m", "x", "?", "(all)"]
    assert list(frame.index) == ["north", "south", "east", "(all)"]
    assert np.allclose(frame.loc["(all)"].to_numpy()[:4], release.table("sex").to_numpy())
    assert np.allclose(frame["(all)"].to_numpy()[:3], release.table("region").to_numpy())
    assert frame.loc["(all)", "(all)"] == pytest.approx(float(release.table().values))
    with pytest.raises(lb.ParameterError, match="pivot takes a table of two columns"):
        release.table("region").pivot()


def test_totals_of_any_cells_and_their_intervals() -> None:
    release = released()
    table = release.table("sex", "region")
    cells = [("f", "north"), ("m", "east"), ("?", "east")]
    total = table.total(cells)
    assert total.value == sum(table.values[DOMAIN["sex"].index(a), DOMAIN["region"].index(b)] for a, b in cells)
    assert total.variance == sum(table.covariance(a, b) for a, b in product(cells, repeat=2))
    named = release.total({"region": ["north", "south"], "sex": "x"})
    assert named.value == release.table("region", "sex").values[:2, 2].sum()
    assert named.cells == 2
    low, high = named.interval("0.95")
    assert Fraction(0) <= low < named.value < high
    wide = named.interval("0.9999")
    assert wide[0] <= low
    assert wide[1] > high
    everybody = release.total({"region": DOMAIN["region"]})
    assert everybody.value == release.table().values
    assert everybody.variance == release.design.scheme.variance(())
    alone = release.total({"sex": "x"})
    low, high = alone.interval()
    assert high - alone.value == release.table("sex").within()
    assert alone.variance == release.table("sex").variance
    assert table.total([]).value == table.total([]).variance == 0
    for wrong in ([("f",)], ["f"]):
        with pytest.raises(lb.ParameterError, match="a cell must have a value for each of sex, region"):
            table.total(wrong)
    with pytest.raises(lb.ParameterError, match="sex must be one of its 4 values"):
        release.total({"sex": ["q"]})


def test_covariances_of_cells_of_two_tables() -> None:
    release = released()
    cell, other = {"region": "north", "sex": "f"}, {"sex": "f"}
    assert release.covariance(cell, other) == release.covariance(other, cell) > 0
    assert release.covariance(other, other) == release.table("sex").variance
    shared = sum(release.covariance({"region": region, "sex": "f"}, other) for region in DOMAIN["region"])
    assert shared == release.table("sex").variance


def test_a_view_of_whole_numbers_that_add_up() -> None:
    for seed in range(5):
        small = np.random.default_rng(seed).integers(0, 3, (3, 2, 4))
        for more in ({"ways": 2}, {"ways": 3}, {"tables": [("region", "sex"), ("age",)]}):
            release = lb.Tables(domain=DOMAIN, rho="1/8", **more).release(small)
            view = release.whole()
            axes = {release._shape.axes(names): array for names, array in view.items()}
            assert add_up(axes)
            assert min(array.min() for array in view.values()) >= 0
            assert {array.dtype for array in view.values()} == {np.dtype(np.int64)}
            assert set(release.names) < set(view)
    # A row that is below zero as a whole.
    noisy = np.array([[-3.2, -1.1, 0.4], [2.6, 5.1, 1.9]])
    shapes = {(): noisy.sum(), (0,): noisy.sum(axis=1), (1,): noisy.sum(axis=0), (0, 1): noisy}
    below = whole_tables((2, 3), [(0, 1)], lambda table: np.asarray(shapes[table]))
    assert add_up(below)
    assert below[0,].tolist() == [0, 6]
    assert below[0, 1].min() == 0
    # Noise that is next to nothing changes nothing.
    view = released(rho=4000).whole()
    assert np.array_equal(view["region", "sex"], COUNTS.sum(axis=1))
    with pytest.raises(lb.ParameterError, match="one table of all columns, of at most 1,000,000 cells"):
        whole_tables((101, 101, 101), [(0, 1, 2)], lambda table: np.zeros((101,) * len(table)))


def test_a_release_prints_as_tables_and_comes_back_from_the_books() -> None:
    release = released()
    text = str(release)
    assert text.count("each sum of a row or column within") == 3
    assert "north" in text
    assert "(all)" in release.table("region", "age").to_html()
    assert str(release.table("sex")).splitlines()[1].split() == ["sex", "value"]
    back = codec.decode(codec.encode(release) or "")
    assert back == release
    assert str(back) == text
    data = json.loads(release.to_json())
    assert len(data["value"]) == len(data["low"]) == 35
    assert [table["columns"] for table in data["tables"]][-1] == ["age", "sex"]
    many = lb.Tables(domain={f"c{i}": range(9) for i in range(5)}, ways=2, rho=1)
    listed = str(many.release({(f"c{i}", f"c{j}"): np.zeros((9, 9)) for i in range(5) for j in range(i)}))
    assert "One table: release.table('c0', 'c1')" in listed
    assert release.to_svg().startswith("<svg")
    assert len(release.table("region", "sex").plot().axes) == 3


def test_counts_of_any_value_are_read_by_a_public_rule() -> None:
    mechanism = lb.Tables(domain={"a": "xy", "b": "uv"}, ways=2, rho=1)
    words = list(range(7, 2**64, 2**64 // 8))
    odd = [[None, float("nan")], [-5, 1.9]]
    same = [mechanism.release(values, lb.Sampler(lb.Tape(words))) for values in (odd, [[0, 0], [0, 1]], [0, 0, 0, 1])]
    assert same[0] == same[1] == same[2]
    huge = mechanism.release([[10**30, 1], [2, 3]])
    assert huge.table("a").values[0] > 2**37
    given = {("a", "b"): np.array([[1, 2], [3, 4]])}
    assert mechanism.release(given, lb.Sampler(lb.Tape(words))) == mechanism.release(
        [1, 2, 3, 4], lb.Sampler(lb.Tape(words))
    )


def test_values_that_say_more_than_the_mechanism_allows_are_refused() -> None:
    counts = lb.TableCounts(domain={"a": "xy"}, counts={("a",): np.array([1, 2])}, most_records=2)
    mechanism = lb.Tables.of(counts, ways=1, rho=1)
    assert mechanism.most_records == 2
    assert mechanism.squared_sensitivity == 4
    assert "1 table of 1 column, at most 2 records a person" in repr(counts)
    with pytest.raises(lb.ParameterError, match="Build it with most_records=2"):
        lb.Tables(domain={"a": "xy"}, ways=1, rho=1).release(counts)
    with pytest.raises(lb.ParameterError, match="the columns and the values of the domain"):
        lb.Tables(domain={"a": "xz"}, ways=1, rho=1, most_records=2).release(counts)
    replaced = lb.TableCounts(domain={"a": "xy"}, counts={("a",): np.array([1, 2])}, adjacency="replace")
    with pytest.raises(lb.ParameterError, match="replaces=True"):
        lb.Tables(domain={"a": "xy"}, ways=1, rho=1).release(replaced)
    assert lb.Tables.of(replaced, ways=1, rho=1).adjacency == "replace"
    with pytest.raises(lb.ParameterError, match="TableCounts"):
        lb.Tables.of(lb.Counts(items="ab", values=[1, 2]), ways=1, rho=1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"domain": {}}, "domain must list the public values of each column"),
        ({"domain": None}, "domain must list the public values"),
        ({"domain": {"a": "xy", "b": None}}, "domain must list the public values"),
        ({"domain": {"a": "x", "b": "uv"}}, "a must have two values or more: got 1 value"),
        ({"domain": {"a": "xx", "b": "uv"}}, "the values of a must be a list of different values"),
        ({"ways": None}, "exactly one of ways and tables"),
        ({"tables": [("a",)]}, "exactly one of ways and tables"),
        ({"ways": 0}, "ways must be a whole number of at least 1"),
        ({"ways": None, "tables": [("a", "c")]}, "each of tables must name different columns of the domain, a, b"),
        ({"ways": None, "tables": [()]}, "each of tables must name different columns"),
        ({"weights": {("a", "c"): 2}}, "a table must be of different columns"),
        ({"weights": {"a": 0}}, "a weight must be positive"),
        ({"weights": {"a": "1e-12"}}, "within a factor of 1,000,000,000 of each other"),
        ({"rule": "best"}, "rule must be 'mean' or 'worst'"),
        ({"rho": "1e-12"}, "at most 2\\^16"),
        ({"rho": 10**6}, "rho must be at most 2\\^11 for each table"),
        ({"domain": {"a": range(5000), "b": range(5000)}}, "at most 10,000,000 cells: got 25,010,000.*Without a there"),
        ({"domain": {f"c{i}": "xy" for i in range(70)}}, "there must be at most 2,000 tables"),
    ],
)
def test_bad_input_is_refused_before_anything_is_read(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(lb.ParameterError, match=words):
        lb.Tables(**{"domain": {"a": "xy", "b": "uv"}, "ways": 2, "rho": 1, **wrong})


def test_a_replaced_record_is_charged_twice_and_not_four_times(tmp_path: Any) -> None:
    ledger = lb.Ledger(str(tmp_path / "budget.db"))
    ledger.create("replaced", rho=1, adjacency="replace")
    ledger.create("coming", rho=1)
    mechanism = lb.Tables(domain=DOMAIN, ways=2, rho="1/8")
    for account in ("replaced", "coming"):
        ledger.release(account, mechanism, COUNTS)
    assert ledger.account("replaced").spent == Fraction(1, 4)
    assert ledger.account("coming").spent == Fraction(1, 8)
    built = lb.Tables(domain=DOMAIN, ways=2, rho="1/8", replaces=True)
    ledger.release("replaced", built, COUNTS)
    assert ledger.account("replaced").spent == Fraction(3, 8)
    with pytest.raises(lb.LedgerError, match="add-remove"):
        ledger.release("coming", built, COUNTS)
