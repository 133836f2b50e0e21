"""Which worker of pytest-xdist takes which tests: whole files or whole groups, the longest first.

What the tests of a file share is built once then, and not by each worker; and no worker is left with a long file at the
end, while the others have nothing to do.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadGroupScheduling

LONGEST = (
    "web",
    "spark",
    "tests/truth/test_truth.py",
    "tests/ledger/test_faults.py",
    "tests/publication/test_run.py",
    "tests/publication/test_faults.py",
    "tests/ledger/test_processes.py",
    "tests/truth/test_exact_coverage.py",
    "tests/truth/test_sentences.py",
    "tests/data/test_long_texts.py",
    "tests/stability/test_files.py",
    "gallery",
    "tests/laws/test_corners.py",
    "tests/stability/test_tables.py",
    "tests/questions/test_wrong_values.py",
    "tests/stability/test_near_keys.py",
    "tests/stability/test_unlisted.py",
    "tests/stability/test_person_rows.py",
    "tests/cli/test_lost_output.py",
    "tests/ledger/test_file_names.py",
)
"""The files and groups that take longest, by the clock. The others follow, those with the most tests first."""


class FileScheduling(LoadGroupScheduling):
    """Gives a worker all tests of a file, or of a group where they have one."""

    def _split_scope(self, nodeid: str) -> str:
        return super()._split_scope(nodeid).partition("::")[0]

    def _assign_work_unit(self, node: Any) -> None:
        longest = next((name for name in LONGEST if name in self.workqueue), None)
        if longest is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
