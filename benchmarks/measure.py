"""One way of timing: both sides alternate in one process, and the ratio of their medians is what counts."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Work = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds of repeated runs, by the clock; and of all processors, where that was measured."""

    seconds: list[float]
    busy: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """Half the distance between the quartiles, as a share of the median."""
        low, _, high = statistics.quantiles(self.seconds, n=4)
        return (high - low) / 2 / self.median


def alternate(*sides: Work, runs: int = 21, processors: Callable[[], float] = time.process_time) -> list[Timing]:
    """Time the sides in turn, after one round that warms caches and tables."""
    seconds: list[list[tuple[float, float]]] = [[] for _ in sides]
    for run in range(runs + 1):
        for side, taken in zip(sides, seconds, strict=True):
            start, busy = time.perf_counter(), processors()
            side()
            if run:
                taken.append((time.perf_counter() - start, processors() - busy))
    return [Timing([clock for clock, _ in taken], tuple(busy for _, busy in taken)) for taken in seconds]


def repeat(work: Work, times: int) -> Work:
    """The work so many times, for work that takes microseconds."""

    def again() -> None:
        for _ in range(times):
            work()

    return again


def as_time(seconds: float) -> str:
    """Seconds in the unit a person would choose."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def heading(title: str) -> None:
    print(f"\n{title}\n{'-' * len(title)}")


def compare(
    label: str,
    ours: Work,
    theirs: Work,
    *,
    against: str,
    target: float | None,
    runs: int = 21,
    busy: bool = False,
    processors: Callable[[], float] = time.process_time,
) -> float:
    """Print one line, ours against theirs, and return the ratio of the medians.

    `busy` prints one more, of the time of all processors, which others on the machine change less: its ratio counts.
    `processors` reads that time, where other processes work too.
    """
    mine, other = alternate(ours, theirs, runs=runs, processors=processors)
    if busy:
        _print_comparison(f"{label}, by the clock", mine, other, against, None)
        mine, other, label = Timing([*mine.busy]), Timing([*other.busy]), f"{label}, processors"
    return _print_comparison(label, mine, other, against, target)


def _print_comparison(label: str, mine: Timing, other: Timing, against: str, target: float | None) -> float:
    ratio, runs = mine.median / other.median, len(mine.seconds)
    verdict = "" if target is None else f"  target {target:g}: {'met' if ratio <= target else 'MISSED'}"
    print(
        f"{label:<34} {as_time(mine.median):>8} ±{mine.spread:4.0%}  {against} {as_time(other.median):>8} "
        f"±{other.spread:4.0%}  ratio {ratio:5.2f}  {runs} runs{verdict}"
    )
    return ratio


def report(label: str, value: float, show: Callable[[float], str], target: float, note: str) -> None:
    """Print one line for a figure with a bound of its own."""
    print(f"{label:<34} {show(value):>8}  {note}  target {show(target)}: {'met' if value <= target else 'MISSED'}")


def processor_seconds(processes: Callable[[], Iterable[int]]) -> Callable[[], float]:
    """Return a function that reads the processor time of these processes and of those of theirs that have ended."""

    def read() -> float:
        ticks = 0
        for process in processes():
            with suppress(OSError):  # it has just ended
                ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    return read


def list_family(process: int | None = None) -> list[int]:
    """Return a process or this one, those that it has started, and theirs, as Linux lists them."""
    family = [os.getpid() if process is None else process]
    for process in family:
        with suppress(OSError):
            for thread in Path(f"/proc/{process}/task").iterdir():
                family += map(int, (thread / "children").read_text().split())
    return family


def peak_beyond(work: Callable[[], object], result_bytes: int, *, warm: bool = True) -> int:
    """Bytes allocated at the peak beyond the result itself; tables that are built once are not counted when `warm`."""
    if warm:
        work()
    tracemalloc.start()
    kept = work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return peak - result_bytes


def seconds_of_command(*arguments: str, runs: int = 9) -> Timing:
    """Wall time of a fresh Python."""
    taken = []
    for _ in range(runs):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True)
        taken.append(time.perf_counter() - start)
    return Timing(taken)


@dataclass(frozen=True)
class Runs:
    """Repeated runs of a process: seconds of processor time, seconds by the clock, and bytes of memory at the peak."""

    busy: Timing
    clock: Timing
    memory: int


def run_processes(*sides: Sequence[str], runs: int = 5) -> list[Runs]:
    """Run fresh Pythons with these arguments in turn, after one round that fills caches of files.

    Their modules are compiled in that round, as an installed package is, whatever this process does with its own.
    """
    taken: list[list[tuple[float, float, int]]] = [[] for _ in sides]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for run in range(runs + 1):
        for side, found in zip(sides, taken, strict=True):
            start = time.perf_counter()
            with subprocess.Popen(
                [sys.executable, *side], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
            ) as process:
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                if process.returncode:
                    assert process.stderr is not None
                    raise RuntimeError(process.stderr.read().decode())
            if run:
                found.append((usage.ru_utime + usage.ru_stime, time.perf_counter() - start, usage.ru_maxrss * 1024))
    return [
        Runs(
            Timing([busy for busy, _, _ in found]),
            Timing([clock for _, clock, _ in found]),
            int(statistics.median(memory for _, _, memory in found)),
        )
        for found in taken
    ]


def compare_processes(
    label: str,
    ours: Sequence[str],
    theirs: Sequence[str],
    *,
    against: str,
    target: float,
    memory: float,
    runs: int = 5,
) -> tuple[float, float]:
    """Print one line, ours against theirs, and return the ratios of processor time and of memory."""
    mine, other = run_processes(ours, theirs, runs=runs)
    ratio, more = mine.busy.median / other.busy.median, mine.memory / other.memory
    met = "met" if ratio <= target and more <= memory else "MISSED"
    sides = "  ".join(
        f"{name} {as_time(side.busy.median):>7} ±{side.busy.spread:4.0%} {side.memory >> 20:5} MB"
        for name, side in (("lastbit", mine), (against, other))
    )
    print(
        f"{label:<22} {sides}  ratio {ratio:5.2f}, memory {more:4.2f}, by the clock "
        f"{mine.clock.median / other.clock.median:4.2f}  {runs} runs  target {target:g}, {memory:g}: {met}",
        flush=True,
    )
    return ratio, more


def machine(*packages: str) -> str:
    """What a figure was measured on."""
    names = []
    for package in packages:
        try:
            names.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            names.append(f"{package} absent")
    return f"Python {platform.python_version()}, {', '.join(names)}, {os.cpu_count()} cores, {platform.machine()}"
