"""Every command on the pages of counts, sums, averages, histograms, quantiles and the first release runs as written."""

from __future__ import annotations

import re
import shlex
import tempfile
from pathlib import Path
from typing import Any

import pytest

from lastbit import cli

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^lastbit ((?:.+\\\n)*.+)$", re.MULTILINE)


def commands(name: str) -> list[str]:
    """The commands on a page. One that goes on in the next line is one command."""
    blocks = BLOCK.findall((ROOT / name).read_text(encoding="utf-8"))
    text = "\n".join(block for language, block in blocks if not language)
    return [command.replace("\\\n", " ") for command in COMMAND.findall(text)]


def test_the_pages_have_commands() -> None:
    assert {command.split()[0] for command in commands("docs/numbers.md")} == {
        "count",
        "describe",
        "mean",
        "sum",
        "share",
        "histogram",
    }
    assert len(commands("docs/numbers.md")) > 15
    assert {command.split()[0] for command in commands("docs/quantiles.md")} == {"median", "quantile"}


@pytest.mark.usefixtures("clinic")
@pytest.mark.parametrize("command", [*commands("docs/numbers.md"), *commands("docs/quantiles.md")])
def test_a_command_of_a_page_runs(command: str, capsys: Any) -> None:
    assert cli._run(shlex.split(command), debug=False) == 0
    assert capsys.readouterr().out


def run_in_turn(page: str, names: list[str], capsys: Any) -> None:
    listed = commands(page)
    assert [command.split()[0] for command in listed] == names
    for command in listed:
        assert cli._run(shlex.split(command), debug=False) == 0, (command, capsys.readouterr().err)


@pytest.mark.usefixtures("clinic")
def test_the_commands_of_the_readme_run_one_after_the_other(capsys: Any) -> None:
    run_in_turn("README.md", ["budget", "top"], capsys)


def test_the_commands_of_the_tutorial_run_on_the_file_that_its_cells_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "mkdtemp", lambda: str(tmp_path))
    blocks = BLOCK.findall((ROOT / "docs/first-release.md").read_text(encoding="utf-8"))
    exec("".join(block for language, block in blocks if language == "{code-cell}"), {})
    run_in_turn("docs/first-release.md", ["plan", "budget", "top", "mean"], capsys)
    assert Path("top.png").read_bytes().startswith(b"\x89PNG")
