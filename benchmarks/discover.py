"""`lastbit top` on items that nobody listed, against the same count in bare DuckDB: time and memory of whole processes.

Both count the distinct units of every item and keep the highest. With --most-items the command finds in addition which
items of a unit stay; a few units have more than 20 items here, nearly all have more than 3.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import as_time, heading

ROWS, UNITS, ITEMS = 10**7, 10**6, 10**6
RUNS, K = 5, 10

BARE = f"""
import duckdb, sys
query = "select item, count(distinct unit) as units from '" + sys.argv[1] + "' group by item"
duckdb.sql(query + " order by units desc, item limit {10 * K + 1}").fetchall()
"""


@dataclass(frozen=True)
class Process:
    """What one process took."""

    wall: float
    processor: float
    """Seconds of all its threads: other work on the machine changes them less than the clock."""
    peak: float
    """Bytes."""


def write(path: Path) -> None:
    """Rows of units and texts; the lower its number, the more common a text."""
    import duckdb

    duckdb.sql("select setseed(0.5)").fetchall()
    duckdb.sql(
        f"copy (select (random() * {UNITS})::int as unit, 'https://example.org/page/' || "
        f"(pow(random(), 3) * {ITEMS})::int as item from range({ROWS})) to '{path}' (format parquet)"
    )


def process(*arguments: str) -> Process:
    """Run a fresh Python on these arguments."""
    with open(os.devnull, "w") as nowhere:
        start = time.perf_counter()
        files = [(os.POSIX_SPAWN_DUP2, nowhere.fileno(), each) for each in (1, 2)]
        identity = os.posix_spawn(sys.executable, [sys.executable, *arguments], os.environ, file_actions=files)
        _, status, used = os.wait4(identity, 0)
        wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status):
        sys.exit(f"python {' '.join(arguments)} failed.")
    kilobyte = 1 if sys.platform == "darwin" else 1024
    return Process(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * kilobyte)


def middle(processes: Sequence[Process], name: str) -> tuple[float, float]:
    """The median, and half the distance between the quartiles as a share of it."""
    values = [getattr(each, name) for each in processes]
    if len(values) == 1:
        return values[0], 0.0
    low, median, high = statistics.quantiles(values, n=4)
    return median, (high - low) / 2 / median


def run() -> None:
    heading(
        f"lastbit top --delta: {ROWS:,} rows, {UNITS:,} units, {ITEMS:,} texts, whole processes, {RUNS} runs in turn"
    )
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "visits.parquet"
        write(path)
        top = ("-m", "lastbit.cli", "top", str(path), "--by", "item", "--unit", "unit", "-k", str(K), "--json")
        top += ("--epsilon", "1", "--delta", "1e-6")
        sides = {
            "DuckDB alone": ("-c", BARE, str(path)),
            "lastbit top --delta": top,
            "  --most-items 20": (*top, "--most-items", "20"),
            "  --most-items 3": (*top, "--most-items", "3"),
        }
        targets = {"lastbit top --delta": (1.3, 1.0), "  --most-items 20": (2.0, None), "  --most-items 3": (2.0, None)}
        side_by_side(sides, RUNS, targets)


def side_by_side(
    sides: Mapping[str, Sequence[str]],
    runs: int,
    targets: Mapping[str, tuple[float, float | None]] | None = None,
) -> None:
    """Run programs in turn, and compare each with the first; the targets are of processor time and of memory."""
    taken: dict[str, list[Process]] = {label: [] for label in sides}
    for turn in range(runs + 1):
        for label, arguments in sides.items():
            one = process(*arguments)
            if turn:  # the first round warms the caches
                taken[label].append(one)
    first = next(iter(sides))
    bare = {name: middle(taken[first], name)[0] for name in ("wall", "processor", "peak")}
    for label in sides:
        (wall, spread), (processor, own), (peak, _) = (middle(taken[label], name) for name in bare)
        ratios = [wall / bare["wall"], processor / bare["processor"], peak / bare["peak"]]
        verdict = ""
        if targets and label in targets:
            time_target, memory_target = targets[label]
            # By the processor: other work on the machine changes the clock more.
            verdict = f"  target {time_target:g}: {_met(ratios[1], time_target)}"
            if memory_target is not None:
                verdict += f", memory {memory_target:g}: {_met(ratios[2], memory_target)}"
        print(
            f"{label:<20} {as_time(wall):>7} ±{spread:3.0%} ratio {ratios[0]:4.2f}  processor {as_time(processor):>7} "
            f"±{own:3.0%} ratio {ratios[1]:4.2f}  peak {peak / 1e6:5.0f} MB ratio {ratios[2]:4.2f}{verdict}"
        )


def _met(ratio: float, target: float) -> str:
    return "met" if ratio <= target else "MISSED"
