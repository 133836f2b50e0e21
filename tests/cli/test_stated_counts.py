"""Files that somebody counted already: their counts as they are, with the sensitivity that the user states."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.aggregates import LARGEST, read_aggregates
from lastbit.data.duckdb.relation import OpenTable
from tests.table_readers import count_rows, discover_rows, make_items, make_rows


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("word,n\nflu,120\ncold,80\ngout,7\nflu,3\nhidden,5\n", encoding="utf-8")
    Path("items.txt").write_text("cold\nflu\nnothing\n", encoding="utf-8")


def test_the_counts_of_a_file_as_they_are() -> None:
    items = make_items(by=["word"], domain=["items.txt"], counts="n", sensitivity="2", most_items=3)
    found = count_rows(make_rows(source=["words.csv"]), items)
    assert found.values.tolist() == [80, 120, 0]
    assert (found.sensitivity, found.monotone, found.most_items, found.adjacency) == (2, False, 3, "add-remove")
    filtered = count_rows(make_rows(source=["words.csv"], where="word <> 'flu'"), items)
    assert filtered.values.tolist() == [80, 0, 0]
    listed = discover_rows(
        make_rows(source=["words.csv"]), make_items(by=["word"], counts="n", sensitivity="2", monotone=True), 3
    )
    assert listed.highest(3) == (("flu", "cold", "gout"), pytest.approx([120, 80, 7]))
    assert listed.sensitivity == 2


def test_commands_on_counts(capsys: Any) -> None:
    options = "words.csv --by word --domain items.txt --counts n --sensitivity 1 --epsilon 200"
    assert run(f"top {options} -k 1 --json") == 0
    assert json.loads(capsys.readouterr().out)["item"] == ["flu"]
    assert run(f"histogram {options} --most-items 1 --monotone") == 0
    shown = capsys.readouterr()
    assert "flu" in shown.out
    assert "120" in shown.out
    said = "Of several rows of an item the largest counts. One person moves each count by at most 1"
    assert said in " ".join(shown.out.split())
    assert "--unit" not in shown.err
    assert run("top words.csv --by word --counts n --sensitivity 1 --monotone -k 1 --epsilon 90 --delta 1e-6") == 0
    assert "flu" in capsys.readouterr().out


WRONG = {
    "--counts n": "--counts needs --sensitivity",
    "--counts n --sensitivity 1/2": "--sensitivity must be a whole number from 1 on",
    "--counts n --sensitivity 0": "--sensitivity must be a whole number from 1 on",
    "--counts n --sensitivity 1 --unit word": "--counts and --unit must not be given together",
    "--counts n --sensitivity 1 --weights n --bounds 0 1": "--counts and --bounds must not be given together",
    "--counts word --sensitivity 1": "--by and --counts must be different columns",
    "--counts no --sensitivity 1": "there is no column 'no': the table has word, n.",
    "--sensitivity 1": "--sensitivity and --monotone are for --counts",
    "--counts n --sensitivity 1 --where 'n > 100'": "must not use the column of --counts: 'n'",
    "--counts n --sensitivity 1 --where 'n > 100' --dry-run": "must not use the column of --counts: 'n'",
    "--counts n --sensitivity 1 --bin n 100 --domain n=0..9": "must be different columns",
    "--counts m --sensitivity 1 --sql 'select word, n * n as m from data'": "must not use the column of --counts: 'm'",
    "--counts m --sensitivity 1 --sql 'select word, n as m from data where n > 100'": "must not use the column of",
    "--counts n --sensitivity 1 --sql 'select n, case when n > 9 then word end as word from data'": "must not use the",
    "--monotone": "--sensitivity and --monotone are for --counts",
}


@pytest.mark.parametrize("options", WRONG)
def test_what_contradicts_is_refused(options: str, capsys: Any) -> None:
    assert run(f"top words.csv --by word --domain items.txt -k 1 --epsilon 1 {options}") == 2
    assert WRONG[options] in capsys.readouterr().err


ENGINE = duckdb.connect(config={"threads": 1})


def values(rows: list[tuple[Any, Any]], kind: str, comma: bool = False) -> list[int]:
    """The counts of a, b and c in a table of pairs, whose counts are cast from text."""
    texts = pa.table({"item": pa.array([row[0] for row in rows], pa.string()),
                      "n": pa.array([row[1] for row in rows], pa.string())})  # fmt: skip
    relation = ENGINE.from_arrow(texts).project(f"item, CAST(n AS {kind}) AS n")
    facts: dict[str, Any] = {"sensitivity": 1, "monotone": False, "comma": comma}
    found: Any = read_aggregates(OpenTable(relation, ENGINE), by=["item"], counts="n", domain=["a", "b", "c"], **facts)
    return [int(value) for value in found.values]


NUMBERS = {
    "varchar": {
        "3": 3, "003": 3, "+3": 3, " 3 ": 3, "3.": 3, "3.999999999999999999999999": 3, "0": 0, "": 0, "-1": 0, "-0": 0,
        "x": 0, "nan": 0, "1e3": 1000, "1e+05": 100_000,
        "1.5E+05": 150_000, "1.99999999999999999999e1": 19, "4.99999999999999999999e0": 4, "19e-1": 1, "9e-1": 0,
        "+12.5e-1": 1, "0e9999999999999999999999": 0, "3e-9999999999999999999999": 0, "0.03e2": 3, "2e9": 2 * 10**9,
        "2147483646.9e0": LARGEST - 1, "3e9": LARGEST, "1e9999999999": LARGEST, "-1e3": 0, "e3": 0, "1e": 0,
        "1_0": 0, "3,5": 0, "2147483646.9999999999999999": LARGEST - 1,
        "2147483648": LARGEST, "9" * 400: LARGEST, "1e20": LARGEST, "inf": LARGEST, "-inf": 0, "0.99999999999999992": 0,
        "1.99999999999999992": 1,
    },
    "double": {"3": 3, "3.9": 3, "-1": 0, "nan": 0, "inf": LARGEST, "1e300": LARGEST, "-0.0": 0},
    "bigint": {"3": 3, "-5": 0, str(2**63 - 1): LARGEST, str(-(2**63)): 0},
    "ubigint": {"3": 3, str(2**64 - 1): LARGEST},
    "hugeint": {str(2**127 - 1): LARGEST, str(-(2**127) + 1): 0},
    "uhugeint": {str(2**128 - 1): LARGEST, "7": 7},
    "decimal(38, 20)": {"0.99999999999999999999": 0, "1.99999999999999999999": 1, "-0.00000000000000000001": 0},
    "decimal(38, 0)": {"9" * 38: LARGEST, "12": 12},
}  # fmt: skip


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_count_is_rounded_down_exactly_and_nothing_raises(kind: str) -> None:
    for text, expected in NUMBERS[kind].items():
        assert values([("b", text), ("a", "5"), ("c", None)], kind) == [5, expected, 0], text
    assert values([("a", text) for text in NUMBERS[kind]], kind) == [max(NUMBERS[kind].values()), 0, 0]


def test_counts_with_a_comma() -> None:
    for text, expected in {
        "1.234,9": 1234,
        "12": 12,
        "12,9": 12,
        "1e+05": 100_000,
        "1,5e+05": 150_000,
        "1.5e1": 0,
        "1.5": 0,
        "-3,5": 0,
        "1,2,3": 0,
    }.items():
        assert values([("a", text)], "varchar", comma=True) == [expected, 0, 0]


def test_no_value_moves_further_than_the_rows_do() -> None:
    """All small tables of two rows, and all in which each count is one more, one less or gone: exactly."""
    amounts = ["0", "1", "2e+00", "1.5", "x"]
    truth = {"x": 0.0, **{text: float(text) for text in amounts if text != "x"}}
    tables = [list(zip(items, numbers, strict=True))
              for items in ("aa", "ab")
              for numbers in itertools.product(amounts, repeat=2)]  # fmt: skip
    found = {json.dumps(rows): values(rows, "varchar") for rows in tables}
    tried = 0
    for one, other in itertools.combinations(tables, 2):
        alike = all(a[0] == b[0] and abs(truth[a[1]] - truth[b[1]]) <= 1 for a, b in zip(one, other, strict=True))
        if alike:
            tried += 1
            moves = [abs(a - b) for a, b in zip(found[json.dumps(one)], found[json.dumps(other)], strict=True)]
            assert max(moves) <= 1, (one, other)
    assert tried > 200


def test_a_column_that_holds_no_numbers_is_refused() -> None:
    pa.parquet.write_table(pa.table({"word": ["a"], "n": pa.array([1], pa.int32()).cast(pa.date32())}), "t.parquet")
    with pytest.raises(lb.ParameterError, match="the column of --counts must hold numbers"):
        count_rows(
            make_rows(source=["t.parquet"]), make_items(by=["word"], domain=["items.txt"], counts="n", sensitivity="1")
        )


def test_a_column_may_have_the_name_that_counts_have_inside() -> None:
    connection = duckdb.connect()
    rows = connection.sql('SELECT 9 AS "Lastbit_Number", 9 AS lastbit_number_, 4 AS n')
    stated: dict[str, Any] = {"counts": "n", "sensitivity": 1, "monotone": True}
    found = read_aggregates(
        OpenTable(rows, connection), by=["Lastbit_Number", "lastbit_number_"], domain=[[9], [9]], **stated
    )
    assert found.values.tolist() == [4]
