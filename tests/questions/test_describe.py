"""What a description shows of few people: no number that says nothing about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli

ASKED: dict[str, Any] = {"unit": "who", "numbers": "cost", "dates": "day", "epsilon": 1}


@pytest.mark.parametrize("rows", [[], ["p1,n/a,2024-01-01", "p2,,soon"], ["p1,3,2024-01-01", "p1,4,2024-01-02"]])
def test_quartiles_of_few_people_are_not_shown(rows: list[str], tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("\n".join(["who,cost,day", *rows]))
    release = lb.ask("describe", str(path), **ASKED)
    assert {value for entry in release.report.data["described"] for value in entry["quartiles"]} == {None}
    assert set(release.report.data["rows_per_person"].values()) == {None}
    assert list(release.report.columns["median"]) == ["too few to say"] * 3
    assert any(note.startswith("Too few to say: ") for note in release.report.notes)
    (panel,) = release.report.panels
    assert panel.labels == ["all people"]


def test_quartiles_of_many_people_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("who,cost,day\n" + "".join(f"p{place},{place},2024-01-01\n" for place in range(900)))
    release = lb.ask("describe", str(path), **{**ASKED, "epsilon": 9})
    lower, median, upper = release.report.data["described"][0]["quartiles"]
    assert 150 < lower < 300 < median < 600 < upper < 750
    assert "Too few" not in " ".join(release.report.notes)
    assert [str(label) for label in release.report.panels[0].labels] == ["25%", "50%", "75%"]


def test_the_command_prints_how_it_shares_the_cost_before_it_reads(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "v.csv"
    path.write_text("who,cost\n" + "".join(f"p{place},{place}\n" for place in range(100)))
    ledger = str(tmp_path / "books.db")
    lb.Ledger(ledger).create("clinic", epsilon=1)
    words = ["describe", str(path), "--unit", "who", "--numbers", "cost", "--epsilon", "1", "--json"]
    words += ["--ledger", ledger, "--dataset", "clinic"]
    assert cli._run(words, debug=False) == 0
    answer, notes = capsys.readouterr()
    assert answer.startswith('{"')
    lines = [line.split()[:2] for line in notes.splitlines()]
    assert lines[1] == ["part", "share"]
    assert [line[0] for line in lines[2:4]] == ["people", "rows"]
    assert ["cost:", "quartiles"] in lines
    # What the books have already is not planned again.
    assert cli._run([*words, "--reuse"], debug=False) == 0
    assert "share of the cost" not in capsys.readouterr().err
