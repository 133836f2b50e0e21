"""Ledgers of older versions, as those versions wrote them, open and go on: on both databases."""

from __future__ import annotations

import sqlite3
from fractions import Fraction
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit.ledger import store
from lastbit.ledger.price import Price
from tests.ledger.test_verify import OLD_TABLES, change

VERSION_2 = """
CREATE TABLE lastbit_schema (version INTEGER NOT NULL);
INSERT INTO lastbit_schema VALUES (2);
CREATE TABLE lastbit_accounts (
    dataset TEXT NOT NULL, budget TEXT NOT NULL, spent TEXT NOT NULL, adjacency TEXT NOT NULL, digest TEXT NOT NULL,
    PRIMARY KEY (dataset)
);
INSERT INTO lastbit_accounts VALUES
    ('clinic', '4', '10/21', 'add-remove', 'd761cfb2a7520b9319822475317268a27413ec072bb23765218c99e91e222e4e'),
    ('survey', '2', '5182419497180051/9007199254740992', 'replace',
     '65189a6a8e0a4c9dba0e33dae9b458f465a0447993387a496ca3bd4ddee02494');
CREATE TABLE lastbit_entries (
    id {serial}, dataset TEXT NOT NULL, kind TEXT NOT NULL, time TEXT NOT NULL, mechanism TEXT NOT NULL,
    parameters TEXT NOT NULL, cost TEXT NOT NULL, amount TEXT NOT NULL, note TEXT NOT NULL, released TEXT,
    adjacency TEXT NOT NULL, digest TEXT NOT NULL, FOREIGN KEY (dataset) REFERENCES lastbit_accounts (dataset)
);
INSERT INTO lastbit_entries
    (dataset, kind, time, mechanism, parameters, cost, amount, note, released, adjacency, digest) VALUES
    ('clinic', 'create', '2026-11-16T18:24:41.564297+00:00', '', '{{}}', '', '3', '2026', NULL, 'add-remove',
     '4b8d51944748f4c3b06278d4e06f9900a7844f2b78587bc94fa50ec5441592de'),
    ('clinic', 'charge', '2026-11-16T18:24:41.615526+00:00', 'NoisyTopK',
     '{{"epsilon": "1/7", "sensitivity": "1", "resolution": "1/10", "k": "1", "monotone": "True"}}', 'epsilon 1/7',
     '1/7', 'weekly ''report''', '2026-11-16T18:24:41.641686+00:00', 'add-remove',
     '0bce2b61edfb401d621d657fef594bf6a2099e29747755477f895ba0c5ab15d3'),
    ('survey', 'create', '2026-11-16T18:24:41.646548+00:00', '', '{{}}', '', '2', '', NULL, 'replace',
     'edd4a20c35b11a48439719ce0f105349db8f1c30b41183b63fa9bf3380051d22'),
    ('survey', 'charge', '2026-11-16T18:24:41.666421+00:00', 'DiscreteLaplace',
     '{{"eta": "Eta(x=3, y=2, z=1)", "sensitivity": "1", "resolution": "1"}}', 'eta (3, 2, 1)',
     '5182419497180051/9007199254740992', '', '2026-11-16T18:24:41.672998+00:00', 'add-remove',
     '65189a6a8e0a4c9dba0e33dae9b458f465a0447993387a496ca3bd4ddee02494'),
    ('clinic', 'raise', '2026-11-16T18:24:41.676517+00:00', '', '{{}}', '', '4', 'the board said so', NULL,
     'add-remove', 'bfa14a45b35bce80fdcee8faaa30d07783c69784b6b637b794e00a35038efec2'),
    ('clinic', 'charge', '2026-11-16T18:24:41.681689+00:00', 'DiscreteLaplace',
     '{{"epsilon": "1/3", "sensitivity": "1", "resolution": "1"}}', 'epsilon 1/3', '1/3', '', NULL, 'add-remove',
     'd761cfb2a7520b9319822475317268a27413ec072bb23765218c99e91e222e4e');
"""


def by_hand(place: str, statements: str) -> None:
    """Run statements without lastbit, on either database."""
    if "://" in place:
        with psycopg.connect(place, autocommit=True) as server:
            server.execute(statements.format(serial="SERIAL PRIMARY KEY"))  # type: ignore[arg-type]
    else:
        with sqlite3.connect(place) as file:
            file.executescript(statements.format(serial="INTEGER NOT NULL PRIMARY KEY"))
        file.close()


@pytest.fixture
def second(place: str) -> str:
    """A ledger as the second version wrote it."""
    by_hand(place, VERSION_2)
    return place


