"""Spark draws once, whatever it runs again: tasks that are tried twice, rows that are lost, plans that are new."""

from __future__ import annotations

import datetime
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit.audit.hostile import NEAR
from lastbit.data.long_texts import shorten_text
from lastbit.data.per_unit import per_unit
from lastbit.data.spark import columns, integers
from lastbit.data.spark import per_unit as spark_numbers
from lastbit.mechanisms.discover import spark
from tests import processes
from tests.data.spark import cluster
from tests.machine import has_java

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def same_words() -> None:
    """The secret of a release is drawn from the operating system."""


def rows_of(frame: Any) -> list[Any]:
    return sorted(tuple(row) for row in frame.collect())


def test_the_cluster_slows_the_draws_that_a_release_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster itself runs in `make fuzz` only, where nobody would see soon that a name has changed."""
    quick = spark.make_keyed_draws
    monkeypatch.setattr(spark, "make_keyed_draws", quick)  # put back after the test
    cluster.draw_slowly(str(tmp_path / "attempts"))
    assert spark.make_keyed_draws is not quick


if has_java():

    def test_what_spark_computes_again_is_the_same(session: Any) -> None:
        frame = session.range(0, 4_000, numPartitions=3).selectExpr("id", "concat('w', id % 50) AS word")
        words = lb.count(frame, by="word", unit="id", domain=lb.UNKNOWN, most_items=1)
        mechanism = lb.DiscoverHistogram.of(words, epsilon="1/100", delta="1/10")
        found = mechanism.release_spark(words).frame
        first = rows_of(found)
        found.unpersist(True)
        assert rows_of(found) == first
        assert rows_of(found.repartition(5).filter("value IS NOT NULL")) == first
        # Noise is there, and another release has another secret.
        other = mechanism.release_spark(words).frame
        assert rows_of(other) != first

    def test_every_attempt_at_a_shortlist_is_the_same(session: Any, monkeypatch: Any) -> None:
        from lastbit.values.spark_rows import SparkRows

        flat = session.range(0, 3_000, numPartitions=4).selectExpr("id AS item", "id * 0 AS count")
        made: list[Any] = []
        map_batches = SparkRows.map_batches
        monkeypatch.setattr(SparkRows, "map_batches", lambda rows, *a: made.append(map_batches(rows, *a)) or made[-1])
        for _ in range(2):
            lb.NoisyTopK(k=3, epsilon="1/100").release_spark(flat)
        assert rows_of(made[0]) == rows_of(made[0])
        assert rows_of(made[0]) != rows_of(made[1])

    UNREADABLE = {
        "a date": "CAST('+12026-01-01' AS DATE)",
        "a time": "timestamp_micros(9223372036854775807)",
        "a time without a zone": "CAST('+10000-01-01 00:00:00' AS TIMESTAMP_NTZ)",
        "text": "CAST(X'FF' AS STRING)",
    }
    REFUSED = {
        "months": "INTERVAL '1-2' YEAR TO MONTH",
        "a list": "array(id)",
        "a record": "struct(id)",
    }

    def test_candidates_that_python_has_not_are_refused_before_the_charge(session: Any, tmp_path: Any) -> None:
        ledger = lb.Ledger(tmp_path / "budget.db")
        ledger.create("clinic", epsilon=9)
        mechanism = lb.NoisyTopK(k=1, epsilon=1)
        for value, said in [*((each, "Python has them") for each in UNREADABLE.values()),
                            *((each, "items must be text") for each in REFUSED.values())]:  # fmt: skip
            frame = session.range(1).selectExpr(f"{value} AS item", "5L AS count")
            with pytest.raises(lb.ParameterError, match=rf"{said}.*[Nn]othing was drawn"):
                ledger.spend("clinic", mechanism, mechanism.ready_spark(frame))
        assert ledger.account("clinic").spent == 0

    def test_times_have_their_zone(session: Any) -> None:
        before = session.conf.get("spark.sql.session.timeZone")
        session.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        try:
            hour = datetime.datetime(2026, 3, 29, 2, 30)
            cases = {
                "TIMESTAMP'2026-03-29T02:30:00Z'": hour.replace(tzinfo=datetime.UTC),
                "TIMESTAMP_NTZ'2026-03-29 02:30:00'": hour,
                "TIMESTAMP_NTZ'0001-01-01 00:00:00'": datetime.datetime.min,
                "DATE'9999-12-31'": datetime.date.max,
                "X'FF'": b"\xff",
                "INTERVAL '1' DAY": datetime.timedelta(days=1),
                "CAST(NULL AS TIMESTAMP)": None,
            }
            for value, item in cases.items():
                frame = session.range(1).selectExpr(f"{value} AS item", "5L AS count")
                assert lb.NoisyTopK(k=1, epsilon=1).release_spark(frame).items == (item,)
        finally:
            session.conf.set("spark.sql.session.timeZone", before)

    def test_numbers_per_unit_are_grouped_in_spark(session: Any, monkeypatch: Any) -> None:
        fetched: list[int] = []
        fetch = integers.fetch_integers

        def watched(frame: Any) -> Any:
            columns = fetch(frame)
            fetched.append(len(columns[0]))
            return columns

        monkeypatch.setattr(spark_numbers, "fetch_integers", watched)
        frame = session.range(0, 3_000).selectExpr("id % 1000 AS unit", "id % 5 AS days", "id % 2 AS ward")
        in_memory = pa.table({"unit": np.arange(3000) % 1000, "days": np.arange(3000) % 5, "ward": np.arange(3000) % 2})
        for options in ({"per": "total"}, {"per": "row", "most_rows": 9}, {"by": "ward", "domain": [0, 1]}):
            named: dict[str, Any] = {"of": "days", "unit": "unit", "bounds": (0, 9), **options}
            found, expected = (per_unit(each, **named) for each in (frame, in_memory))
            pairs = [sorted(zip(each.places.tolist(), each.steps.tolist(), strict=True)) for each in (found, expected)]
            assert pairs[0] == pairs[1]
        assert len(fetched) == 3
        assert max(fetched) < 60
        nobody = per_unit(frame.where("false"), of="days", unit="unit", bounds=(0, 9))
        assert len(nobody) == 0

    def test_a_long_list_is_a_table(session: Any, monkeypatch: Any) -> None:
        frame = session.range(0, 30).selectExpr("id % 10 AS item", "concat('w', id % 3) AS word", "id / 2 AS half")
        domains: dict[str, list[Any]] = {"item": [*range(3_000)], "word": [f"w{n}" for n in range(3_000)],
                                         "half": [n / 2 for n in range(3_000)]}  # fmt: skip
        for name, domain in domains.items():
            listed = lb.count(frame, by=name, domain=domain)
            monkeypatch.setattr(columns, "_IN_PLAN", 10**9)
            assert listed.values.tolist() == lb.count(frame, by=name, domain=domain).values.tolist()
            monkeypatch.undo()
            plan = columns.SparkColumns(frame).domain(name, domain if name != "word" else [b"x"] * 3000, 0)
            assert len(plan._jdf.queryExecution().toString()) < 10_000

    def test_near_keys_and_long_texts(session: Any) -> None:
        long = "x" * 1_000_000
        texts = [text for pair in NEAR["text"] for text in pair]
        texts = [*dict.fromkeys(texts), long + "a", long + "b", shorten_text(long + "a")]
        frame = session.createDataFrame([*enumerate(texts)], "unit int, item string")
        assert lb.count(frame, by="item", unit="unit", domain=texts).values.tolist() == [1] * len(texts)
        found = lb.count(frame, by="item", unit="unit", domain=lb.UNKNOWN).highest()[0]
        assert {*found} == {shorten_text(text) for text in texts}
        one = frame.selectExpr("item AS unit", "'flu' AS item")
        assert lb.count(one, by="item", unit="unit", domain=["flu"]).values.tolist() == [len(texts)]
        kinds = {"whole": "long", "float": "double", "decimal": "decimal(38,3)", "date": "date"}
        for kind, dtype in kinds.items():
            for pair in NEAR[kind]:
                rows = session.createDataFrame([(key, "flu") for key in pair], f"unit {dtype}, item string")
                assert lb.count(rows, by="item", unit="unit", domain=["flu"]).values.tolist() == [2], pair

    @pytest.mark.skipif(not os.environ.get("LASTBIT_FUZZ"), reason="two minutes: make fuzz")
    @pytest.mark.parametrize("how", ["kill", "leave"])
    def test_speculation_and_killed_executors(how: str, tmp_path: Path) -> None:
        program = [sys.executable, "-m", "tests.data.spark.cluster", str(tmp_path), how]
        root = str(Path(__file__).parents[3])
        variables = {"PYTHONPATH": root} | {name: os.environ[name] for name in ("JAVA_HOME",) if name in os.environ}
        done = processes.run(program, variables=variables, capture_output=True, text=True, timeout=3600)
        assert done.returncode == 0, done.stderr[-2000:]
        found = json.loads(done.stdout.strip().split("\n")[-1])
        assert len(found["tables"]) == (5 if how == "kill" else 3)
        assert found["tables"][0]
        for table in found["tables"]:
            assert table == found["tables"][0]
        # Otherwise nothing was tried twice.
        assert any(line.endswith(" 1") for line in found["attempts"]), found["attempts"]

    @pytest.mark.skipif(not os.environ.get("LASTBIT_FUZZ"), reason="half a minute: make fuzz")
    def test_the_longest_list_fits_in_the_usual_driver(session: Any) -> None:
        domain = [f"item number {number}" for number in range(10**6)]
        frame = session.range(0, 1000).selectExpr("id", "concat('item number ', id) AS item")
        assert int(np.sum(lb.count(frame, by="item", unit="id", domain=domain).values)) == 1000
