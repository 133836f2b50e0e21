"""A real Spark, in local mode: counting runs as its job, and selection draws in its executors."""

from __future__ import annotations

import datetime
from decimal import Decimal, localcontext
from typing import Any, Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.per_unit import per_unit
from tests.data.cases import CASES, TABLE
from tests.data.test_unlisted import rows_of
from tests.machine import has_java

# One Spark for all of them: a Java machine takes seconds to start. Without Java the run says so at its end.
pytestmark = pytest.mark.xdist_group("spark")

if has_java():

    @pytest.mark.filterwarnings("ignore")
    def test_the_same_numbers_as_on_every_engine(session: Any) -> None:
        columns = [field.name for field in TABLE.schema]
        types = "patient long, diagnosis string, ward long, days long, score double"
        frame = session.createDataFrame([tuple(row[name] for name in columns) for row in TABLE.to_pylist()], types)
        for name in ("distinct units", "product", "whole weights on a grid", "missing weights as a number", "weights"):
            arguments, values, sensitivity, monotone = CASES[name]
            counts = lb.count(frame, **arguments)
            assert (name, list(counts.values)) == (name, values)
            assert (counts.sensitivity, counts.monotone) == (sensitivity, monotone)

    @pytest.mark.filterwarnings("ignore")
    def test_one_number_for_each_unit_as_on_every_engine(session: Any) -> None:
        rows = [(1, 2.0, "b", "x"), (1, -5.0, "a", "y"), (1, 4.0, "b", "x"), (2, float("nan"), "c", "x"),
                (3, None, "c", "x"), (4, 1e300, None, "x"), (None, 3.0, "c", "x"), (5, 2.5, "c", "z")]  # fmt: skip
        frame = session.createDataFrame(rows, "unit long, of double, when string, group string")
        other = pa.table(dict(zip(("unit", "of", "when", "group"), map(list, zip(*rows, strict=True)), strict=True)))
        options: dict[str, dict[str, Any]] = {
            "mean": {},
            "total": {"missing": "lowest"},
            "latest": {"latest_by": "when", "missing": 2},
            "row": {"most_rows": 9, "by": "group", "domain": ["x", "y"]},
        }
        for per, more in options.items():
            named: dict[str, Any] = {"of": "of", "unit": "unit", "per": per, "bounds": (-2, 8), **more}
            found, expected = (per_unit(each, **named) for each in (frame, other))
            pairs = [sorted(zip(each.places.tolist(), each.values, strict=True)) for each in (found, expected)]
            assert (per, pairs[0]) == (per, pairs[1])
        few = per_unit(frame, of="of", unit="unit", per="row", most_rows=2, bounds=(-2, 8))
        assert len(few) == 2 + 1 + 1
        one = per_unit(frame, of="of", unit="unit", bounds=(-2, 8), by="group", domain=["x", "y"], most_items=1)
        assert len(one) == 2

    @pytest.mark.filterwarnings("ignore")
    def test_items_that_nobody_listed(session: Any) -> None:
        for name, kind in {"text": "string", "floats": "double", "instants": "timestamp"}.items():
            table, items, counts = rows_of(name)
            # Times by their numbers: Python has none for some of them.
            values = table["item"].cast(pa.int64()) if name == "instants" else table["item"]
            rows = list(zip(table["unit"].to_pylist(), values.to_pylist(), strict=True))
            frame = session.createDataFrame(rows, f"unit long, item {'long' if name == 'instants' else kind}")
            if name == "instants":
                frame = frame.selectExpr("unit", "timestamp_micros(item) AS item")
            for most in (None, 2):
                found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest(most)
                assert (name, list(found[0]), found[1].tolist()) == (name, items[:most], counts[:most])
            few = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN, most_items=2)
            listed = lb.count(frame, by="item", unit="unit", domain=items, most_items=2)
            # Units 0 and 1 are in all items, unit 2 in every third.
            least = 4 + min(2, sum(count == 3 for count in counts))
            assert sum(few.highest()[1].tolist()) == sum(listed.values.tolist()) == least
            assert listed.total == 2

    @pytest.mark.filterwarnings("ignore")
    def test_an_hour_that_the_zone_of_the_session_leaves_out_is_an_item(session: Any) -> None:
        before = session.conf.get("spark.sql.session.timeZone")
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        try:
            texts = [
                "2026-03-29 02:30:00",
                "0001-01-01 00:00:00",
                "9999-12-31 23:59:59.999999",
                "+10000-01-01 00:00:00",
            ]
            values = ", ".join(f"({n}, CAST('{text}' AS TIMESTAMP_NTZ))" for n, text in enumerate(texts))
            frame = session.sql(f"SELECT * FROM VALUES {values} AS t(unit, item)")
            found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest()[0]
            hour = datetime.datetime(2026, 3, 29, 2, 30)
            assert found == (datetime.datetime.min, hour, datetime.datetime.max)
        finally:
            session.conf.set("spark.sql.session.timeZone", before)

    @pytest.mark.filterwarnings("ignore")
    def test_sums_and_products_that_nobody_listed(session: Any) -> None:
        rows = [(1, "b", 3), (1, "b", 4), (1, "a", 1), (2, "a", 2), (2, "B", 2), (3, "", None), (None, "a", 9)]
        frame = session.createDataFrame(rows, "unit long, word string, days long")
        sums = lb.count(frame, by="word", unit="unit", domain=lb.UNKNOWN, weights="days", bounds=(0, 5))
        assert sums.highest(2)[0] == ("b", "a")
        assert sums.highest()[1].tolist() == [5, 3, 2]
        pairs = lb.count(frame, by=["word", "unit"], domain=lb.UNKNOWN)
        assert pairs.highest(3)[0] == (("b", 1), ("", 3), ("B", 2))
        assert lb.count(frame.where("false"), by="word", unit="unit", domain=lb.UNKNOWN).highest(3)[0] == ()

    HOSTILE: Final[dict[str, tuple[Any, str, list[str]]]] = {
        # The type; the item; how it is written; values of one more unit that are not it.
        "string": ("flu", "'flu'", ["'FLU'", "'flu '", "''", "CAST(X'FF' AS STRING)"]),
        "string collate UTF8_LCASE": ("flu", "'flu'", ["'FLU'", "'Flu'"]),
        "binary": (b"\xff", "X'FF'", ["X''", "X'FFFF'"]),
        "bigint": (0, "0", ["9223372036854775807", "-9223372036854775808"]),
        "float": (0.0, "0", ["'NaN'", "'Infinity'", "1.4E-45"]),
        "double": (-0.0, "0", ["'NaN'", "'-Infinity'", "4.9E-324"]),
        "decimal(38,2)": ("1.5", "1.5", ["999999999999999999999999999999999999.99", "-0.01"]),
        "boolean": (True, "true", ["false"]),
        "date": (datetime.date(2026, 1, 1), "'2026-01-01'", ["'+12026-01-01'", "'-0044-03-15'"]),
        "timestamp": (
            datetime.datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Berlin")),
            "'2025-10-26T00:30:00Z'",
            [
                "'2025-10-26T01:30:00Z'",
                "timestamp_micros(9223372036854775807)",
                "timestamp_micros(-9223372036854775807)",
            ],
        ),
        "timestamp_ntz": (datetime.datetime(2026, 1, 1), "'2026-01-01'", ["'2026-01-01 00:00:00.000001'"]),
        "interval day to second": (datetime.timedelta(days=1), "INTERVAL '24' HOUR", ["INTERVAL '106751991' DAY"]),
    }

    @pytest.mark.filterwarnings("ignore")
    def test_one_more_unit_moves_a_count_by_one(session: Any) -> None:
        for dtype, (item, text, strange) in HOSTILE.items():
            fifty = session.range(50).selectExpr("CAST(id AS DOUBLE) AS unit", f"CAST({text} AS {dtype}) AS item")
            others = ", ".join(f"(CAST(50 AS DOUBLE), CAST({each} AS {dtype}))" for each in strange)
            more = session.sql(f"SELECT * FROM VALUES {others}, (CAST('NaN' AS DOUBLE), CAST({text} AS {dtype}))")
            zeros = session.sql(
                f"SELECT CAST(u AS DOUBLE), CAST({text} AS {dtype}) FROM VALUES ('0.0'), ('-0.0') AS t(u)"
            )
            frame = fifty.union(more).union(zeros)
            counts = lb.count(frame, by="item", unit="unit", domain=[item])
            assert (dtype, counts.values.tolist()) == (dtype, [50])

    @pytest.mark.filterwarnings("ignore")
    def test_weights_beyond_the_bounds(session: Any) -> None:
        ends = {
            "bigint": ["9223372036854775807", "-9223372036854775808", "null"],
            "double": ["'NaN'", "'Infinity'", "'-Infinity'", "-4.9E-324", "1.7E308"],
            "decimal(38,0)": ["9" * 38, "-" + "9" * 38],
            "decimal(38,30)": ["99999999." + "9" * 30, "-99999999." + "9" * 30, "-0." + "0" * 29 + "1"],
        }
        for dtype, values in ends.items():
            rows = ", ".join(f"({i}, 'flu', CAST({value} AS {dtype}))" for i, value in enumerate(values))
            frame = session.sql(f"SELECT * FROM VALUES {rows} AS t(u, i, w)")
            table = pa.table({"u": range(len(values)), "i": ["flu"] * len(values), "w": _decimals(values)})
            for bounds, resolution in (((0, 6), 1), ((-6, 6), 2), ((-6, 6), "1/2")):
                arguments = {"by": "i", "domain": ["flu"], "weights": "w", "bounds": bounds, "resolution": resolution}
                assert list(lb.count(frame, **arguments).values) == list(lb.count(table, **arguments).values)

    def _decimals(values: list[str]) -> Any:
        known = {"'NaN'": None, "null": None, "'Infinity'": "1e40", "'-Infinity'": "-1e40", "1.7E308": "1e40"}
        texts = [known.get(value, "-1e-30" if value == "-4.9E-324" else value) for value in values]
        numbers = [None if text is None else Decimal(text) for text in texts]
        with localcontext() as context:
            context.prec = 76
            return pa.array(
                [None if n is None else n.quantize(Decimal("1e-30")) for n in numbers], pa.decimal256(76, 30)
            )

    @pytest.mark.filterwarnings("ignore")
    def test_top_k_drawn_in_the_executors(session: Any) -> None:
        frame = session.range(0, 20_000, numPartitions=4).selectExpr("concat('item ', id) as item", "id % 7 as count")
        special = session.createDataFrame([("first", 90_000), ("second", 60_000), ("third", 30_000)], frame.schema)
        top = lb.NoisyTopK(k=3, epsilon=1, monotone=True).release_spark(frame.union(special))
        assert top.items == ("first", "second", "third")
        assert all(29_000 < gap < 31_000 for gap in top.gaps)
        assert "first" in str(top)
        # Noise is there, and not the same in two partitions or two releases.
        flat = session.range(0, 64, numPartitions=4).selectExpr("id as item", "id * 0 as count")
        seen = {lb.NoisyTopK(k=8, epsilon=1).release_spark(flat).items for _ in range(2)}
        assert len(seen) == 2

    @pytest.mark.filterwarnings("ignore")
    def test_too_few_candidates_are_refused_and_cost_nothing(session: Any, tmp_path: Any) -> None:
        frame = session.createDataFrame([("a", 1), ("b", 2)], "item string, count long")
        ledger, mechanism = lb.Ledger(tmp_path / "budget.db"), lb.NoisyTopK(k=3, epsilon=1)
        ledger.create("clinic", epsilon=1)
        with pytest.raises(lb.ParameterError, match="got k=3 and 2 candidates"):
            ledger.spend("clinic", mechanism, mechanism.ready_spark(frame))
        assert ledger.account("clinic").spent == 0
        smaller = lb.NoisyTopK(k=1, epsilon=1)
        top = ledger.spend("clinic", smaller, smaller.ready_spark(frame))
        assert top.candidates == 2
        assert ledger.account("clinic").remaining == 0

    @pytest.mark.filterwarnings("ignore")
    def test_spark_columns_are_checked_before_anything_runs(session: Any) -> None:
        frame = session.createDataFrame([("a", "x")], "item string, count string")
        with pytest.raises(lb.ParameterError, match="the column 'count' is string"):
            lb.NoisyTopK(k=1, epsilon=1).release_spark(frame)
        with pytest.raises(lb.ParameterError, match="no column 'size': the table has item, count"):
            lb.NoisyTopK(k=1, epsilon=1).release_spark(frame, value="size")
