"""Questions to a Parquet file against the same work in bare DuckDB: whole processes, processor time and memory.

A person has one number: what DuckDB is asked takes one of each, clamps it, and adds up, as lastbit does.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import compare_processes, heading

ROWS, UNITS = 10**7, 10**6
REGIONS = ("north", "south", "east", "west")

BARE = "import duckdb, sys; duckdb.sql(sys.argv[1]).fetchall()"
CLAMPED = "least(greatest({}, 0), 1000)"
MEAN_OF_EACH = f"select avg({CLAMPED.format('cost')}) as n from '{{path}}' group by unit"

QUESTIONS = {
    "count": ("count", "select count(distinct unit) from '{path}'"),
    "count --where": ("count --where 'cost >= 500'", "select count(distinct unit) from '{path}' where cost >= 500"),
    "sum": (
        "sum --of cost --bounds 0 1000",
        f"select sum({CLAMPED.format('n')}) from (select sum(cost) as n from '{{path}}' group by unit)",
    ),
    "mean": ("mean --of cost --bounds 0 1000", f"select sum(n), count(*) from ({MEAN_OF_EACH})"),
    "median": ("median --of cost --bounds 0 1000", f"select median(n) from ({MEAN_OF_EACH})"),
    "top": (
        "top --by ward --domain 0..9999 -k 10",
        "select ward, count(distinct unit) from '{path}' group by ward",
    ),
    "top of texts": (
        f"top --by region --domain {','.join(REGIONS)} -k 2",
        "select region, count(distinct unit) from '{path}' group by region",
    ),
    "two columns": (
        f"top --by ward --by region --domain 0..9999 --domain {','.join(REGIONS)} -k 10",
        "select ward, region, count(distinct unit) from '{path}' group by ward, region",
    ),
    "histogram --of": (
        "histogram --of cost --bounds 0 1000 --bins 20 --one-each",
        "select bin, count(*) from (select arg_min(bin, hash(unit, bin, 12345)) as bin from (select unit, "
        "least(greatest(floor(cost / 50), 0), 19)::int as bin from '{path}') group by unit) group by bin",
    ),
    "let of all rows": (
        "count --let 'n = count(*)' --edges n 1,5,10,15 --one-each",
        "select least(n // 5, 3) as g, count(*) from (select count(*) as n from '{path}' group by unit) group by g",
    ),
    "let of the row before": (
        "share --let 'up = cost > lag(cost) over (order by ward)' --of up",
        "select sum(up), count(*) from (select max(up) as up from (select unit, (cost > lag(cost) over (partition by "
        "unit order by ward))::int as up from '{path}') group by unit)",
    ),
    "join": (
        "count --join {folder}/wards.parquet --on ward --by area --domain 0..9",
        "select area, count(distinct unit) from '{path}' left join '{folder}/wards.parquet' using (ward) group by area",
    ),
    "split": (
        "count --split region t --by region --domain nor,sou,h,eas,wes",
        "select item, count(distinct unit) from (select unit, unnest(string_split(region, 't')) as item from '{path}') "
        "where item <> '' group by item",
    ),
    "units": (
        "count --unit unit --unit ward --noun pair,pairs",
        "select count(*) from (select distinct unit, ward from '{path}')",
    ),
    "units of people": (
        "count --unit unit --unit ward --most-units 5 --noun pair,pairs",
        "select count(*) from (select distinct unit, ward from (select unit, ward, dense_rank() over (partition by "
        "unit order by hash(unit, ward, 12345)) as lot from '{path}') where lot <= 5)",
    ),
}
"""The words of each command, and the same work in SQL."""


def write(path: Path, rows: int = ROWS) -> None:
    """Rows of units, wards, regions and costs; ten rows a person, and lower wards are more common."""
    import duckdb

    duckdb.sql("select setseed(0.5)").fetchall()
    duckdb.sql(
        f"copy (select (random() * {rows // 10})::int as unit, (pow(random(), 3) * 10000)::int as ward, "
        f"{list(REGIONS)!r}[1 + (random() * {len(REGIONS)})::int % {len(REGIONS)}] as region, "
        f"round(random() * 1000, 2) as cost from range({rows})) to '{path}' (format parquet)"
    )
    wards = path.parent / "wards.parquet"
    duckdb.sql(f"copy (select i as ward, i % 10 as area from range(10001) t(i)) to '{wards}' (format parquet)")


def run(only: str | None = None, path: Path | None = None, runs: int = 5) -> None:
    heading(f"questions to Parquet: {ROWS:,} rows, {UNITS:,} people; processor time and memory of whole processes")
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder, "visits.parquet")
            write(path)
        for name, (words, query) in QUESTIONS.items():
            if only in (None, name):
                kind, *options = shlex.split(words.format(folder=path.parent))
                unit = [] if "--unit" in options else ["--unit", "unit"]
                ours = [kind, str(path), *unit, *options, "--epsilon", "1", "--json"]
                compare_processes(
                    name,
                    ["-m", "lastbit.cli", *ours],
                    ["-c", BARE, query.format(path=path, folder=path.parent)],
                    against="DuckDB",
                    target=1.3,
                    memory=1.2,
                    runs=runs,
                )


if __name__ == "__main__":
    run(sys.argv[1] if len(sys.argv) > 1 else None, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
