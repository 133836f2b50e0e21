"""A real Spark, in local mode: counting runs as its job, and selection draws in its executors."""

from __future__ import annotations

import datetime
import warnings
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.data.per_unit import per_unit
from lastbit.data.profiling import profile_units
from lastbit.data.spark.columns import SparkColumns
from lastbit.data.spark.integers import add_steps, average_steps, join_parts, sum_parts
from lastbit.estimate.accuracy import laplace_accuracy
from lastbit.mechanisms.top_k.spark_set import ready_set_selection
from lastbit.values.spark_rows import TOTAL, SparkRows
from tests.data.cases import CASES, TABLE
from tests.data.test_unlisted import rows_of
from tests.data.weight_tables import ITEMS, SETTINGS, TYPES, make_rows, make_table
from tests.machine import has_java

# One Spark for all of them: a Java machine takes seconds to start. Without Java the run says so at its end.
pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(autouse=True)
def same_words() -> None:
    """Executors draw with randomness of their own, so a release must not be given fixed words."""


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
            # Sums are added up in Spark: no number of a person came back for them.
            sums = found.add_up(max(1, len(found.items)))
            assert (per, sums, found.sum) == (per, expected.add_up(len(sums)), expected.sum)
            assert (per, len(found), "steps" in vars(found)) == (per, len(expected), False)
            pairs = [sorted(zip(each.places.tolist(), each.values, strict=True)) for each in (found, expected)]
            assert (per, pairs[0]) == (per, pairs[1])
        few = per_unit(frame, of="of", unit="unit", per="row", most_rows=2, bounds=(-2, 8))
        assert len(few) == 2 + 1 + 1
        one = per_unit(frame, of="of", unit="unit", bounds=(-2, 8), by="group", domain=["x", "y"], most_items=1)
        assert len(one) == 2

    @pytest.mark.filterwarnings("ignore")
    def test_sums_of_parts_are_the_sums_and_the_means(session: Any) -> None:
        """The numbers are about as large as 64 bits hold, and their sums are beyond."""
        low, high = -(1 << 60), 1 << 60
        for size in (9, 1 << 20, 1 << 41, high):
            ends = max(low, -size), size
            numbers = [ends[0], ends[0] + 1, -1, 0, 7, ends[1] - 1, ends[1], ends[1], ends[1]]
            frame = session.createDataFrame([(number,) for number in numbers], "n long")
            parts = [f"coalesce({part}, 0L) AS p{i}" for i, part in enumerate(sum_parts("n", *ends))]
            total, mean, *own = frame.selectExpr(add_steps("n", *ends), average_steps("n", *ends), *parts).collect()[0]
            assert (int(total), mean) == (sum(numbers), sum(numbers) // len(numbers))
            assert join_parts(own) == sum(number - ends[0] for number in numbers)

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
            for most in (None, 2) if name == "text" else (None,):
                found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest(most)
                assert (name, list(found[0]), found[1].tolist()) == (name, items[:most], counts[:most])
            if name != "text":
                continue
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
    def test_a_list_that_stands_in_the_plan_counts_as_one_that_is_a_table(
        session: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Before Spark 4 short lists are a text in the plan."""
        day, hour = datetime.date(2026, 3, 29), datetime.datetime(2026, 3, 29, 2, 30)
        lists: dict[str, list[Any]] = {
            "word": ["a", "", "é,'", "B"],
            "whole": [3, -1, 7],
            "real": [0.5, 0.0, -2.25],
            "price": [Decimal("1.50"), Decimal(2)],
            "day": [day, datetime.date(1, 1, 1)],
            "hour": [hour, datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)],
            "answer": [True, False],
        }
        rows = [
            (1, "a", 3, 0.5, Decimal("1.50"), day, hour, True),
            (1, "", -1, -0.0, Decimal("2.00"), day, hour, True),
            (2, "a", 3, float("nan"), None, None, None, None),
            (2, "é,'", 9, -2.25, Decimal("9.99"), datetime.date(1, 1, 1), lists["hour"][1], False),
            (None, "b", None, None, Decimal("1.50"), day, hour, True),
        ]
        types = (
            "unit long, word string, whole long, real double, price decimal(9,2), day date, hour timestamp_ntz, "
            "answer boolean"
        )
        frame = session.createDataFrame(rows, types)

        def count_all() -> dict[str, list[Any]]:
            return {
                name: list(lb.count(frame, by=name, unit="unit", domain=items).values) for name, items in lists.items()
            }

        as_tables = count_all()
        make = SparkColumns.__init__

        def make_old(columns: SparkColumns, frame: Any) -> None:
            make(columns, frame)
            columns._takes_arrow = False

        monkeypatch.setattr(SparkColumns, "__init__", make_old)
        assert count_all() == as_tables
        assert as_tables["word"] == [2, 1, 1, 0]
        assert as_tables["real"] == [1, 1, 1]
        assert as_tables["day"] == as_tables["hour"] == as_tables["answer"] == [1, 1]

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

    @pytest.mark.filterwarnings("ignore")
    def test_sums_of_weights_are_floored_once_as_on_every_engine(session: Any) -> None:
        for name, (_, declared, _values) in TYPES.items():
            rows = make_rows(name)
            frame = session.createDataFrame(rows, f"u long, i string, w {declared}").cache()
            table = make_table(name, rows)
            domain = session.createDataFrame([(item,) for item in ITEMS], "i string")
            for place, settings in enumerate(SETTINGS):
                asked: dict[str, Any] = {"by": "i", "unit": "u" if place % 2 else None, "weights": "w", **settings}
                expected, counts = (lb.count(each, domain=ITEMS, **asked) for each in (table, frame))
                assert (name, settings, list(counts.values)) == (name, settings, list(expected.values))
                assert (counts.above, counts.resolution) == (expected.above, expected.resolution)
            there = lb.count(frame, domain=domain, **asked)
            assert (there.above, list(there.collect().values), there.collect().above) == (
                expected.above,
                list(expected.values),
                expected.above,
            )
            found, listed = (
                lb.count(each, by="i", unit="u", domain=lb.UNKNOWN, weights="w", **SETTINGS[1])
                for each in (frame, table)
            )
            assert found.highest()[0] == listed.highest()[0]
            assert found.highest()[1].tolist() == listed.highest()[1].tolist()
            assert found.above == listed.above

    @pytest.mark.filterwarnings("ignore")
    def test_sums_of_weights_beyond_64_bits_are_exact(session: Any) -> None:
        far, n = float(1 << 20), 5000
        frame = session.range(2 * n).selectExpr(
            "id",
            f"if(id < {n}, id, -1) AS u",
            f"if(id < {n}, 'many', 'one') AS i",
            f"if(id % 3 = 0, -{far}D, {far}D) AS w",  # a float: decimals have a coarser grid
        )
        many = sum(-far if place % 3 == 0 else far for place in range(n))
        one = sum(-far if place % 3 == 0 else far for place in range(n, 2 * n))
        rows = lb.count(frame, by="i", domain=["many", "one"], weights="w", bounds=(-(1 << 20), 1 << 20))
        assert list(rows.values) == [many, one]
        units = lb.count(frame, by="i", unit="u", domain=["many", "one"], weights="w", bounds=(-(1 << 20), 1 << 20))
        assert list(units.values) == [many, far]
        # 3,000 times 2^52 steps of one unit are negative in 64 bits.
        all_far = frame.where(f"id < {n + 3000}").selectExpr("u", "i", f"{far}D AS w")
        sums = lb.count(all_far, by="i", unit="u", domain=["many", "one"], weights="w", bounds=(0, 1 << 20))
        assert list(sums.values) == [n * far, far]

    @pytest.mark.filterwarnings("ignore")
    def test_releases_of_sums_say_how_far_above_the_exact_ones_may_lie(session: Any) -> None:
        frame = session.range(2000).selectExpr("id AS u", "if(id < 1500, 'a', 'b') AS i", "0.9D AS w")
        domain = session.createDataFrame([("a",), ("b",)], "i string")
        asked: dict[str, Any] = {"by": "i", "unit": "u", "weights": "w", "bounds": (0, 1)}
        counts = lb.count(frame, domain=domain, **asked)
        top = lb.NoisyTopK.of(counts, k=1, epsilon=9, resolution="1/2").release(counts)
        assert top.above == 2 * counts.above == 4
        unlisted = lb.count(frame, domain=lb.UNKNOWN, most_items=1, **asked)
        mechanism = lb.DiscoverHistogram.of(unlisted, epsilon=9, delta="1e-6")
        found = mechanism.release(unlisted)
        low, high = found.intervals("0.999999")[0]
        assert found.above == unlisted.above == 2
        assert low <= 1350 <= high
        assert mechanism.release_spark(unlisted).accuracy() == 2 + laplace_accuracy(found.rate, Fraction("0.95"))

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
        # Four types at a time, as the columns of a product: whoever takes a strange value for the item counts its unit.
        types = list(HOSTILE)
        for group in (types[place : place + 4] for place in range(0, len(types), 4)):
            right = [f"CAST({HOSTILE[dtype][1]} AS {dtype})" for dtype in group]
            rows = [("'NaN'", right), ("'0.0'", right), ("'-0.0'", right)]
            for place, dtype in enumerate(group):
                for strange in HOSTILE[dtype][2]:
                    rows.append(("50", [*right[:place], f"CAST({strange} AS {dtype})", *right[place + 1 :]]))
            values = ", ".join(f"(CAST({unit} AS DOUBLE), {', '.join(cells)})" for unit, cells in rows)
            names = [f"item{place}" for place in range(len(group))]
            named = [f"{cell} AS {name}" for cell, name in zip(right, names, strict=True)]
            frame = session.range(50).selectExpr("CAST(id AS DOUBLE) AS unit", *named)
            frame = frame.union(session.sql(f"SELECT * FROM VALUES {values}"))
            domain = [[HOSTILE[dtype][0]] for dtype in group]
            assert (group, lb.count(frame, by=names, unit="unit", domain=domain).values.tolist()) == (group, [50])
            listed = session.sql(f"SELECT {', '.join(named)}")
            spread = lb.count(frame, by=names, unit="unit", domain=listed).collect()
            assert (group, spread.values.tolist()) == (group, [50])

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
        frame = session.range(0, 2_000, numPartitions=4).selectExpr("concat('item ', id) as item", "id % 7 as count")
        special = session.sql("SELECT * FROM VALUES ('first', 90000L), ('second', 60000L), ('third', 30000L)")
        named = frame.union(special).toDF("the.item", "its `count`")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            mechanism = lb.NoisyTopK(k=3, epsilon=1, monotone=True)
            top = mechanism.release_spark(named, item="the.item", value="its `count`")
        assert not [each for each in said if each.category is FutureWarning]  # PySpark's, about pandas
        assert top.items == ("first", "second", "third")
        assert all(29_000 < gap < 31_000 for gap in top.gaps)
        assert "first" in str(top)
        # Noise is there, and not the same in two releases: 12 of 64 equals come in the same order once in 2^70 times.
        flat = session.range(0, 64, numPartitions=4).selectExpr("id as item", "id * 0 as count")
        seen = {lb.NoisyTopK(k=12, epsilon=1).release_spark(flat).items for _ in range(2)}
        assert len(seen) == 2

    @pytest.mark.filterwarnings("ignore")
    def test_a_set_of_a_million_items_is_that_of_one_machine(session: Any) -> None:
        n, k = 1_000_000, 100
        # Few distinct counts, as in most tables: a long tail of equal ones.
        frame = session.range(0, n, numPartitions=4).selectExpr(
            "id as item", "100000 div (1 + id * 7919 % 1000003) as count"
        )
        here = 100_000 // (1 + np.arange(n) * 7919 % 1_000_003)
        random = Random(11)
        for form in ("both", "left-out"):
            words = [random.getrandbits(64) for _ in range(2 * k + 2)]
            mechanism = lb.SubsetTopK(k=k, epsilon=1, monotone=True, form=form)
            there = mechanism.release_spark(frame, draw=lb.Sampler(lb.Tape(words)))
            assert there.items == mechanism.release(here, lb.Sampler(lb.Tape(words))).indices
            assert there.candidates == n
            assert there.columns() == {"item": there.items}

    @pytest.mark.filterwarnings("ignore")
    def test_sets_of_few_items_and_of_counts_in_spark(session: Any, tmp_path: Any) -> None:
        rows = [("a", 900), ("b", None), ("c", 800), ("d", -(2**63)), ("e", 2**63 - 1)]
        frame = session.createDataFrame(rows, "item string, count long").repartition(3)
        for k, items in ((3, ("a", "c", "e")), (5, ("a", "b", "c", "d", "e")), (1, ("e",))):
            assert lb.SubsetTopK(k=k, epsilon=9).release_spark(frame).items == items
        with pytest.raises(lb.ParameterError, match="got k=6 and 5 candidates"):
            lb.SubsetTopK(k=6, epsilon=1).release_spark(frame)
        with pytest.raises(lb.ParameterError, match="whole numbers"):
            lb.SubsetTopK(k=1, epsilon=1).release_spark(frame.selectExpr("item", "double(count) as count"))
        table = session.range(0, 600).selectExpr("id % 200 AS unit", "concat('w', id % 3) AS word")
        domain = session.createDataFrame([("w0",), ("w1",), ("w2",), ("w7",)], "word string")
        counts = lb.count(table, by="word", unit="unit", domain=domain)
        mechanism = lb.SubsetTopK.of(counts, k=3, epsilon=90)
        ledger = lb.Ledger(tmp_path / "budget.db")
        ledger.create("clinic", epsilon=90)
        assert ledger.release("clinic", mechanism, counts).items == ("w0", "w1", "w2")
        with pytest.raises(lb.ParameterError, match="resolution must divide"):
            lb.SubsetTopK(k=1, epsilon=1, sensitivity=2, resolution=2).release(counts)

    def test_a_table_that_changes_between_two_jobs_is_noticed(session: Any) -> None:
        rows = SparkRows(
            session.createDataFrame([("a", 3), ("b", 2)], f"lastbit_key_0 string, {TOTAL} long"),
            (("lastbit_key_0", lambda part: part),),
            ("lastbit_key_0",),
        )
        select = ready_set_selection(rows, 1, lb.SubsetTopK(k=1, epsilon=1)._selector)
        object.__setattr__(rows, "frame", rows.frame.where("false"))
        with pytest.raises(lb.DataError, match="the table changed while it was read"):
            select(lb.Sampler())

    @pytest.mark.filterwarnings("ignore")
    def test_a_long_list_says_its_limit_before_the_memory_of_the_driver_does(session: Any, monkeypatch: Any) -> None:
        monkeypatch.setattr("lastbit.data.spark.columns._MOST_LISTED", 2)
        frame = session.range(1).selectExpr("id AS item")
        assert lb.count(frame, by="item", domain=[0, 1]).values.tolist() == [1, 0]
        with pytest.raises(lb.ParameterError, match="at most 2 items for a table of Spark: got 3"):
            lb.count(frame, by="item", domain=[0, 1, 2])

    def test_each_candidate_has_one_row_and_decimals_are_numbers(session: Any, monkeypatch: Any) -> None:
        mechanism = lb.NoisyTopK(k=1, epsilon=1)
        for twice in (["a", "b", "a"], ["a", None, None]):
            frame = session.createDataFrame([(item, 1) for item in twice], "item string, count long")
            with pytest.raises(lb.ParameterError, match=r"two rows have the same 'item'.*Nothing was drawn"):
                mechanism.release_spark(frame)
        rows = [("a", Decimal("900.25")), ("b", None), ("c", Decimal("-1e10"))]
        decimals = session.createDataFrame(rows, "item string, count decimal(20,2)").repartition(5)
        assert mechanism.release_spark(decimals).items == ("a",)
        # More partitions than shortlists: a task goes through several of them.
        monkeypatch.setattr("lastbit.mechanisms.top_k.spark._PARTS", 2)
        parts: list[int] = []
        map_batches = SparkRows.map_batches

        def count_parts(rows: SparkRows, *arguments: Any) -> Any:
            parts.append(rows.frame.rdd.getNumPartitions())
            return map_batches(rows, *arguments)

        monkeypatch.setattr(SparkRows, "map_batches", count_parts)
        top = lb.NoisyTopK(k=2, epsilon=1).release_spark(decimals)
        assert (top.items[0], top.candidates) == ("a", 3)
        assert (parts, decimals.rdd.getNumPartitions()) == ([2], 5)

    @pytest.mark.filterwarnings("ignore")
    def test_a_mechanism_of_one_machine_says_how_counts_of_spark_come_to_it(session: Any, tmp_path: Any) -> None:
        frame = session.createDataFrame([("a", 1), ("b", 2)], "item string, unit int")
        spread = lb.count(frame, by="item", unit="unit", domain=frame.select("item"))
        ledger = lb.Ledger(tmp_path / "budget.db")
        ledger.create("clinic", epsilon=2)
        for mechanism in (
            lb.NoisyMax(epsilon=1),
            lb.SelectAndMeasure(k=1, epsilon=1),
            lb.ExponentialMechanism(epsilon=1),
            lb.DiscreteLaplace(epsilon=1),
            lb.DiscreteGaussian(rho=1, squared_sensitivity=2),
        ):
            with pytest.raises(lb.ParameterError, match=r"counts.collect\(\).*Nothing was drawn"):
                ledger.release("clinic", mechanism, spread)
        with pytest.raises(lb.ParameterError, match=r"counts.collect\(\), or leave reuse out.*nothing was charged"):
            ledger.release("clinic", lb.NoisyTopK.of(spread, k=1, epsilon=1), spread, query="items", reuse=True)
        assert ledger.account("clinic").spent == 0
        # The way that they name.
        here = spread.collect()
        for chosen in (lb.NoisyMax, lb.ExponentialMechanism, lb.DiscreteLaplace):
            assert ledger.release("clinic", chosen.of(here, epsilon="1/2"), here, query="items", reuse=True)
        assert ledger.release("clinic", lb.SelectAndMeasure.of(here, k=1, epsilon="1/2"), here)
        assert lb.DiscreteGaussian(rho=1, squared_sensitivity=2).release(here)
        assert ledger.account("clinic").remaining == 0

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

    WORDS: Final = "concat('w', CAST(id % 5 AS STRING)) AS word"

    @pytest.mark.filterwarnings("ignore")
    def test_a_histogram_whose_noise_is_drawn_in_the_executors(session: Any) -> None:
        """With so little noise that it is 0 but for a probability below 2^-100, every count is known."""
        frame = session.range(0, 600).selectExpr("id % 200 AS unit", WORDS, "id % 2 AS ward")
        rare = session.createDataFrame([(900, "a name", 0)], frame.schema)
        words = lb.count(frame.union(rare), by="word", unit="unit", domain=lb.UNKNOWN, most_items=1)
        mechanism = lb.DiscoverHistogram.of(words, epsilon=90, delta="1e-30")
        found = mechanism.release(words)
        assert (found.items, [int(value) for value in found.values]) == (("w0", "w1", "w2", "w3", "w4"), [40] * 5)
        spread = mechanism.release_spark(words)
        assert spread.frame.dtypes == [("word", "string"), ("value", "bigint")]
        rows = sorted(tuple(row) for row in spread.frame.collect())
        assert rows == [(f"w{number}", 40) for number in range(5)]
        assert spread.frame.rdd.getNumPartitions() == 2
        assert "The items are in Spark: .frame has the columns word, value." in str(spread)
        assert spread.threshold == mechanism.threshold
        # Sums of an item with two parts, on a grid of quarters.
        costs = frame.selectExpr("unit", "word", "ward", "CAST(0.3 AS DOUBLE) AS cost")
        options = {"weights": "cost", "bounds": (0, 2), "resolution": "1/4", "most_items": 2}
        sums = lb.count(costs, by=["word", "ward"], unit="unit", domain=lb.UNKNOWN, **options)
        totals = lb.DiscoverHistogram.of(sums, epsilon=2000, delta="1e-30").release_spark(sums).frame
        assert totals.dtypes == [("word", "string"), ("ward", "bigint"), ("value", "decimal(38,2)")]
        # 60 rows of 20 units are in an item, or 120 of 40: floats of three tenths add up to less than 18 and 36.
        assert {str(row["value"]) for row in totals.collect()} <= {"17.75", "35.75"}

    @pytest.mark.filterwarnings("ignore")
    def test_noise_in_a_frame_is_drawn_once(session: Any) -> None:
        words = lb.count(
            session.range(0, 4_000).selectExpr("id", WORDS), by="word", domain=lb.UNKNOWN, unit="id", most_items=1
        )
        found = lb.DiscoverHistogram.of(words, epsilon="1/100", delta="1/10").release_spark(words).frame
        first = sorted(map(tuple, found.collect()))
        assert first == sorted(map(tuple, found.collect()))
        assert first == sorted(map(tuple, found.filter("value IS NOT NULL").collect()))

    @pytest.mark.filterwarnings("ignore")
    def test_what_a_histogram_in_spark_refuses(session: Any, tmp_path: Any) -> None:
        frame = session.range(0, 40).selectExpr("id", "id % 4 AS value")
        values = lb.count(frame, by="value", unit="id", domain=lb.UNKNOWN, most_items=1)
        mechanism = lb.DiscoverHistogram.of(values, epsilon=1, delta="1e-6")
        ledger = lb.Ledger(tmp_path / "budget.db")
        ledger.create("clinic", epsilon=3, delta="1e-5")
        with pytest.raises(lb.ParameterError, match="may be called value"):
            ledger.spend("clinic", mechanism, mechanism.ready_spark(values))
        assert ledger.account("clinic").spent == 0
        numbers = lb.count(frame, by="id", unit="value", domain=lb.UNKNOWN, most_items=1)
        found = ledger.spend("clinic", mechanism, mechanism.ready_spark(numbers))
        assert found.frame.columns == ["id", "value"]
        # The books keep the facts; the rows are where the frame is written to.
        assert ledger.published(ledger.history("clinic")[-1].id)["threshold"] == [int(mechanism.threshold)]
        with pytest.raises(lb.ParameterError, match="draw must be left out"):
            mechanism.release(values, draw=lb.Sampler(lb.Tape([1] * 100)))
        here = lb.Unlisted.of({"a": 3}, most_items=1)
        with pytest.raises(lb.ParameterError, match="counted on a Spark table"):
            mechanism.release_spark(here)
        words = lb.count(frame, by="id", domain=lb.UNKNOWN, unit="value", most_items=1)
        long = lb.DiscoverHistogram.of(words, epsilon="1e-18", delta="1e-6")
        with pytest.raises(lb.ParameterError, match=r"shorter than 2\^50 steps"):
            long.release_spark(words)

    @pytest.mark.filterwarnings("ignore")
    def test_a_domain_that_is_a_table_stays_in_spark(session: Any, tmp_path: Any) -> None:
        frame = session.range(0, 600).selectExpr("id % 200 AS unit", WORDS, "id % 2 AS ward", "id % 3 AS days")
        listed = [("w0",), ("w3",), ("never",), (None,), ("w3",)]
        words = session.createDataFrame(listed, "word string")
        counts = lb.count(frame, by="word", unit="unit", domain=words)
        assert repr(counts) == "<SparkCounts: sensitivity 1, monotone>"
        here = counts.collect()
        assert (here.items, here.values.tolist()) == (("never", "w0", "w3"), [0, 40, 40])
        # Of another name, as text meets text; and as on one machine, with weights, parts and a bound.
        assert lb.count(frame, by="word", unit="unit", domain=words.toDF("x")).collect().values.tolist() == [0, 40, 40]
        numbers = range(600)
        local = pa.table(
            {
                "unit": [n % 200 for n in numbers],
                "word": [f"w{n % 5}" for n in numbers],
                "ward": [n % 2 for n in numbers],
                "days": [n % 3 for n in numbers],
            }
        )
        both = session.sql("SELECT * FROM VALUES ('w0', 0L), ('w1', 1L), ('w1', 7L) AS t(word, ward)")
        for options in (
            {},
            {"weights": "days", "bounds": (-1, 2)},
            {"weights": "days", "bounds": (0, 4), "resolution": "1/2"},
        ):
            spread = lb.count(frame, by=["word", "ward"], unit="unit", domain=both, **options).collect()
            one = lb.count(local, by=["word", "ward"], unit="unit", domain=[["w0", "w1"], [0, 1, 7]], **options)
            known = dict(zip(one.items, one.values, strict=True))
            assert list(spread.values) == [known[item] for item in spread.items]
            assert (spread.sensitivity, spread.monotone, spread.resolution) == (
                one.sensitivity,
                one.monotone,
                one.resolution,
            )
        bounded = lb.count(frame, by=["word", "ward"], unit="unit", domain=both, most_items=1)
        assert bounded.most_items == 1
        # Everyone in two items of the domain stays in one, and other items use nothing up.
        assert sum(bounded.collect().values.tolist()) == len(
            {n % 200 for n in range(600) if (n % 5, n % 2) in {(0, 0), (1, 1)}}
        )
        top = lb.NoisyTopK.of(counts, k=1, epsilon=200, resolution="1/10")
        ledger = lb.Ledger(tmp_path / "budget.db")
        ledger.create("clinic", epsilon=200)
        release = ledger.release("clinic", top, counts)
        assert release.items[0] in ("w0", "w3")
        assert release.candidates == 3

    @pytest.mark.filterwarnings("ignore")
    def test_which_domains_and_mechanisms_a_table_in_spark_refuses(session: Any) -> None:
        frame = session.range(0, 10).selectExpr("id AS unit", WORDS, "id % 2 AS ward")
        with pytest.raises(lb.ParameterError, match="domain must hold text in its column 'word'"):
            lb.count(frame, by="word", unit="unit", domain=session.range(3).toDF("word"))
        with pytest.raises(lb.ParameterError, match="there is no column 'ward'"):
            lb.count(frame, by=["word", "ward"], unit="unit", domain=session.range(3).toDF("word"))
        with pytest.raises(lb.ParameterError, match="table is of another engine"):
            lb.count(TABLE, by="diagnosis", unit="patient", domain=frame.select("word"))
        counts = lb.count(frame, by="ward", unit="unit", domain=session.range(3).toDF("ward"))
        for mechanism in (lb.NoisyMax, lb.ExponentialMechanism, lb.DiscreteLaplace):
            with pytest.raises(lb.ParameterError, match=r"counts\.collect\(\)"):
                mechanism.of(counts, epsilon=1).release(counts)
        with pytest.raises(lb.ParameterError, match="sensitivity 1/2"):
            lb.NoisyTopK(k=1, epsilon=1, sensitivity="1/2").release(counts)
        with pytest.raises(lb.ParameterError, match="resolution must divide"):
            lb.NoisyTopK(k=1, epsilon=1, sensitivity=2, resolution=2).release(counts)
        with pytest.raises(lb.ParameterError, match="draw must be left out"):
            lb.NoisyTopK.of(counts, k=1, epsilon=1).release(counts, draw=lb.Sampler(lb.Tape([1])))

    @pytest.mark.filterwarnings("ignore")
    def test_no_message_of_spark_quotes_a_row(session: Any) -> None:
        frame = session.sql("SELECT * FROM VALUES ('a', '12'), ('b', 'a secret') AS t(item, text)")
        wrong = frame.selectExpr("item", "CAST(text AS INT) AS count")
        with pytest.raises(lb.DataError) as caught:
            lb.NoisyTopK(k=1, epsilon=1).release_spark(wrong)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        # The way that it names shows the message.
        assert "frame.write.format('noop').mode('overwrite').save()" in str(caught.value)
        with pytest.raises(Exception, match="a secret"):
            wrong.write.format("noop").mode("overwrite").save()

    @pytest.mark.filterwarnings("ignore")
    def test_a_table_of_spark_is_described_as_one_of_any_engine_is(session: Any) -> None:
        day = datetime.date(2026, 1, 1)
        rows = [(who, who % 90 if who % 4 else None, day + datetime.timedelta(who % 100), "ab"[who % 2])
                for who in range(600) for _ in range(1 + who % 2)]  # fmt: skip
        frame = session.createDataFrame(rows, "who long, age long, day date, word string")
        names = ("who", "age", "day", "word")
        other = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
        asked: dict[str, Any] = {"unit": "who", "epsilon": 2000, "delta": "1e-9"}
        one, same = (lb.describe(table, **asked) for table in (frame, other))
        profiles = [profile_units(table, unit="who", numbers={"age": 1}, dates=["day"]) for table in (frame, other)]
        for name in ("age", "day"):
            assert np.array_equal(*(profile.numbers(name) for profile in profiles))
        quartiles = ["lower_quartile", "median", "upper_quartile"]
        tables = [table.to_frame() for table in (one, same)]
        assert tables[0].drop(columns=quartiles).equals(tables[1].drop(columns=quartiles))
        for quartile in quartiles:  # a rank may lie between two values
            (age, day, _), (same_age, same_day, _) = (table[quartile] for table in tables)
            assert abs(age - same_age) <= 1
            assert abs((day - same_day).days) <= 1
        assert one.published["people"].values == same.published["people"].values
        assert sorted(one.published["word: items"].items) == ["a", "b"]
        assert str(one).splitlines()[0] == str(same).splitlines()[0]
        with pytest.raises(lb.ParameterError, match="Filter it"):
            lb.describe(frame, **asked, where="age > 3")
