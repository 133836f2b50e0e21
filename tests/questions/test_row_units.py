"""`--unit row` says that rows are people, and every answer says so. Without a unit every question is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.errors import ParameterError
from lastbit.publication.certificate import describe_options, rebuild_request
from lastbit.questions.answer import protects_of
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.row_options import RowOptions
from lastbit.questions.row_units import settle_unit
from lastbit.web.desk import Desk

EACH_ROW = "Each row was taken for one person."

ITEMS = {"by": "ward", "domain": ["a", "b"]}
REFUSAL = r"--unit must say who is protected: got none\..* write --unit row\. Nothing was read and nothing was charged"
NUMBERS = {"of": "cost", "bounds": [0, 10]}
ASKED: dict[str, dict[str, Any]] = {
    "top": {**ITEMS, "k": 1},
    "above": {**ITEMS, "threshold": 1},
    "choose": ITEMS,
    "measure": {**ITEMS, "k": 1},
    "histogram": ITEMS,
    "count": {},
    "share": {"of": "cost >= 2"},
    "sum": NUMBERS,
    "mean": NUMBERS,
    "median": NUMBERS,
    "quantile": {**NUMBERS, "at": 0.5},
    "tables": {**ITEMS, "delta": "1e-6"},
}


@pytest.fixture
def visits(tmp_path: Path) -> str:
    file = tmp_path / "visits.csv"
    file.write_text("patient,ward,cost\n" + "".join(f"{n},{'ab'[n % 2]},{n % 9}\n" for n in range(50)))
    return str(file)


def test_every_kind_is_here() -> None:
    assert KINDS.keys() - ASKED.keys() == {"describe"}  # which speaks of people, and needs a column of them


@pytest.mark.parametrize("kind", [kind for kind in ASKED if kind in KINDS])
def test_a_row_is_a_person_in_every_kind(kind: str, visits: str) -> None:
    options = {"source": visits, **ASKED[kind], "epsilon": 1}
    plain, insisted = (KINDS[kind].parse({**options, **unit}) for unit in ({}, {"unit": "row"}))
    assert insisted.rows.unit is None
    assert "--unit row" in insisted.command
    assert "--unit" not in plain.command
    answer = lb.ask(kind, visits, **ASKED[kind], epsilon=1, unit="row")
    assert EACH_ROW in answer.report.notes
    with pytest.raises(ParameterError, match=REFUSAL):
        lb.ask(kind, visits, **ASKED[kind], epsilon=1)
    with pytest.raises(ParameterError, match=REFUSAL):
        _ = KINDS[kind].parse_plan(options).question
    _ = KINDS[kind].parse_plan({**ASKED[kind], "epsilon": 1}).question


def test_the_command_says_it_once_and_names_it_where_nobody_did(visits: str, capsys: Any) -> None:
    assert cli._run(["count", visits, "--unit", "row", "--epsilon", "1"], debug=False) == 0
    shown = capsys.readouterr()
    assert shown.out.count(EACH_ROW) == 1
    numbers = ["--of", "cost", "--bounds", "0", "10"]
    for more in ([], ["--dry-run"]):
        assert cli._run(["sum", visits, *numbers, "--epsilon", "1", *more], debug=False) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert re.search(REFUSAL, shown.err)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_rows_are_counted_whatever_they_hold(ending: str, tmp_path: Path) -> None:
    frame, file = pd.DataFrame({"ward": ["a", None, "b"] * 300}), str(tmp_path / f"visits.{ending}")
    if ending == "csv":
        file_text = "ward,cost\n" + "a,1\n,\nb,2\n" * 300
        Path(file).write_text(file_text)
    elif ending == "parquet":
        frame.to_parquet(file)
    else:
        frame.to_json(file, orient="records", lines=True)
    assert lb.ask("count", file, unit="row", epsilon=100).values[0] == 900
    where = lb.ask("count", file, unit="row", where="ward = 'a'", epsilon=100)
    assert where.values[0] == 300
    with pytest.raises(ParameterError, match="leave --sql out"):
        lb.ask("count", file, unit="row", sql="select ward from visits", epsilon=1)
    with pytest.raises(ParameterError, match="leave --rows and --most-rows out"):
        lb.ask("count", file, unit="row", rows=True, most_rows=2, epsilon=1)


def test_a_plan_says_it(capsys: Any) -> None:
    assert cli._run(["plan", "count", "--unit", "row", "--epsilon", "1"], debug=False) == 0
    assert EACH_ROW in capsys.readouterr().out


def test_a_column_of_this_name_is_the_unit(tmp_path: Path) -> None:
    file = tmp_path / "seats.csv"
    file.write_text("row,seat\n" + "1,a\n" * 900)
    for options in ({}, {"sql": "select * from seats"}):
        request = KINDS["count"].parse({"source": str(file), "unit": "row", "epsilon": 1, **options})
        assert (request.rows.unit, request.each_row) == ("row", False)
    query = KINDS["count"].parse({"source": str(file), "unit": "row", "epsilon": 1, "sql": "select seat from seats"})
    assert (query.rows.unit, query.each_row) == (None, True)
    release = lb.ask("count", str(file), unit="row", epsilon=5)
    assert release.values[0] < 100  # one person of 900 rows


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_rows_of_a_frame_are_counted(library: Any) -> None:
    rows = library({"ward": ["a", None, "b"] * 300, "cost": [1, 2, None] * 300})
    assert lb.ask("count", rows, unit="row", epsilon=100).values[0] == 900
    assert lb.ask("count", rows, unit="row", where="cost = 1", epsilon=100).values[0] == 300
    answer = lb.ask("mean", rows, unit="row", of="cost", bounds=(0, 10), epsilon=1)
    assert EACH_ROW in answer.report.notes
    seats = library({"row": [1] * 900})
    assert lb.ask("count", seats, unit="row", epsilon=100).values[0] == 1


def test_a_frame_with_a_column_of_this_name_is_asked_about_it() -> None:
    frame = pd.DataFrame({"row": [1] * 900, "ward": ["a"] * 900})
    by_column = lb.ask("tables", frame, unit="row", rho=5, **ITEMS)
    assert EACH_ROW not in by_column.report.notes
    assert EACH_ROW in lb.ask("tables", frame[["ward"]], unit="row", rho=5, **ITEMS).report.notes


def test_a_certificate_keeps_a_column_of_this_name_apart() -> None:
    insisted = KINDS["count"].parse({"source": "-", "unit": "row", "epsilon": 1})
    for request in (insisted, settle_unit(insisted, lambda: ["row"])):
        again = rebuild_request("count", describe_options(request))
        assert (again.rows.unit, again.each_row) == (request.rows.unit, request.each_row)


def test_counts_take_no_unit(visits: str) -> None:
    with pytest.raises(ParameterError, match="--counts and --unit"):
        _ = KINDS["top"].parse({"source": visits, "unit": "row", "counts": "cost", **ITEMS, "epsilon": 1}).items


def test_a_server_takes_rows_for_people(visits: str, tmp_path: Path) -> None:
    desk = Desk(RowOptions(source=(visits,), unit="row"), str(tmp_path / "books.db"), "clinic")
    assert desk.unit == ()
    request = desk.parse("count", {"epsilon": "1"}, "service")
    assert request.each_row
    assert EACH_ROW in request.question.notes
    nobody = Desk(RowOptions(source=(visits,)), desk.ledger_place, "clinic")
    with pytest.raises(ParameterError, match=REFUSAL):
        _ = nobody.parse("count", {"epsilon": "1"}, "service").question


def test_no_server_starts_without_a_unit(visits: str, tmp_path: Path, capsys: Any) -> None:
    books = str(tmp_path / "books.db")
    lb.Ledger(books).create("clinic", epsilon=1)
    words = ["serve", visits, "--ledger", books, "--dataset", "clinic", "--no-open", "--port", "0"]
    assert cli._run(words, debug=False) == 2
    assert re.search(REFUSAL, capsys.readouterr().err)


def test_k_is_another_spelling_of_limit(visits: str) -> None:
    options = {"source": visits, "unit": "patient", **ITEMS, "threshold": 1, "epsilon": 1}
    limit, k = (KINDS["above"].parse({**options, name: 2}) for name in ("limit", "k"))
    assert identity_of(limit) == identity_of(k)
    assert limit.question.mechanism == k.question.mechanism
    assert k.command.endswith("--limit 2")
    assert KINDS["above"].parse_plan({"threshold": 1, "epsilon": 1, "k": 2})["limit"] == 2
    with pytest.raises(ParameterError, match="-k is another spelling of --limit: got 3 and 2"):
        KINDS["above"].parse({**options, "limit": 2, "k": 3})


def test_the_books_know_whether_people_or_rows_are_protected() -> None:
    for unit, protects in (("patient", "person"), ("row", "row")):
        request = KINDS["count"].parse({"source": "t.csv", "unit": unit, "epsilon": 1})
        assert protects_of(request) == protects
