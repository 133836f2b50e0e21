"""`lastbit top` on a Parquet file, against the same count in bare DuckDB; and how long the command takes to start."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import as_time, compare, heading, report, run_processes

ROWS, UNITS, ITEMS = 10**7, 10**6, 10**4

SMALL = "import duckdb, sys; duckdb.sql(sys.argv[1]).fetchall()"
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
    heading("start: whole processes, processor time")
    empty = ["-c", "pass"]
    with tempfile.TemporaryDirectory() as name:
        four, ledger = Path(name) / "four.csv", Path(name) / "budget.db"
        four.write_text("patient,diagnosis\n1,a\n2,a\n3,b\n4,c\n", encoding="utf-8")
        _python("-m", "lastbit.cli", "budget", "create", "clinic", "--ledger", str(ledger), "--epsilon", "100")
        asked = [str(four), "--by", "diagnosis", "--unit", "patient", "--domain", "a,b,c", "-k", "1", "--epsilon", "1"]
        top = ["-m", "lastbit.cli", "top", *asked]
        query = f"select diagnosis, count(distinct patient) from '{four}' group by diagnosis"
        for label, ours, theirs, seconds in (
            ("lastbit --help", ["-m", "lastbit.cli", "--help"], empty, 0.12),
            ("top of four rows", top, ["-c", SMALL, query], 0.45),
            ("with a ledger", [*top, "--ledger", str(ledger), "--dataset", "clinic"], ["-c", SMALL, query], 0.6),
        ):
            mine, other = run_processes(ours, theirs, runs=9)
            note = (
                f"±{mine.busy.spread:.0%}, {mine.memory >> 20} MB; without lastbit {as_time(other.busy.median)}, 9 runs"
            )
            report(label, mine.busy.median, as_time, seconds, note)


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
