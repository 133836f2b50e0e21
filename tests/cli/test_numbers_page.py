"""Every command on the page of counts, sums, means and histograms runs as it is written."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from lastbit import cli

PAGE = Path(__file__).parents[2] / "docs" / "numbers.md"
COMMANDS = re.findall(r"^lastbit (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_commands() -> None:
    assert {command.split()[0] for command in COMMANDS} == {"count", "mean", "sum", "histogram"}
    assert len(COMMANDS) > 15


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command: str, capsys: Any) -> None:
    assert cli._run(shlex.split(command), debug=False) == 0
    assert capsys.readouterr().out
