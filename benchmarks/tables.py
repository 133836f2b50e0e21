"""Tables that agree: the time and the memory to rebuild them, and one reading for all tables against plain DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measure import alternate, as_time, compare, heading, peak_beyond, report

ADULT = (100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2)
LARGE = (100, 100, 40, 20, 10)
ROWS, UNITS = 10**7, 2_500_000
COLUMNS: dict[str, list[Any]] = {
    "region": ["north", "south", "east", "west"],
    "age": list(range(100)),
    "sex": ["f", "m", "x"],
    "month": list(range(1, 13)),
    "department": [f"D{place}" for place in range(40)],
    "severity": list(range(5)),
    "kind": ["planned", "emergency"],
    "ward": list(range(20)),
}


def run() -> None:
    from lastbit.estimate.tables.reconstruction import Reconstruction
    from lastbit.estimate.tables.scheme import Scheme

    heading("rebuilding all tables from noisy ones")
    for name, sizes, ways, target in (("Adult, 105 tables", ADULT, 2, 0.1), ("5 columns, 25 tables", LARGE, 3, 1.0)):
        tables = [each for size in range(1, ways + 1) for each in combinations(range(len(sizes)), size)]
        scheme = Scheme(sizes, {each: Fraction(1, 3600) for each in tables})
        chance = np.random.default_rng(1)
        noisy = {each: chance.integers(-200, 300, [sizes[axis] for axis in each]) for each in tables}
        cells = sum(prod(sizes[axis] for axis in each) for each in tables)

        def rebuild(scheme: Any = scheme, noisy: Any = noisy, tables: Any = tables) -> list[Any]:
            found = Reconstruction(scheme, noisy)
            return [found.floats(each) for each in tables]

        (timing,) = alternate(rebuild, runs=21)
        report(f"{name}, {cells:,} cells", timing.median, as_time, target, "")
        extra = peak_beyond(rebuild, 0) / (8 * cells)
        report(f"{name}, memory", extra, "{:.1f}".format, 6.0, "words a cell, with the floats that come back")
    heading(
        f"all tables of two of {len(COLUMNS)} columns, one record a person: {ROWS:,} rows, {UNITS:,} people, Parquet"
    )
    with _visits() as path:
        sides = (lambda: _ours(path)), (lambda: _plain(path))
        compare("one reading", *sides, against="DuckDB", target=1.3, runs=5, busy=True)


def _ours(path: Path) -> Any:
    import duckdb

    import lastbit as lb

    with duckdb.connect() as connection:
        rows = connection.read_parquet(str(path))
        return lb.count_tables(rows, by=list(COLUMNS), domain=COLUMNS, ways=2, unit="patient")


def _plain(path: Path) -> Any:
    """One record a person by a keyed hash, then sums: places by joins, a word for each person, all in one query."""
    import duckdb

    with duckdb.connect() as connection:
        place, joins = "0::BIGINT", ""
        for name, values in COLUMNS.items():
            connection.execute(
                f"CREATE TABLE d_{name} AS SELECT unnest(?) AS item, unnest(range(?)) AS p", [values, len(values)]
            )
            place = f"({place}) * {len(values)} + d_{name}.p"
            joins += f" JOIN d_{name} ON {name} = d_{name}.item"
        found = connection.execute(
            f"""SELECT place, count(*) AS n FROM (SELECT arg_min(place, hash(patient, place, 12345)) AS place
            FROM (SELECT patient, {place} AS place FROM '{path}' {joins}) GROUP BY patient) GROUP BY place"""
        ).fetchnumpy()
    sizes = [len(values) for values in COLUMNS.values()]
    parts, rest = [], found["place"]
    for size in reversed(sizes):
        rest, part = np.divmod(rest, size)
        parts.insert(0, part)
    return [
        np.bincount(parts[a] * sizes[b] + parts[b], found["n"], sizes[a] * sizes[b])
        for a, b in combinations(range(len(sizes)), 2)
    ]


@contextmanager
def _visits() -> Iterator[Path]:
    import duckdb

    with TemporaryDirectory() as folder:
        path = Path(folder, "visits.parquet")
        chosen = [f"CAST(hash(i * 7 + 1) % {UNITS} AS BIGINT) AS patient"]
        for place, (name, values) in enumerate(COLUMNS.items(), start=2):
            at = f"CAST(1 + hash(i * 31 + {place}) % {len(values)} AS BIGINT)"
            chosen.append(f"({values!r})[{at}] AS {name}")
        with duckdb.connect() as connection:
            connection.execute(
                f"COPY (SELECT {', '.join(chosen)} FROM range({ROWS}) t(i)) TO '{path}' (FORMAT parquet)"
            )
        yield path
