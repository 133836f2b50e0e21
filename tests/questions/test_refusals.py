"""What is refused is said in the words of whoever asks, and months that no column of days has are noticed."""

from __future__ import annotations

import datetime
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.kinds import KINDS


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    days = [datetime.date(2024, 1 + place % 12, 5) for place in range(60)]
    frame = pd.DataFrame({"patient": range(60), "date": days, "at": pd.to_datetime(days), "cost": 5})
    frame.to_parquet("visits.parquet", index=False)
    frame.to_csv("visits.csv", index=False)
    return frame


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("median --of cost --bounds 9 0", "--bounds must rise: got lower 9 and upper 0. Write --bounds LOWER UPPER."),
        ("quantile --of cost --at 2 --bounds 0 9", "--at must be from 0 to 1: got 2."),
        ("quantile --of cost --at 0.5,0.5 --bounds 0 9", "--at must rise, and no two may be equal"),
        ("quantile --of cost --at 1/3,1/16777217 --bounds 0 9", "--at must have a denominator"),
        ("sum --of cost --bounds 0 9 --resolution 7", "Use --resolution 1."),
        ("histogram --of cost --bins 3", "Write --bounds 0 100 --bins 10, or --edges 0,18,65."),
    ],
)
def test_the_command_speaks_of_its_options(command: str, message: str, capsys: Any) -> None:
    kind, *options = shlex.split(command)
    assert cli._run([kind, "visits.csv", "--unit", "patient", *options, "--epsilon", "1"], debug=False) == 2
    said = capsys.readouterr().err
    assert message in said
    assert not any(word in said for word in ("bounds=", "resolution=", "edges=", "qs ", " q "))


ASKED: dict[str, Any] = {"unit": "patient", "epsilon": 1, "domain": "2024-01..2024-12"}


@pytest.mark.parametrize(("column", "holds"), [("date", "dates"), ("at", "times")])
@pytest.mark.parametrize("bound", [{}, {"one_each": True}])
def test_months_of_a_column_that_declares_dates_are_refused(
    visits: pd.DataFrame, column: str, holds: str, bound: Any
) -> None:
    for source in ("visits.parquet", *([visits] if column == "at" else [])):
        with pytest.raises(
            lb.ParameterError, match=f"'{column}' holds {holds}, and --domain lists months: write --month"
        ):
            lb.ask("count", source, by=column, **ASKED, **bound)
    with pytest.raises(lb.ParameterError, match=f"write --month {column} too"):
        lb.ask("mean", "visits.parquet", by=column, of="cost", bounds=(0, 9), **ASKED)
    assert lb.ask("count", "visits.parquet", month=column, **ASKED).title == "People by month"


def test_months_of_a_column_of_texts_are_said() -> None:
    def notes(**options: Any) -> list[str]:
        request = KINDS["count"].parse({"source": "visits.csv", **ASKED, **options})
        return [note for note in request.question.notes if "The listed groups" in note]

    assert notes(by="date") == [
        "The listed groups of date are months: where date has days or times, --month date reads them as months."
    ]
    assert notes(by="date", domain="2024-W01..2024-W05")[0].endswith("--week date reads them as weeks.")
    assert notes(by="date", domain="2024-01-01..2024-01-05")[0].endswith("--day date reads them as days.")
    for silent in (
        {"month": "date"},
        {"by": "month"},
        {"by": "substr(date, 1, 7) as period"},
        {"by": "date", "sql": "select *, substr(day, 1, 7) as date from visits"},
        {"by": "date", "domain": "2024..2026"},
        {"by": "date", "domain": "winter,2024-01"},
    ):
        assert notes(**silent) == []