def test_a_ledger_of_version_2_keeps_its_digests_and_goes_on(second: str) -> None:
    ledger = lb.Ledger(second, verify=True)
    clinic, survey = ledger.accounts()
    assert (clinic.limit, clinic.spent, clinic.currency) == (4, Fraction(10, 21), "epsilon")
    assert (survey.limit, survey.adjacency) == (2, "replace")
    assert clinic.digest == "d761cfb2a7520b9319822475317268a27413ec072bb23765218c99e91e222e4e"
    assert clinic.spent_rho == Price.before_rho(Fraction(1, 7)).rho + Price.before_rho(Fraction(1, 3)).rho
    assert [entry.epsilon for entry in ledger.history("clinic")] == [None, Fraction(1, 7), None, Fraction(1, 3)]
    assert [entry.published for entry in ledger.history("clinic")] == [None] * 4
    ledger.release("clinic", lb.DiscreteLaplace(epsilon="11/21"), [1], query="more")
    ledger.raise_limit("clinic", epsilon=5)
    ledger.create("school", rho=1)
    assert ledger.account("clinic").remaining == 4
    assert ledger.verify(expected=clinic.digest) == ledger.verify(expected=survey.digest) == ()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE lastbit_entries SET terms = '{}' WHERE id = 2",
        'UPDATE lastbit_entries SET terms = \'{"delta": "0", "epsilon": "1/7", "rho": "1/98"}\' WHERE id = 2',
        "UPDATE lastbit_entries SET question = 'which' WHERE id = 2",
        "UPDATE lastbit_entries SET amount = '1/70' WHERE id = 2",
        "UPDATE lastbit_entries SET published = '{}' WHERE id = 2",
        "UPDATE lastbit_accounts SET spent_rho = '0' WHERE dataset = 'clinic'",
        "UPDATE lastbit_entries SET terms = '' WHERE id = 7",
    ],
)
def test_nothing_is_added_to_old_entries_or_taken_from_new_ones_unnoticed(second: str, statement: str) -> None:
    ledger = lb.Ledger(second)
    ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/9"), [1])
    assert ledger.verify() == ()
    with store.Store(second).transaction() as books:
        books.exec_driver_sql(statement)
    assert ledger.verify() != ()


@pytest.mark.parametrize("tables", [OLD_TABLES, VERSION_2], ids=["version 1", "version 2"])
def test_an_older_lastbit_that_still_writes_fails(place: str, tables: str) -> None:
    """In PostgreSQL it may have looked at the version before the migration. No column of text has a default then."""
    if "://" not in place:
        return  # SQLite holds the file from the look at the version to the last write
    by_hand(place, tables)
    lb.Ledger(place).accounts()
    with psycopg.connect(place, autocommit=True) as server:
        defaults = server.execute(
            "select table_name, column_name from information_schema.columns "
            "where table_name like 'lastbit_%' and column_default is not null"
        ).fetchall()
        assert defaults == [("lastbit_entries", "id")]
        must = server.execute(
            "select column_name from information_schema.columns where table_name like 'lastbit_%' "
            "and is_nullable = 'YES' order by column_name"
        ).fetchall()
        assert must == [("published",), ("published_digest",), ("released",)]
        old_columns = "dataset, kind, time, mechanism, parameters, cost, amount, note, adjacency, digest"
        with pytest.raises(psycopg.errors.NotNullViolation):
            server.execute(
                f"insert into lastbit_entries ({old_columns}) "
                "values ('clinic', 'charge', '', '', '', '', '1', '', '', '')"
            )
    assert lb.Ledger(place).verify() == ()


def columns(place: str) -> dict[str, list[Any]]:
    with store.Store(place).transaction() as books:
        looked = sa.inspect(books)
        return {
            table: [(each["name"], str(each["type"]), each["nullable"]) for each in looked.get_columns(table)]
            for table in ("lastbit_accounts", "lastbit_entries")
        }


def test_old_tables_become_the_tables_of_a_new_ledger(place: str, tmp_path: Any) -> None:
    lb.Ledger(tmp_path / "new.db").create("clinic", epsilon=1)
    by_hand(place, VERSION_2)
    lb.Ledger(place).accounts()
    assert columns(place) == columns(str(tmp_path / "new.db"))


def test_a_version_set_back_is_noticed(second: str) -> None:
    ledger = lb.Ledger(second)
    ledger.accounts()
    change(second, "update lastbit_schema set version = 2")
    with pytest.raises(lb.LedgerError, match="version 2, but it has the currencies of version 3: somebody changed it"):
        ledger.accounts()


def test_old_books_that_were_wrong_open_and_show(second: str) -> None:
    by_hand(second, "UPDATE lastbit_entries SET amount = 'much' WHERE id = 2")
    found = lb.Ledger(second).verify()
    assert any("entry 2 of 'clinic' is none that lastbit writes" in each for each in found)


def test_a_ledger_of_version_3_is_sealed_once(place: str) -> None:
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/4"), [1])
    before = ledger.account("clinic")
    by_hand(place, "ALTER TABLE lastbit_accounts DROP COLUMN seal; UPDATE lastbit_schema SET version = 3;")
    assert lb.Ledger(place, verify=True).account("clinic") == before
    # Whoever sets the version back to get a new seal is noticed.
    change(place, "update lastbit_accounts set spent = '0'", "update lastbit_schema set version = 3")
    with pytest.raises(lb.LedgerError, match="version 3, but it has the seals of version 4"):
        ledger.account("clinic")


def test_old_sums_of_many_unlike_denominators_are_short_enough_to_write(second: str) -> None:
    """Python refuses to write a number of more than 4,300 digits; such sums are rounded up as they grow."""
    amounts = [f"1/{2**31 + 2 * each + 1}" for each in range(400)]
    rows = ", ".join(f"('survey', 'charge', '', '', '{{{{}}}}', '', '{each}', '', 'replace', '')" for each in amounts)
    columns = "dataset, kind, time, mechanism, parameters, cost, amount, note, adjacency, digest"
    by_hand(second, f"INSERT INTO lastbit_entries ({columns}) VALUES {rows};")
    survey = lb.Ledger(second).account("survey")
    exact = sum((Price.before_rho(Fraction(each)).rho for each in amounts), Fraction(0))
    exact += Price.before_rho(Fraction(5182419497180051, 9007199254740992)).rho
    assert exact.denominator.bit_length() > 14_300
    assert 0 <= survey.spent_rho - exact < Fraction(1, 2**4000)
