"""Slips that would be charged are refused where public facts suffice: declared types, and names of tables."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.questions.answer import Payer
from lastbit.questions.kinds import KINDS

COLUMNS = {"patient": ["a", "b", "b"], "cost": ["5", "6", "x"], "age": [20, 30, 40]}
NUMBERS: dict[str, Any] = {"unit": "patient", "bounds": (0, 10), "epsilon": 1}


@pytest.fixture(params=["parquet", "duckdb", "sqlite"])
def declared(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """A table that declares the column cost as text."""
    rows = [*zip(*COLUMNS.values(), strict=True)]
    if request.param == "parquet":
        pq.write_table(pa.table(COLUMNS), tmp_path / "visits.parquet")
        return {"source": str(tmp_path / "visits.parquet")}
    path = str(tmp_path / f"visits.{request.param}")
    if request.param == "sqlite":
        with closing(sqlite3.connect(path)) as books, books:
            books.execute("CREATE TABLE visits (patient TEXT, cost VARCHAR(20), age INTEGER)")
            books.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
        return {"source": path, "table": "visits"}
    connection = duckdb.connect(path)
    connection.execute("CREATE TABLE visits (patient VARCHAR, cost VARCHAR, age INTEGER)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
    connection.close()
    return {"source": path, "table": "visits"}


@pytest.mark.parametrize(
    "where", ["cost > 5", "5 < cost", "cost = 5", "cost between 1 and 2", "cost in (5, 6)", "age > 1 and not cost <> 5"]
)
def test_a_number_is_not_compared_with_a_column_that_is_declared_as_text(declared: dict[str, Any], where: str) -> None:
    with pytest.raises(lb.ParameterError, match="'cost' is declared as text, and --where compares it with a number"):
        lb.ask("count", **declared, unit="patient", where=where, epsilon=1)


@pytest.mark.parametrize("where", ["cost = '5'", "cast(cost as double) > 5", "age > 20", "cost is not null"])
def test_other_conditions_are_taken(declared: dict[str, Any], where: str) -> None:
    assert lb.ask("count", **declared, unit="patient", where=where, epsilon=1).values


def test_a_text_file_declares_no_types(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text("patient,cost\na,5\nb,6\n")
    assert lb.ask("count", path, unit="patient", where="cost > 5", epsilon=1).values


def test_no_mean_of_a_column_that_is_declared_as_text(declared: dict[str, Any]) -> None:
    for where in (None, "age > 0"):
        with pytest.raises(lb.ParameterError, match=r"must (be|hold) numbers"):
            lb.ask("mean", **declared, of="cost", where=where, **NUMBERS)
    sql = "select patient, cast(cost as double) as number from data"
    assert lb.ask("mean", **declared, of="number", sql=sql, **NUMBERS).people is not None


@pytest.mark.parametrize("type_", ["", "NUMERIC", "POINT INT TEXT", "BLOB", "REAL"])
def test_a_column_of_sqlite_that_is_not_declared_as_text_may_hold_numbers(type_: str, tmp_path: Path) -> None:
    path = str(tmp_path / "visits.sqlite")
    with closing(sqlite3.connect(path)) as books, books:
        books.execute(f"CREATE TABLE visits (patient TEXT, cost {type_})")
        books.execute("INSERT INTO visits VALUES ('a', 5)")
    table: dict[str, Any] = {"source": path, "table": "visits"}
    assert lb.ask("count", **table, unit="patient", where="cost > 4", epsilon=1).values
    assert lb.ask("mean", **table, of="cost", **NUMBERS).people is not None


def test_an_account_pays_for_a_table_of_another_name_only_when_told_to(tmp_path: Path) -> None:
    for name in ("may.csv", "june.csv"):
        tmp_path.joinpath(name).write_text("patient\na\nb\n")
    books = str(tmp_path / "books.db")
    lb.Ledger(books).create("clinic", epsilon=10)

    def ask(name: str, **options: Any) -> Any:
        return lb.ask("count", tmp_path / name, unit="patient", epsilon=1, ledger=books, dataset="clinic", **options)

    ask("may.csv")
    with pytest.raises(lb.ParameterError, match=r"has only paid for tables of other names so far.*--new-table, once"):
        ask("june.csv")
    assert lb.Ledger(books).account("clinic").spent == 1
    ask("june.csv", new_table=True)
    ask("june.csv")
    ask("may.csv")
    assert lb.Ledger(books).account("clinic").spent == 4


def test_whoever_asks_a_server_cannot_choose_its_table(tmp_path: Path) -> None:
    """Its owner has named the table once for all, so that nobody else is told to say it again."""
    books = str(tmp_path / "books.db")
    lb.Ledger(books).create("clinic", epsilon=10)
    tmp_path.joinpath("may.csv").write_text("patient\na\nb\n")
    paid = {"unit": "patient", "ledger": books, "dataset": "clinic"}
    lb.ask("count", tmp_path / "may.csv", epsilon=1, **paid)
    june = {**paid, "source": str(tmp_path / "june.csv")}
    for face, refused in (("command", True), ("python", True), ("service", False), ("page", False)):
        if refused:
            request = KINDS["count"].parse({**june, "epsilon": 1}, face)
        else:
            request = KINDS["count"].parse({"epsilon": 1}, face, fixed=june)
        payer = Payer.of(request)
        assert payer is not None
        if refused:
            with pytest.raises(lb.ParameterError, match="has only paid for tables of other names"):
                payer.check_table(request)
        else:
            payer.check_table(request)


def test_a_table_that_is_joined_is_not_the_ledger(tmp_path: Path) -> None:
    tmp_path.joinpath("v.csv").write_text("patient,zip\na,1\n")
    books = tmp_path / "books.db"
    lb.Ledger(books).create("clinic", epsilon=10)
    asked = {"source": str(tmp_path / "v.csv"), "unit": "patient", "epsilon": 1, "on": "zip"}
    for source, joined in ((tmp_path / "v.csv", books), (books, tmp_path / "v.csv")):
        request = KINDS["count"].parse(
            {**asked, "source": str(source), "join": str(joined), "ledger": str(books), "dataset": "clinic"}
        )
        with pytest.raises(lb.ParameterError, match="--ledger must be a file of its own"):
            Payer.of(request)
