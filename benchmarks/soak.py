"""Very many queries through one run of the sparse vector technique: the memory of the process stays where it is.

All queries are far below the threshold, so that the run never ends. `--queries` asks another number of them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import lastbit as lb
from benchmarks.measure import as_time, heading, machine

QUERIES, BLOCK, LOOKS = 10**9, 10**6, 4
"""How many queries, how many at a time, and how often the memory is looked at after the first tenth."""

GROWTH = 10**6
"""Bytes by which a process may grow between the first tenth and the end: what Python itself keeps or gives back."""


def resident(process: int | str = "self") -> int:
    """The bytes of memory that a process has now."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("the memory of a process is read from /proc, as Linux writes it.")


def run(queries: int = QUERIES) -> None:
    heading(f"{queries:,} queries through one run, {BLOCK:,} at a time")
    block = np.random.default_rng(0).integers(0, 1000, BLOCK)
    for kind in (lb.SparseVector, lb.AdaptiveSparseVector):
        started = kind(threshold=10**7, limit=10, epsilon=1).start()
        looks = {queries * i // LOOKS // BLOCK for i in range(1, LOOKS + 1)} | {max(queries // 10 // BLOCK, 1)}
        held: list[int] = []
        begun = time.process_time()
        for number in range(1, queries // BLOCK + 1):
            started.ask_many(block)
            if number in looks:
                held.append(resident())
                print(f"{kind.__name__:<22} after {number * BLOCK:>15,} queries {held[-1] / 1e6:8.1f} MB", flush=True)
        taken = time.process_time() - begun
        grown = held[-1] - held[0]
        print(
            f"{kind.__name__:<22} {as_time(taken)} of the processor, {grown / 1e6:.2f} MB more than after a tenth  "
            f"target {GROWTH / 1e6:g} MB: {'met' if grown <= GROWTH else 'MISSED'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--queries", type=int, default=QUERIES)
    print(machine("lastbit", "numpy"))
    run(parser.parse_args().queries)


if __name__ == "__main__":
    main()
