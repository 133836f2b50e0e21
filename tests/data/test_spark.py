"""A real Spark, in local mode: counting runs as its job, and selection draws in its executors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import lastbit as lb
from tests.data.cases import CASES, TABLE
from tests.machine import has_java

# One Spark for all of them: a Java machine takes seconds to start. Without Java the run says so at its end.
pytestmark = pytest.mark.xdist_group("spark")

if has_java():

    @pytest.fixture(scope="module")
    def session() -> Iterator[Any]:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "ERROR")
        # A short life: compile little, and collect with one thread.
        builder = builder.config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        session = builder.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
        yield session
        session.stop()

    @pytest.mark.filterwarnings("ignore")
    def test_the_same_numbers_as_on_every_engine(session: Any) -> None:
        columns = [field.name for field in TABLE.schema]
        types = "patient long, diagnosis string, ward long, days long, score double"
        frame = session.createDataFrame([tuple(row[name] for name in columns) for row in TABLE.to_pylist()], types)
        for name in ("distinct units", "product", "whole weights on a grid", "weights"):
            arguments, values, sensitivity, monotone = CASES[name]
            counts = lb.count(frame, **arguments)
            assert (name, list(counts.values)) == (name, values)
            assert (counts.sensitivity, counts.monotone) == (sensitivity, monotone)

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
