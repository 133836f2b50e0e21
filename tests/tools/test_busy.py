"""Tests that wait for something are run on a busy machine too: whoever adds one lists it, or says why not."""

import re

from tools.busy import TESTS
from tools.mutants.declared import TREE

WAITS = re.compile(
    r"threading\.|Barrier\(|\bsleep\(|\.wait\(\d|processes\.start\(|socket\.(socket|create_connection)\(|os\.fork\("
    r"|os\.kill\(|signal\.alarm\(|resource\.setrlimit\("
)
ELSEWHERE = {
    "tests/data/spark/test_retries.py": "a cluster of its own: make fuzz",
    "tests/mechanisms/test_private_search.py": "a lock that cannot be copied: nothing waits for it",
    "tests/mechanisms/test_tick.py": "a clock of its own, which sleeps for nobody",
    "tests/tools/test_busy.py": "this one",
    "tests/tools/test_processes.py": "it reads how others start programs",
    "tests/web/test_way.py": "a browser, which waits ten minutes for what the page shows",
}


def test_whatever_waits_is_run_on_a_busy_machine() -> None:
    paths = [path for path in TREE.glob("tests/**/test_*.py") if WAITS.search(path.read_text())]
    waiting = {path.relative_to(TREE).as_posix() for path in paths}
    assert waiting - {*TESTS} - ELSEWHERE.keys() == set()
    assert [test for test in (*TESTS, *ELSEWHERE) if not (TREE / test).exists()] == []
