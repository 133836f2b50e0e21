"""A description of a table against the plain DuckDB query that has the same numbers of each person, without noise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import compare, heading

SIZES = (10**6, 10**7)
NUMBERS = [*(f"whole_{place}" for place in range(5)), *(f"amount_{place}" for place in range(3))]
DATES = ["day_0", "day_1"]
TEXTS = [f"text_{place}" for place in range(5)]


def run() -> None:
    heading("describe: people, rows, and missing values and quartiles of 15 columns (Parquet, a person has 4 rows)")
    for rows in SIZES:
        with visits(rows) as path:
            compare(
                f"{rows:,} rows",
                lambda path=path: describe(path),  # type: ignore[misc]
                lambda path=path: plain(path),  # type: ignore[misc]
                against="DuckDB",
                target=2.0,
                runs=5,
                busy=True,
            )


def describe(path: Path) -> Any:
    """What `lastbit describe` does, to the report."""
    import lastbit as lb

    return lb.describe(path, unit="patient", epsilon=1).report


def plain(path: Path) -> Any:
    """Each person's rows, present values, mean numbers and last days; then missing values and quartiles over people."""
    import duckdb

    own, over = ["patient", "count(*) AS n"], ["count(*)", "quantile_disc(n, [0.25, 0.5, 0.75])"]
    for name in (*NUMBERS, *DATES, *TEXTS):
        own.append(f"count({name}) AS present_{name}")
        over.append(f"count(*) FILTER (present_{name} = 0)")
        over.append(f"count(*) FILTER (present_{name} > 0 AND present_{name} < n)")
    for name in (*NUMBERS, *DATES):
        own.append(f"{'avg' if name in NUMBERS else 'max'}({name}) AS number_{name}")
        over.append(f"quantile_disc(number_{name}, [0.25, 0.5, 0.75])")
    people = f"SELECT {', '.join(own)} FROM '{path}' WHERE patient IS NOT NULL GROUP BY patient"
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT {', '.join(over)} FROM ({people})").fetchall()


@contextmanager
def visits(rows: int) -> Iterator[Path]:
    """A file of visits, of which one in fifty has no number in a column."""
    import duckdb

    def lot(salt: int) -> str:
        return f"hash(i * 1000 + {salt})"

    chosen = [f"CAST({lot(0)} % {rows // 4} AS BIGINT) AS patient"]
    for place, name in enumerate(NUMBERS, start=1):
        number = f"{lot(place)} % 10 ** {1 + place % 6}" if place <= 5 else f"{lot(place)} % 1000000 / 3.0 ** {place}"
        kind = "BIGINT" if place <= 5 else "DOUBLE"
        chosen.append(f"CASE WHEN {lot(100 + place)} % 50 > 0 THEN CAST({number} AS {kind}) END AS {name}")
    for place, name in enumerate(DATES, start=20):
        chosen.append(f"DATE '2020-01-01' + CAST({lot(place)} % 2000 AS INTEGER) AS {name}")
    for place, name in enumerate(TEXTS, start=30):
        chosen.append(f"'item ' || {lot(place)} % {20 * (place - 29)} AS {name}")
    with TemporaryDirectory() as folder, duckdb.connect() as connection:
        path = Path(folder, "visits.parquet")
        connection.execute(f"COPY (SELECT {', '.join(chosen)} FROM range({rows}) AS t(i)) TO '{path}' (FORMAT parquet)")
        yield path
