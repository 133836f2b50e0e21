"""Every command on docs/rows.md runs as it is written."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lastbit import cli
from lastbit.data.files import paths
from lastbit.data.query.expressions import FUNCTIONS

PAGE = (Path(__file__).parents[2] / "docs" / "rows.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (?:cat (\S+) \| )?lastbit (.+)$", PAGE, re.MULTILINE)


@pytest.fixture
def files(clinic: Path) -> None:
    Path("ventes.txt").write_bytes("client;prix\n1;12,5\n2;\xe9\n".encode("cp1252"))
    Path("words.csv").write_text("word,n\nthe,900\nof,700\n", encoding="utf-8")
    Path("chapters.csv").write_text("diagnosis,chapter\nflu,A\n", encoding="utf-8")
    Path("words.txt").write_text("the\nof\nand\n", encoding="utf-8")


def test_the_commands(files: None, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(COMMANDS) == 14
    for piped, command in COMMANDS:
        if piped:
            monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(Path(piped).read_bytes())))
        assert cli._run(shlex.split(command), debug=False) == 0, (command, capsys.readouterr().err)
        assert capsys.readouterr().out
    while paths._PIPE:
        paths._PIPE.pop().close()


def test_the_refusal(files: None, capsys: Any) -> None:
    said = (
        "lastbit: --where is refused: max looks at all rows. A query sees one row at a time, so that one person "
        "moves only what is theirs. A column of all rows of one person is made with --let, as in --let 'visits = "
        "count(*)'. Nothing was read.\n"
    )
    command = "top visits.csv --where 'cost = max(cost)' --by diagnosis --domain diagnoses.txt --epsilon 1 --dry-run"
    assert cli._run(shlex.split(command), debug=False) == 2
    assert capsys.readouterr().err == said


def test_the_page_names_every_function() -> None:
    second = {"mod", "ceiling", "substr", "prefix", "suffix", "datediff", "datepart", "datetrunc", "date_part"}
    names = {name for name in FUNCTIONS if name[0].isalpha()} - second
    assert names <= set(re.findall(r"`([a-z_]+)`", PAGE))
