"""`lastbit top` on a Parquet file, against the same count in bare DuckDB; and how long the command takes to start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import alternate, as_time, compare, heading, report

ROWS, UNITS, ITEMS = 10**7, 10**6, 10**4

BARE = """
import duckdb, sys
duckdb.sql(f"select item, count(distinct unit) from '{sys.argv[1]}' group by item").fetchall()
"""


def write(path: Path) -> None:
    """Rows of units and items; a third of the rows repeat a unit in one of a few common items."""
    import duckdb

    duckdb.sql("select setseed(0.5)").fetchall()
    duckdb.sql(
        f"copy (select (random() * {UNITS})::int as unit, (pow(random(), 3) * {ITEMS})::int as item "
        f"from range({ROWS})) to '{path}' (format parquet)"
    )


def write_text(path: Path, numbers: Path) -> None:
    """The same rows with units and items as text, which no sort of whole numbers helps with."""
    import duckdb

    duckdb.sql(
        f"copy (select 'P' || lpad(unit::varchar, 8, '0') as unit, 'diagnosis ' || item as item from '{numbers}') "
        f"to '{path}' (format parquet)"
    )


def run() -> None:
    heading(f"lastbit top on Parquet: {ROWS:,} rows, {UNITS:,} units, {ITEMS:,} items, whole processes")
    with tempfile.TemporaryDirectory() as name:
        numbers, text, items = (Path(name) / each for each in ("visits.parquet", "text.parquet", "items.txt"))
        write(numbers)
        write_text(text, numbers)
        items.write_text("\n".join(f"diagnosis {item}" for item in range(ITEMS)), encoding="utf-8")
        for label, path, domain in (
            ("lastbit top, numbers", numbers, f"0..{ITEMS - 1}"),
            ("lastbit top, text", text, str(items)),
        ):
            table = [str(path), "--by", "item", "--unit", "unit", "--domain", domain]
            compare(
                label,
                lambda table=table: _python("-m", "lastbit.cli", "top", *table, "-k", "10", "--epsilon", "1", "--json"),
                lambda path=path: _python("-c", BARE, str(path)),
                against="DuckDB",
                target=1.3,
                runs=5,
            )
    heading("start")
    start, empty = alternate(lambda: _python("-m", "lastbit.cli", "--help"), lambda: _python("-c", "pass"), runs=9)
    report("lastbit --help", start.median, as_time, 0.4, f"a fresh Python, {as_time(empty.median)} of it empty, 9 runs")


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
