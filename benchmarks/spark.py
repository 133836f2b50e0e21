"""Counting in Spark, and the noise of each item there, against plain Spark SQL of the same job without noise.

Both sides run in one session on two cores and read the same Parquet file. A row is a person, an item, a department of
a thousand, and a cost; a person has ten rows. `--rows` and `--items` ask for another size, `--only` for some lines.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lastbit as lb
from benchmarks.measure import compare, heading, list_family, machine, processor_seconds
from lastbit.data.per_unit import per_unit

ROWS, ITEMS, RUNS = 10**6, 10**5, 5
K, DEPARTMENTS = 10, 1_000
COST = {"epsilon": 1, "delta": "1e-6"}


def run(rows: int = ROWS, items: int = ITEMS, runs: int = RUNS, only: str = "", cores: int = 2) -> None:
    try:
        import pyspark
    except ImportError:
        print("PySpark is not installed here.")
        return
    heading(f"Spark {pyspark.__version__}, local[{cores}]: {rows:,} rows, {rows // 10:,} people, {items:,} items")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        write_rows(path, rows, items)
        session = start_session(cores)
        try:
            table, domain = session.read.parquet(str(path)), session.range(items).toDF("item")
            for label, (ours, theirs) in make_jobs(table, domain, items).items():
                if only in label:
                    busy = {"busy": True, "processors": processor_seconds(list_family)}
                    compare(label, ours, theirs, against="Spark SQL", target=1.3, runs=runs, **busy)
                    sys.stdout.flush()
        finally:
            session.stop()


def start_session(cores: int) -> Any:
    """Start Spark in this process, which says nothing and listens to this machine alone."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.shuffle.partitions", str(2 * cores)).config("spark.driver.memory", "3g")
    session = builder.config("spark.log.level", "OFF").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def make_jobs(table: Any, domain: Any, items: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Return what is timed: a question, and the same job in Spark SQL."""
    import pyarrow as pa
    from pyspark.sql import functions as f

    table.createOrReplaceTempView("visits")
    domain.createOrReplaceTempView("items")

    def sql(query: str, fetch: str = "collect") -> Callable[[], Any]:
        # A new query for every run: Spark keeps what a query that has run has shuffled.
        return lambda: getattr(table.sparkSession.sql(query), fetch)()

    listed, few = list(range(items)), list(range(DEPARTMENTS))
    people = "SELECT item, count(DISTINCT unit) AS n FROM visits {} GROUP BY item"
    first = (
        "SELECT item, count(1) AS n FROM (SELECT unit, item, row_number() OVER (PARTITION BY unit ORDER BY "
        "xxhash64(unit, item, 7L)) AS place FROM (SELECT DISTINCT unit, item FROM visits)) WHERE place <= {} "
        "GROUP BY item"
    )
    of_each = "SELECT unit, avg(greatest(least(cost, 1000), 0)) AS n FROM visits GROUP BY unit"

    def count(by: str, domain: Any, **more: Any) -> Any:
        return lb.count(table, by=by, unit="unit", domain=domain, **more)

    def discover(**more: Any) -> Any:
        found = count("item", lb.UNKNOWN, **more)
        return lb.DiscoverHistogram.of(found, **COST).release(found)

    def join_list(bounded: bool = False) -> Any:
        rows = table.join(table.sparkSession.createDataFrame(pa.table({"item": listed})), "item")
        if not bounded:
            return rows.groupBy("item").agg(f.count_distinct("unit")).toArrow()
        rows.createOrReplaceTempView("listed")
        return sql(first.format(2).replace("visits", "listed"), "toArrow")()

    def mean() -> Any:
        return per_unit(table, of="cost", unit="unit", bounds=(0, 1000), resolution="1/64").mean(resolution="1/64")

    def discover_bare(most: int) -> Callable[[], Any]:
        noisy = f"SELECT item, n + {most} * (ln(1 - rand()) - ln(1 - rand())) AS noisy FROM ({first.format(most)})"
        return sql(f"SELECT * FROM ({noisy}) WHERE noisy > {most * math.log(1e6)}")

    return {
        "count of 1,000 departments": (
            lambda: count("department", few),
            sql("SELECT department, count(DISTINCT unit) FROM visits GROUP BY department"),
        ),
        "top 10, items in Spark": (
            lambda: lb.NoisyTopK.of(counts := count("item", domain), k=K, epsilon=1).release(counts),
            sql(
                f"SELECT item, coalesce(n, 0) - {K} * ln(1 - rand()) AS noisy FROM items LEFT JOIN "
                f"({people.format('')}) USING (item) ORDER BY noisy DESC LIMIT {K + 1}"
            ),
        ),
        "items nobody listed, one a person": (
            lambda: discover(most_items=1),
            discover_bare(1),
        ),
        "items nobody listed, two a person": (
            lambda: discover(most_items=2),
            discover_bare(2),
        ),
        "departments, two a person": (
            lambda: count("department", few, most_items=2),
            sql(first.format(2).replace("item", "department")),
        ),
        "a list of all items": (lambda: count("item", listed), join_list),
        "a list of all items, two a person": (
            lambda: count("item", listed, most_items=2),
            lambda: join_list(True),
        ),
        "mean of each person": (
            mean,
            sql(f"SELECT sum(n), count(1) FROM ({of_each})"),
        ),
    }


def write_rows(path: Path, rows: int, items: int) -> None:
    """Write rows of whole numbers and floats; the lower its number, the more common an item."""
    import duckdb

    duckdb.sql("select setseed(0.5)").fetchall()
    duckdb.sql(
        f"copy (select (random() * {rows // 10})::bigint as unit, (pow(random(), 3) * {items})::bigint as item, "
        f"(random() * {DEPARTMENTS})::bigint as department, round(random() * 1000, 2) as cost from range({rows})) "
        f"to '{path}' (format parquet)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--items", type=int, default=ITEMS)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--only", default="", help="lines that have this in their name")
    options = parser.parse_args()
    print(machine("lastbit", "pyspark"))
    run(options.rows, options.items, options.runs, options.only)


if __name__ == "__main__":
    main()
