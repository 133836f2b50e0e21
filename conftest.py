"""What this machine lacks to run every test is said at the end of each run: fewer tests must not pass for all."""

from __future__ import annotations

from typing import Any

from tests.machine import missing


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for lack in missing():
        terminalreporter.write_line(f"NOT TESTED HERE: {lack}", red=True, bold=True)
