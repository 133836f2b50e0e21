"""How the time and the memory of a question to a Parquet file grow with its rows, with bare DuckDB beside it.

`python -m benchmarks.table_growth --most 100000000 --picture docs/pictures/table-growth.png` draws the picture in
docs/speed.md.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
from pathlib import Path

from benchmarks.measure import as_time, heading, machine, run_processes
from benchmarks.questions import BARE, QUESTIONS, write

MOST = 10**6
SHOWN = ("count", "mean", "histogram --of")

Row = tuple[str, str, int, float, float]
"""A question, who answers it, the rows of the table, seconds of processor time, and bytes at the peak."""


def measure(most: int) -> list[Row]:
    """Ask each question of tables of 10,000 rows, ten times as many, and so on; ten rows are one person's."""
    found, rows = [], 10**4
    while rows <= most:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "visits.parquet")
            write(path, rows)
            for name in SHOWN:
                words, query = QUESTIONS[name]
                kind, *options = shlex.split(words)
                ours = ["-m", "lastbit.cli", kind, str(path), "--unit", "unit", *options, "--epsilon", "1", "--json"]
                sides = run_processes(ours, ["-c", BARE, query.format(path=path)], runs=3)
                for who, side in zip(("lastbit", "DuckDB"), sides, strict=True):
                    found.append((name, who, rows, side.busy.median, float(side.memory)))
                    shown = f"{as_time(side.busy.median):>8} {side.memory >> 20:6} MB"
                    print(f"{name:<16} {who:<8} {rows:>12,} rows {shown}", flush=True)
        rows *= 10
    return found


def run(most: int = MOST, picture: str | None = None) -> None:
    heading(f"questions to Parquet as rows grow, to {most:,}: processor time and memory of whole processes")
    found = measure(most)
    if picture is not None:
        draw(found, picture)


def draw(found: list[Row], path: str) -> None:
    """Two panels: processor time and memory against rows."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for panel, place, label in zip(figure.subplots(1, 2), (3, 4), ("seconds of processor time", "bytes"), strict=True):
        for colour, name in enumerate(SHOWN):
            for who, style in (("lastbit", "-"), ("DuckDB", "--")):
                own = [row for row in found if row[:2] == (name, who)]
                numbers = [row[2] for row in own], [row[place] for row in own]
                panel.plot(*numbers, style, marker="o", markersize=3, color=f"C{colour}", label=f"{name}, {who}")
        panel.set(xscale="log", yscale="log", xlabel="rows", ylabel=label)
        panel.grid(alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.table_growth", description=__doc__)
    parser.add_argument("--most", type=int, default=MOST, help="the most rows")
    parser.add_argument("--picture", help="where to write the picture")
    options = parser.parse_args()
    print(machine("lastbit", "duckdb"))
    run(options.most, options.picture)


if __name__ == "__main__":
    main()
