"""`make busy`: run the tests that wait for something ten times on one core, beside three loops that do nothing.

A test that expects an event within a time fails on such a machine, and one that waits for an event which was over
before hangs. `python -m tools.busy --rounds 10 --loops 3 --jobs 1 [tests …]` takes other numbers, and other tests.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

PATIENCE = 1800
"""After so many seconds in one test, every thread says where it is."""

TESTS = (
    "tests/chance/test_parallel.py",
    "tests/chance/test_system_bits.py",
    "tests/cli/test_accuracy.py",
    "tests/cli/test_budget.py",
    "tests/cli/test_hostile_input.py",
    "tests/cli/test_lost_output.py",
    "tests/cli/test_watch.py",
    "tests/ledger/test_connections.py",
    "tests/ledger/test_durability.py",
    "tests/ledger/test_faults.py",
    "tests/ledger/test_file_names.py",
    "tests/ledger/test_garbage_collection.py",
    "tests/ledger/test_payment_keys.py",
    "tests/ledger/test_processes.py",
    "tests/ledger/test_refunds.py",
    "tests/ledger/test_verify.py",
    "tests/ledger/test_witness.py",
    "tests/mechanisms/test_sparse_vector.py",
    "tests/publication/test_faults.py",
    "tests/publication/test_run.py",
    "tests/questions/test_domains.py",
    "tests/questions/test_presentation.py",
    "tests/web/test_attacks.py",
    "tests/web/test_books.py",
    "tests/web/test_connections.py",
    "tests/web/test_display.py",
    "tests/web/test_guard.py",
    "tests/web/test_kills.py",
    "tests/web/test_memory.py",
    "tests/web/test_rights.py",
    "tests/web/test_service.py",
    "tests/web/test_tokens.py",
    "tests/web/test_workers.py",
)
"""The tests that start threads, connections, servers or processes, and wait for them."""


@contextmanager
def loops(count: int) -> Iterator[None]:
    """Keep so many processes busy."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for each in running:
            each.kill()
            each.wait()


def run_round(tests: Sequence[str]) -> tuple[int, float, str]:
    """Run all tests, and return the exit code of pytest, the seconds, and what it printed."""
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "-n", "0", "-p", "no:cacheprovider", "--durations=5"]
    start = time.monotonic()
    done = subprocess.run(
        [*command, "-o", f"faulthandler_timeout={PATIENCE}", *tests], text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    return done.returncode, time.monotonic() - start, done.stdout


def main() -> int:
    """Run the rounds, print a line each, and return how many failed."""
    parser = argparse.ArgumentParser(prog="python -m tools.busy", description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--loops", type=int, default=3, help="processes that take the core away")
    parser.add_argument(
        "--jobs", type=int, default=1, help="rounds side by side: they take the core from each other too"
    )
    parser.add_argument("tests", nargs="*", default=TESTS)
    options = parser.parse_args()
    os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
    failed = 0
    with loops(options.loops), ThreadPoolExecutor(options.jobs) as pool:
        rounds = [pool.submit(run_round, options.tests) for _ in range(options.rounds)]
        for place, future in enumerate(rounds, 1):
            code, seconds, text = future.result()
            last = next(
                (line for line in reversed(text.splitlines()) if re.search(r"\d (passed|failed|error)", line)), text
            )
            print(f"round {place} of {len(rounds)}: {last} ({seconds:.0f} s)", flush=True)
            if code:
                failed += 1
                print(text, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
