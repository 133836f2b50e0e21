"""How an experiment is run, and how what it measured is kept."""

from __future__ import annotations

import csv
import importlib
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from tqdm import tqdm

from benchmarks.measure import machine
from experiments.datasets import Dataset

Row = dict[str, Any]
"""One line of a table: names and numbers or text."""

Point = TypeVar("Point")
Value = TypeVar("Value", int, float, str, Sequence[Any])

FIGURES = Path(__file__).parent.parent / "docs" / "experiments"

EXPERIMENTS = (
    "topk_table4",
    "topk_table5",
    "topk_table6",
    "gap_figure1",
    "gap_figure2",
    "gap_figure3",
    "exponential_figure4",
    "exponential_figure5",
    "exponential_figure6",
    "exponential_figure7",
    "exponential_figure8",
    "exponential_figure9",
    "exponential_figure10",
    "snapping_accuracy",
    "snapping_bias",
    "after_selection",
    "quantile_ranks",
    "table_intervals",
    "consistent_tables",
    "discovery",
    "top_sets",
    "peers",
)
"""In the order of the page."""


@dataclass(frozen=True)
class Setting:
    """What an experiment runs on, and how large."""

    datasets: tuple[Dataset, ...]
    tiny: bool = False
    """So small that every experiment ends in a second or two: for tests, not for results."""
    workers: int = 2
    others: tuple[Dataset, ...] = ()
    """Counts that no paper measured, for experiments of our own."""

    def size(self, full: Value, tiny: Value) -> Value:
        """One of the two, by how large the run is."""
        return tiny if self.tiny else full


def follow(points: Iterable[Point], label: str) -> Iterable[Point]:
    """The points, with a progress bar."""
    return tqdm(list(points), desc=label, leave=False, disable=None)


def spread_out(job: Callable[[Point], list[Row]], points: Sequence[Point], setting: Setting, label: str) -> list[Row]:
    """The rows of all points, in order, worked out by several processes, with a progress bar."""
    if setting.workers < 2:
        return [row for point in follow(points, label) for row in job(point)]
    with (
        ProcessPoolExecutor(setting.workers, get_context("spawn")) as pool,
        tqdm(total=len(points), desc=label, leave=False, disable=None) as bar,
    ):
        futures = [pool.submit(job, point) for point in points]
        for future in futures:
            future.add_done_callback(lambda _: bar.update())
        return [row for future in futures for row in future.result()]


def module_of(name: str) -> ModuleType:
    """The experiment of this name."""
    return importlib.import_module(f"experiments.{name}")


def record(name: str, setting: Setting, folder: Path) -> None:
    """Run an experiment; leave its rows, what they were measured on, and its pictures in the folder."""
    module = module_of(name)
    facts: Row = {
        "machine": f"{_processor()}; {machine(*module.PACKAGES)}",
        "repetitions": module.repetitions(setting),
        "data": [f"{each.name} ({each.origin})" for each in _memory_used(module, setting)],
        "load": round(os.getloadavg()[0], 2),
    }
    wall, processor, others = time.perf_counter(), time.process_time(), _children_seconds()
    rows = module.measure(setting)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    facts |= {
        "seconds": round(wall, 1),
        "processor_seconds": round(processor + _children_seconds() - others, 1),
        # Of a timed experiment, which runs in one process: below 1 other work had the processor in between.
        "processor_share": round(processor / wall, 3),
        "timed": module.TIMED,
        "tiny": setting.tiny,
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / f"{name}.csv", rows)
    (folder / f"{name}.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def draw(name: str, folder: Path) -> None:
    """Draw the pictures of an experiment from the rows in the folder."""
    figure = module_of(name).picture(read_rows(folder / f"{name}.csv"))
    # Without a date and with fixed identifiers, the same rows give the same file.
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=110)


def write_rows(path: Path, rows: list[Row]) -> None:
    """Rows as CSV; a column that a row lacks stays empty."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _short(value) for name, value in row.items()} for row in rows)


def read_rows(path: Path) -> list[Row]:
    """The rows of a CSV file, numbers as numbers, empty cells left out."""
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(text) for name, text in row.items() if text} for row in csv.DictReader(file)]


def _short(value: object) -> object:
    return f"{value:.6g}" if isinstance(value, float) else value


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _memory_used(module: ModuleType, setting: Setting) -> tuple[Dataset, ...]:
    """The data sets that an experiment runs on."""
    others = setting.others if getattr(module, "USES_OTHERS", False) else ()
    return (*setting.datasets, *others) if module.USES_DATA else ()


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "an unnamed processor"
