"""The table of the grammar names options and questions that there are, in the help and on the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.grammar import GRAMMAR, list_grammar, tabulate_grammar
from lastbit.questions.kinds import KINDS

DOCS = Path(__file__).parents[2] / "docs"


def test_every_word_of_the_table_is_a_question_or_an_option() -> None:
    flags = {option.flag for kind in KINDS.values() for option in kind.options}
    for options, _ in GRAMMAR.values():
        assert set(options.split()) <= flags
    assert set(GRAMMAR["what"][1].split(", ")) <= KINDS.keys()
    grouped = [kind for kind in KINDS.values() if any(option.name == "domain" for option in kind.options)]
    by_what = {flag.removeprefix("--") for flag in GRAMMAR["by what"][0].split()} - {"discover", "others"}
    for kind in grouped:
        asked = by_what - ({"missing"} if kind.name == "share" else set())  # a condition is true of a row, or is not
        assert asked <= {option.name for option in kind.options}, kind.name


def test_the_help_and_the_page_show_the_table(capsys: Any) -> None:
    assert cli._run(["--help"], debug=False) == 0
    shown = " ".join(capsys.readouterr().out.split())
    for line in list_grammar().splitlines():
        assert " ".join(line.split()) in shown
    assert tabulate_grammar() in (DOCS / "command.md").read_text("utf-8")


@pytest.mark.parametrize("kind", ["mean", "sum", "median", "quantile"])
def test_rows_without_a_group_are_a_group_of_numbers_too(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    rows = [f"{i},{('a', 'b', '')[i % 3]},{10 * (i % 3)}" for i in range(300)]
    file.write_text("\n".join(["who,ward,cost", *rows]), encoding="utf-8")
    more = {"at": "0.5"} if kind == "quantile" else {}
    asked = {"unit": "who", "of": "cost", "bounds": (0, 20), "epsilon": 1000, **more}
    answer = lb.ask(kind, file, **asked, by="ward", domain="a,b", missing="show")
    assert answer.data["groups" if kind in ("mean", "sum") else "item"] is not None
    assert "(missing)" in repr(answer)
    with pytest.raises(lb.ParameterError, match="is for groups"):
        lb.ask(kind, file, **asked, missing="show")
