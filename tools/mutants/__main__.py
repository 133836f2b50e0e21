"""`make mutants`: put each declared fault into a copy of the tree, run its tests, and report which ones they notice."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence, Set
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from queue import Queue

from tools.mutants.declared import FOLDER, TREE, Mutant, changed_files, read_mutants, rooms
from tools.mutants.workshop import PATIENCE, Outcome, Workshop


def run(mutants: Sequence[Mutant], tree: Path = TREE, jobs: int = 2) -> int:
    """Try all mutants, print a line each, and return the number that fail: unnoticed, misfit, or wrongly explained."""
    misfits = [f"{mutant.room}: {mutant.name}: {why}" for mutant in mutants for why in mutant.misfits(tree)]
    if misfits:
        print(*misfits, sep="\n")
        return len(misfits)
    shops: Queue[Workshop] = Queue()
    with ExitStack() as stack:
        for _ in range(min(jobs, len(mutants))):
            shops.put(stack.enter_context(Workshop(tree)))
        return _try_all(mutants, shops, jobs)


def choose_changed(mutants: Sequence[Mutant], files: Set[str]) -> Sequence[Mutant]:
    """Return the mutants of changed code, and those whose tests were changed; all of them where there are none."""
    own = [mutant for mutant in mutants if files & {mutant.file, *(test.partition("::")[0] for test in mutant.tests)}]
    if own:
        print(f"== {len(own)} of {len(mutants)} mutants are of files that were changed; --all runs all")
    return own or mutants


def _try_all(mutants: Sequence[Mutant], shops: Queue[Workshop], jobs: int) -> int:
    """Try the tests without a fault, and every mutant, in some workshop each."""
    tests = sorted({test for mutant in mutants for test in mutant.tests})
    print(f"== the tests without a fault ({len(tests)} names), and {len(mutants)} mutants", flush=True)

    def test_faultless() -> bool:
        shop = shops.get()
        try:
            done = shop.run(tests, patience=PATIENCE * len(tests))
        finally:
            shops.put(shop)
        if done.failed:
            print("The tests fail without any fault, so they show nothing:", done.text, sep="\n", flush=True)
        else:
            print("== the tests pass without a fault", flush=True)
        return done.failed

    def trial(mutant: Mutant) -> Outcome:
        shop = shops.get()
        try:
            return shop.try_mutant(mutant)
        finally:
            shops.put(shop)

    verdicts: list[tuple[Mutant, str, float]] = []
    start = time.monotonic()
    width = max(len(mutant.name) for mutant in mutants)
    with ThreadPoolExecutor(jobs) as pool:
        faultless = pool.submit(test_faultless)
        trials = {pool.submit(trial, mutant): mutant for mutant in mutants}
        for future in as_completed(trials):
            mutant, outcome = trials[future], future.result()
            verdict, remark = _judge(mutant, outcome)
            took = f"{outcome.seconds:5.1f} s"
            print(f"{mutant.room:<11} {mutant.name:<{width}}  {took}  {outcome.kind:<9} {remark}".rstrip(), flush=True)
            verdicts.append((mutant, verdict, outcome.seconds))
    for room in dict.fromkeys(mutant.room for mutant in mutants):
        print(_count_verdicts(room, [verdict for verdict in verdicts if verdict[0].room == room]))
    print(f"{_count_verdicts('all', verdicts)}, {time.monotonic() - start:.0f} s with {jobs} side by side")
    return sum(verdict == "wrong" for _, verdict, _ in verdicts) + faultless.result()


def _count_verdicts(name: str, verdicts: Sequence[tuple[Mutant, str, float]]) -> str:
    """Return how many mutants of a room were killed, explained and wrong, in one line."""
    kinds = [verdict for _, verdict, _ in verdicts]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("killed", "explained", "wrong"))
    return f"{name}: {len(kinds)} mutants: {counts}; {sum(seconds for *_, seconds in verdicts):.0f} s"


def _judge(mutant: Mutant, outcome: Outcome) -> tuple[str, str]:
    """Return the verdict on an outcome (killed, explained or wrong), and a remark on it."""
    if outcome.kind == "no code":
        return "wrong", "DOES NOT COMPILE"
    if outcome.kind == "killed":
        if mutant.survives:
            return "wrong", "NOTICED, although its explanation says that no test can"
        return "killed", f"by {outcome.by}" if outcome.by else ""
    return ("explained", "explained") if mutant.survives else ("wrong", "NOT NOTICED")


def main() -> int:
    """Read the options, and run the mutants of one room, of the files that were changed, or of all."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__)
    parser.add_argument(
        "--only", metavar="ROOM", choices=rooms(), help="the mutants of one room: " + ", ".join(rooms())
    )
    parser.add_argument("--named", default="", help="only mutants whose name holds this text")
    parser.add_argument("--jobs", type=int, default=2, help="how many run side by side, each in a copy of the tree")
    parser.add_argument("--all", action="store_true", help="all mutants, also where files were changed")
    options = parser.parse_args()
    chosen_rooms = [options.only] if options.only else rooms(FOLDER)
    mutants = [mutant for room in chosen_rooms for mutant in read_mutants(room) if options.named in mutant.name]
    if not mutants:
        parser.error("no mutant has such a name")
    if not (options.only or options.named or options.all):
        mutants = choose_changed(mutants, changed_files(TREE))
    return 1 if run(mutants, jobs=options.jobs) else 0


if __name__ == "__main__":
    sys.exit(main())
