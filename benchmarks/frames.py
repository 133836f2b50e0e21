"""Questions to tables in memory and to lines of JSON, against the engine that does the same work on the same table."""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.measure import compare, compare_processes, heading
from benchmarks.questions import BARE, CLAMPED, MEAN_OF_EACH

ROWS = 2 * 10**6
NUMBERS = {"of": "cost", "bounds": (0, 1000)}
QUESTIONS: dict[str, dict[str, Any]] = {"count": {}, "sum": NUMBERS, "mean": NUMBERS, "median": NUMBERS}
LINES = {
    "count": ("count", "select count(distinct unit) from read_json('{path}', format = 'newline_delimited')"),
    "mean": (
        "mean --of cost --bounds 0 1000",
        "select sum(n), count(*) from ("
        + MEAN_OF_EACH.replace("'{path}'", "read_json('{path}', format = 'newline_delimited')")
        + ")",
    ),
}


def run() -> None:
    import lastbit as lb

    # First, while this process is small: a new process starts with the memory of its parent.
    heading(f"questions to lines of JSON: {ROWS:,} rows; processor time and memory of whole processes")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "visits.jsonl")
        write_lines(path)
        for name, (words, query) in LINES.items():
            kind, *own = shlex.split(words)
            ours = ["-m", "lastbit.cli", kind, str(path), "--unit", "unit", *own, "--epsilon", "1", "--json"]
            theirs = ["-c", BARE, query.format(path=path)]
            compare_processes(name, ours, theirs, against="DuckDB", target=1.5, memory=1.2)
    heading(f"questions to tables in memory: {ROWS:,} rows, {ROWS // 10:,} people")
    frames = make_frames()
    for engine, frame in frames.items():
        for kind, options in QUESTIONS.items():
            compare(
                f"{kind}, {engine}",
                lambda kind=kind, frame=frame, options=options: lb.ask(kind, frame, unit="unit", epsilon=1, **options),
                lambda kind=kind, engine=engine, frame=frame: ask_engine(engine, kind, frame),
                against=engine,
                target=1.5,
                runs=5,
                busy=True,
            )


def make_frames(rows: int = ROWS) -> dict[str, Any]:
    """Return one table of units and costs, as each library has it."""
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    generator = np.random.default_rng(1)
    columns = {"unit": generator.integers(0, rows // 10, rows), "cost": generator.uniform(0, 1000, rows).round(2)}
    return {"pandas": pd.DataFrame(columns), "Polars": pl.DataFrame(columns), "Arrow": pa.table(columns)}


def ask_engine(engine: str, kind: str, frame: Any) -> Any:
    """Do the same work without noise: one number of each person, clamped."""
    if engine == "pandas":
        if kind == "count":
            return frame["unit"].nunique()
        if kind == "sum":
            return frame.groupby("unit")["cost"].sum().clip(0, 1000).sum()
        means = frame.assign(cost=frame["cost"].clip(0, 1000)).groupby("unit")["cost"].mean()
        return means.mean() if kind == "mean" else means.median()
    import polars as pl

    if engine == "Polars":
        if kind == "count":
            return frame["unit"].n_unique()
        cost = pl.col("cost").sum().clip(0, 1000) if kind == "sum" else pl.col("cost").clip(0, 1000).mean()
        return getattr(frame.group_by("unit").agg(cost)["cost"], kind)()
    import duckdb

    if kind == "count":
        return duckdb.sql("select count(distinct unit) from frame").fetchall()
    each = f"avg({CLAMPED.format('cost')})" if kind != "sum" else CLAMPED.format("sum(cost)")
    own = "avg" if kind == "mean" else kind
    return duckdb.sql(f"select {own}(n) from (select {each} as n from frame group by unit)").fetchall()


def write_lines(path: Path) -> None:
    """Write as many rows as lines of JSON, in the engine."""
    import duckdb

    rows = f"select (random() * {ROWS // 10})::int as unit, round(random() * 1000, 2) as cost from range({ROWS})"
    duckdb.sql(f"copy ({rows}) to '{path}' (format json)")
