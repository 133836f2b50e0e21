"""Another table beside the rows: public facts by a key that stands once, or more rows of the same people."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.files.frames import open_frame_rows
from lastbit.data.files.joining import JoinedTable, JoinPlan
from lastbit.data.files.open_table import open_table
from lastbit.data.long_texts import shorten_text
from lastbit.data.query import pairing
from lastbit.values.contribution_bound import one_key
from tests.data.query.test_person_plan import read
from tests.machine import has_postgres
from tests.table_readers import make_rows

REGIONS = "zip,region,size\n1,north,5\n2,south,\n4,east,7\n,nowhere,9\n"


@pytest.fixture
def regions(tmp_path: Path) -> str:
    (tmp_path / "regions.csv").write_text(REGIONS, encoding="utf-8")
    return str(tmp_path / "regions.csv")


def visits(tmp_path: Path, text: str = "patient,zip,cost\na,1,5\na,2,6\nb,3,7\nb,,8\nc,01,9\n") -> str:
    (tmp_path / "visits.csv").write_text(text, encoding="utf-8")
    return str(tmp_path / "visits.csv")


def test_public_facts_by_a_key(tmp_path: Path, regions: str) -> None:
    """A row without a match has missing values, and stays one row."""
    rows = read(visits(tmp_path), ("patient", "region", "size"), join=regions, on="zip")
    missing = {("b", None, None): 2, ("c", None, None): 1}
    assert rows == Counter({("a", "north", "5"): 1, ("a", "south", None): 1, **missing})
    only = read(visits(tmp_path), ("patient", "region"), join=regions, on="zip", where="size > 4")
    assert only == Counter({("a", "north"): 1})


def test_a_key_that_stands_twice_is_refused_before_a_row_is_read(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("zip,region\n1,north\n2,south\n1,east\n", encoding="utf-8")
    with pytest.raises(lb.ParameterError, match=r"each value of 'zip' once.*Nothing was read of the table"):
        read(visits(tmp_path), ("patient", "region"), join=str(tmp_path / "r.csv"), on="zip")
    numbers = pa.table({"zip": pa.array([0.0, -0.0]), "region": ["a", "b"]})
    pyarrow.parquet.write_table(numbers, tmp_path / "r.parquet")
    pyarrow.parquet.write_table(pa.table({"patient": [1], "zip": pa.array([0.0])}), tmp_path / "v.parquet")
    with pytest.raises(lb.ParameterError, match="each value of 'zip' once"):
        read(str(tmp_path / "v.parquet"), ("patient", "region"), join=str(tmp_path / "r.parquet"), on="zip")


def test_more_rows_of_the_same_people(tmp_path: Path) -> None:
    """Joined by the unit, each row meets each of the person's other rows."""
    (tmp_path / "drugs.csv").write_text("patient,drug\na,x\na,y\nb,z\nnobody,q\n", encoding="utf-8")
    lets = {"drugs": "count(distinct drug)", "rows": "count(*)"}
    rows = read(
        visits(tmp_path), ("patient", "cost", "drug", *lets), join=str(tmp_path / "drugs.csv"), on="patient", let=lets
    )
    costs = Counter({("a", cost, drug, 2, 4): 1 for cost in "56" for drug in "xy"})
    assert rows == costs + Counter({("b", "7", "z", 1, 2): 1, ("b", "8", "z", 1, 2): 1, ("c", "9", None, 0, 1): 1})


def test_the_types_of_the_key(tmp_path: Path) -> None:
    """Whole numbers of any width meet; what would need a guess is refused before a row is read."""
    pyarrow.parquet.write_table(
        pa.table({"zip": pa.array([1, 2], pa.uint8()), "region": ["n", "s"]}), tmp_path / "r.parquet"
    )
    frame = pd.DataFrame({"patient": [1, 2, 3], "zip": [1, 2, -1]})
    rows = read(frame, ("patient", "region"), join=str(tmp_path / "r.parquet"), on="zip")
    assert rows == Counter({(1, "n"): 1, (2, "s"): 1, (3, None): 1})
    with pytest.raises(lb.ParameterError, match="one type in both tables"):
        read(visits(tmp_path), ("patient", "region"), join=str(tmp_path / "r.parquet"), on="zip")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("r.csv", "zip,cost\n1,2\n", "two columns called 'cost'"),
        ("r.csv", "zip,Patient\n1,2\n", "two columns called 'Patient'"),
        ("r.csv", "postcode,region\n1,2\n", "zip"),
        ("r.db", "SQLite format 3\0", "which of its tables"),
    ],
)
def test_files_that_cannot_be_joined(name: str, text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(lb.LastbitError, match=reason):
        read(visits(tmp_path), ("patient",), join=str(tmp_path / name), on="zip")
    with pytest.raises(lb.LastbitError, match="there is no file"):
        read(visits(tmp_path), ("patient",), join=str(tmp_path / "none.csv"), on="zip")


def test_random_tables_as_pandas_joins_them(tmp_path: Path, regions: str) -> None:
    facts = pd.read_csv(regions, dtype=str)
    for seed in range(3):
        chance = random.Random(seed)
        rows: list[dict[str, Any]] = [
            {"patient": chance.choice("abc"), "zip": chance.choice(["1", "2", "3", "4", "01", "1 ", None])}
            for _ in range(40)
        ]
        frame = pd.DataFrame(rows)
        frame.to_csv(tmp_path / "v.csv", index=False)
        expected = frame.merge(facts.dropna(subset="zip"), on="zip", how="left").astype(object)
        expected = expected.where(expected.notna(), None)
        pairs = Counter(expected[["patient", "zip", "region"]].itertuples(index=False, name=None))
        assert read(str(tmp_path / "v.csv"), ("patient", "zip", "region"), join=regions, on="zip") == pairs
        assert read(frame, ("patient", "zip", "region"), join=regions, on="zip") == pairs


def test_a_part_of_the_unit_says_nothing_about_whose_rows_they_are() -> None:
    with pytest.raises(lb.ParameterError, match="a part of --unit"):
        JoinPlan(JoinedTable.of("other.csv"), ("patient",), ("patient", "day"))


def test_lines_of_json_are_public_facts_and_no_rows_of_people(tmp_path: Path) -> None:
    """Their keys are in their rows only: of public facts all are read before, and of people's rows none may be."""
    lines = ['{"zip": 1, "region": "north"}', '{"zip": "2", "size": 7}', "no object", '{"zip": null, "region": "x"}']
    (tmp_path / "r.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = read(visits(tmp_path), ("patient", "zip", "region", "size"), join=str(tmp_path / "r.jsonl"), on="zip")
    known = [("a", "1", "north", None), ("a", "2", None, "7")]
    none = [("b", "3", None, None), ("b", None, None, None), ("c", "01", None, None)]
    assert rows == Counter([*known, *none])
    (tmp_path / "r.jsonl").write_text('{"zip": 1}\n{"zip": "1"}\n', encoding="utf-8")
    with pytest.raises(lb.ParameterError, match="each value of 'zip' once"):
        read(visits(tmp_path), ("patient", "zip"), join=str(tmp_path / "r.jsonl"), on="zip")
    (tmp_path / "d.jsonl").write_text('{"patient": "a", "drug": "x"}\n', encoding="utf-8")
    with pytest.raises(lb.ParameterError, match="private where they are of the same people"):
        read(visits(tmp_path), ("patient", "drug"), join=str(tmp_path / "d.jsonl"), on="patient")


PARTS = [None, "", ":", "1", "1:", "11", "a", "A", "é"]


@pytest.mark.parametrize("seed", range(8))
def test_several_columns_join_as_plain_python_joins_them(seed: int, tmp_path: Path) -> None:
    """Each combination once. A part that is missing meets nothing, and no two combinations look alike."""
    chance = random.Random(seed)
    own = [(chance.choice("abc"), chance.choice(PARTS), chance.choice(PARTS), n) for n in range(60)]
    pairs = [(zip_code, year) for zip_code in PARTS for year in PARTS if chance.random() < 0.6]
    facts = [(zip_code, year, f"{number}") for number, (zip_code, year) in enumerate(pairs)]
    known = {(zip_code, year): region for zip_code, year, region in facts if None not in (zip_code, year)}
    expected = Counter((who, n, known.get((zip_code, year))) for who, zip_code, year, n in own)
    frame = pd.DataFrame(own, columns=["patient", "zip", "year", "n"])
    other = pd.DataFrame(facts, columns=["zip", "year", "region"])
    assert read(frame, ("patient", "n", "region"), join=other, on=[["zip", "year"]]) == expected
    frame.to_parquet(tmp_path / "v.parquet")
    other.to_parquet(tmp_path / "r.parquet")
    files = str(tmp_path / "v.parquet"), str(tmp_path / "r.parquet")
    assert read(files[0], ("patient", "n", "region"), join=files[1], on="year,zip") == expected
    twice = pd.concat([other, pd.DataFrame([("1", "1", "x")] * 2, columns=other.columns)])
    with pytest.raises(lb.ParameterError, match="each value of 'year' and 'zip' once"):
        read(frame, ("patient", "region"), join=twice, on="zip,year")


@pytest.mark.parametrize("seed", range(4))
def test_rows_of_the_same_people_on_the_same_day(seed: int, tmp_path: Path) -> None:
    """Joined by the unit and more, each row meets the rows of the same person that agree in the rest."""
    chance = random.Random(seed)
    people, days = ["a", "A", "b", None], [1, 2, -(2**63), None]
    own = [(chance.choice(people), chance.choice(days), n) for n in range(30)]
    drugs = [(chance.choice(people), chance.choice(days), chance.choice("xy")) for _ in range(30)]
    met = {
        n: [drug for other, on, drug in drugs if (other, on) == (who, day) and None not in (who, day)] or [None]
        for who, day, n in own
    }
    expected = Counter((who, n, drug) for who, _, n in own if who is not None for drug in met[n])
    tables = [
        pa.table({"patient": [row[0] for row in rows], "day": pa.array([row[1] for row in rows], kind)}
                 | {name: [row[2] for row in rows]})
        for rows, name, kind in ((own, "n", pa.int64()), (drugs, "drug", pa.int64()))
    ]  # fmt: skip
    paths = [str(tmp_path / name) for name in ("v.parquet", "d.parquet")]
    for table, path in zip(tables, paths, strict=True):
        pyarrow.parquet.write_table(table, path)
    rows = read(paths[0], ("patient", "n", "drug"), join=paths[1], on="patient,day")
    assert Counter({row: times for row, times in rows.items() if row[0] is not None}) == expected
    counts = read(paths[0], ("patient", "n", "rows"), join=paths[1], on="day,patient", let={"rows": "count(*)"})
    per_person = Counter(row[0] for row in expected.elements())
    assert {(who, rows) for who, _, rows in counts} == {*per_person.items()}


def test_the_columns_of_a_key(tmp_path: Path, regions: str) -> None:
    """All of --unit, or none of it; each column once; a name with a comma in double quotes."""
    with pytest.raises(lb.ParameterError, match=r"a part of --unit.*--on patient,day"):
        JoinPlan(JoinedTable.of("other.csv"), ("patient", "zip"), ("patient", "day"))
    assert not JoinPlan(JoinedTable.of("other.csv"), ("zip", "day", "patient"), ("patient", "day")).is_public
    for on in ("zip,zip", "lower(zip) as z", ["zip", "region"]):
        with pytest.raises(lb.ParameterError, match="--on"):
            read(visits(tmp_path), ("patient", "region"), join=regions, on=on)
    frame = pd.DataFrame({"patient": ["a"], "zip, old": ["1"]})
    other = pd.DataFrame({"zip, old": ["1"], "region": ["north"]})
    for on in ('"zip, old"', [["zip, old"]]):
        assert read(frame, ("patient", "region"), join=other, on=on) == Counter({("a", "north"): 1})


PEOPLE = [("a", "1", 5), ("a", "2", 6), ("b", "3", 7), ("b", None, 8), ("c", "01", 9)]
DRUGS = [("a", "x"), ("a", "y"), ("b", "z"), ("nobody", "q"), (None, "r")]


def store_drugs(kind: str, folder: Path) -> Any:
    """The drugs, as a table of every kind that can be joined."""
    frame = pd.DataFrame(DRUGS, columns=["patient", "drug"])
    if kind == "sqlite":
        with closing(sqlite3.connect(folder / "clinic.db")) as connection, connection:
            connection.execute("CREATE TABLE drugs (patient TEXT, drug TEXT)")
            connection.executemany("INSERT INTO drugs VALUES (?, ?)", DRUGS)
        return f"{folder}/clinic.db#drugs"
    if kind == "duckdb file":
        with closing(duckdb.connect(str(folder / "clinic.duckdb"))) as connection:
            connection.execute("CREATE SCHEMA own")
            connection.execute("CREATE TABLE own.drugs AS SELECT * FROM frame")
        return f"{folder}/clinic.duckdb#own.drugs"
    if kind == "parquet":
        frame.to_parquet(folder / "drugs.parquet")
        return str(folder / "drugs.parquet")
    if kind == "csv":
        frame.to_csv(folder / "drugs#1.csv", index=False)
        return str(folder / "drugs#1.csv")
    return {
        "pandas": lambda: frame,
        "polars": lambda: pl.DataFrame(DRUGS, schema=["patient", "drug"], orient="row"),
        "arrow": lambda: pa.Table.from_pandas(frame),
        "relation": lambda: duckdb.connect().from_arrow(pa.Table.from_pandas(frame)),
    }[kind]()


def visits_frame() -> pd.DataFrame:
    return pd.DataFrame(PEOPLE, columns=["patient", "zip", "cost"])


KINDS = ("sqlite", "duckdb file", "parquet", "csv", "pandas", "polars", "arrow", "relation")
PAIRS = Counter({("a", 5, "x"): 1, ("a", 5, "y"): 1, ("a", 6, "x"): 1, ("a", 6, "y"): 1, ("b", 7, "z"): 1,
                 ("b", 8, "z"): 1, ("c", 9, None): 1})  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of_rows", ["frame", "file", "database"])
def test_rows_of_the_same_people_in_any_table(kind: str, of_rows: str, tmp_path: Path) -> None:
    frame = visits_frame()
    source, table = frame, None
    if of_rows == "file":
        frame.to_parquet(tmp_path / "visits.parquet")
        source = str(tmp_path / "visits.parquet")
    if of_rows == "database":
        source, table = str(tmp_path / "visits.duckdb"), "visits"
        with closing(duckdb.connect(source)) as connection:
            connection.execute("CREATE TABLE visits AS SELECT * FROM frame")
    drugs = store_drugs(kind, tmp_path)
    rows = make_rows("-" if of_rows == "frame" else source, unit="patient", join=[drugs], on="patient", table=table)
    selection = ColumnSelection(("patient", "cost", "drug"))
    if of_rows == "frame":
        opened = open_frame_rows(source, selection, rows.plan, "patient")
    else:
        opened = open_table(source, selection, table, rows.form, rows.plan)
    assert Counter(opened.relation.fetchall()) == PAIRS


def test_no_row_of_people_is_read_where_columns_are_looked_at(tmp_path: Path) -> None:
    visits_frame().to_parquet(tmp_path / "v.parquet")
    rows = make_rows(
        str(tmp_path / "v.parquet"), unit="patient", join=store_drugs("sqlite", tmp_path), on="patient"
    )  # fmt: skip
    selection = ColumnSelection(("patient", "drug"))
    for with_rows in (True, False):
        opened = open_table(rows.source, selection, None, rows.form, rows.plan, with_rows=with_rows)
        assert {drug for _, drug in opened.relation.fetchall()} == ({"x", "y", "z", None} if with_rows else {None})


@pytest.mark.parametrize("kind", KINDS)
def test_public_facts_in_any_table(kind: str, tmp_path: Path) -> None:
    """A key that stands twice is refused wherever it stands."""
    frame = pd.DataFrame({"person": [1, 2, 3], "patient": ["b", "nobody", None]})
    options: dict[str, Any] = {"join": [store_drugs(kind, tmp_path)], "on": "patient"}
    rows = make_rows("-", unit="person", **options)
    with pytest.raises(lb.ParameterError, match="each value of 'patient' once"):
        open_frame_rows(frame, ColumnSelection(("person", "drug")), rows.plan)
    options["join"] = [pd.DataFrame(DRUGS[1:], columns=["patient", "drug"])]
    opened = open_frame_rows(frame, ColumnSelection(("person", "drug")), make_rows("-", unit="person", **options).plan)
    assert Counter(opened.relation.fetchall()) == Counter([(1, "z"), (2, "q"), (3, None)])


def test_several_tables_one_after_the_other(tmp_path: Path, regions: str) -> None:
    """Public facts may be found by a column of public facts; rows of the same people at any place between."""
    (tmp_path / "states.csv").write_text("region,state\nnorth,N\nsouth,S\n", encoding="utf-8")
    states, drugs = str(tmp_path / "states.csv"), str(tmp_path / "drugs.csv")
    Path(drugs).write_text("patient,drug\na,x\na,y\n", encoding="utf-8")
    columns = ("patient", "cost", "state", "drug")
    expected = Counter(("a", cost, state, drug) for cost, state in (("5", "N"), ("6", "S")) for drug in "xy")
    expected += Counter([("b", "7", None, None), ("b", "8", None, None), ("c", "9", None, None)])
    steps = [(regions, "zip"), (states, "region"), (drugs, "patient")]
    for order in ((0, 1, 2), (0, 2, 1), (2, 0, 1)):
        joined = {"join": [steps[n][0] for n in order], "on": [steps[n][1] for n in order]}
        assert read(visits(tmp_path), columns, **joined) == expected
        assert read(visits(tmp_path), columns, **joined, where="drug = 'x' and state = 'S'") == Counter(
            {("a", "6", "S", "x"): 1}
        )
    with pytest.raises(lb.LastbitError, match="region"):
        read(visits(tmp_path), ("patient", "state"), join=[states, regions], on=["region", "zip"])
    with pytest.raises(lb.ParameterError, match="each with its own: got 2 and 1"):
        read(visits(tmp_path), columns, join=[regions, states], on="zip")
    with pytest.raises(lb.ParameterError, match="two columns called 'region'"):
        read(visits(tmp_path), columns, join=[regions, regions], on=["zip", "zip"])


UNITS = ["1", "01", "1.0", "a", "A", "\u00e9", "e\u0301", None, "a ", "0", "-0", "x" * 11_000, "x" * 11_000 + "y"]
"""Nearly the same, and no two of them are one person."""


@pytest.mark.parametrize("seed", range(3))
def test_random_tables_as_plain_python_joins_them(seed: int) -> None:
    """Public facts, and two more tables of the same people, joined in any order."""
    chance = random.Random(seed)
    own = [(chance.choice(UNITS), chance.choice(["k", "K", "k ", None]), str(n)) for n in range(30)]
    facts = {"k": "north", "K": None, "q": "south"}
    drugs = [(chance.choice(UNITS), chance.choice(["x", "y", None])) for _ in range(25)]
    doses = [(chance.choice(UNITS), chance.choice("pq")) for _ in range(12)]

    def match(rows: list[Any], unit: str | None) -> list[Any]:
        return [value for who, value in rows if who is not None and who == unit] or [None]

    pairs = [
        (unit, number, facts.get(key or ""), drug, dose)
        for unit, key, number in own
        for drug in match(drugs, unit)
        for dose in match(doses, unit)
    ]
    joined = [(pl.DataFrame([*facts.items()], schema=["k", "region"], orient="row"), "k")]
    joined += [(pl.DataFrame(drugs, schema=["patient", "drug"], orient="row"), "patient")]
    joined += [(pl.DataFrame(doses, schema=["patient", "dose"], orient="row"), "patient")]
    chance.shuffle(joined)
    options: dict[str, Any] = dict(zip(("join", "on"), map(list, zip(*joined, strict=True)), strict=True))
    frame = pd.DataFrame(own, columns=["patient", "k", "n"])
    names = ("patient", "n", "region", "drug", "dose")
    digests = {unit: shorten_text(unit) for unit in UNITS if unit is not None}

    def expect(rows: list[Any]) -> Counter[Any]:
        return Counter((digests[unit], *rest) for unit, *rest in rows if unit is not None)

    def known(rows: Counter[Any]) -> Counter[Any]:
        return Counter({row: times for row, times in rows.items() if row[0] is not None})

    assert known(read(frame, names, **options)) == expect(pairs)
    distinct = known(read(frame, ("patient", "region", "drug"), distinct=True, **options))
    assert set(distinct) == set(expect([(unit, region, drug) for unit, _, region, drug, _ in pairs]))
    per_person = Counter(unit for unit, *_ in pairs)
    counts = expect([(*row, per_person[row[0]]) for row in pairs])
    assert read(frame, (*names, "rows"), let={"rows": "count(*)"}, **options) == counts


@pytest.mark.parametrize("name", ["lastbit_on", "lastbit_key", "Lastbit_Rank", "lastbit_who", "lastbit_person"])
def test_no_column_takes_the_place_of_one_that_a_join_makes(name: str) -> None:
    other = pl.DataFrame({"patient": ["a"], name: ["x"]})
    with pytest.raises(lb.ParameterError, match="no column may begin with lastbit_"):
        read(pd.DataFrame({"patient": ["a"]}), ("patient", name), join=[other], on="patient")
    with pytest.raises(lb.ParameterError, match="no column may begin with lastbit_"):
        read(pd.DataFrame({"patient": ["a"], name: ["x"]}), ("patient",), join=[other], on=name)


def test_objects_that_look_alike_are_two_people() -> None:
    """1 and 1.0 are one key, and so are the two zeros; text, truth and bytes are others."""
    units = [1, "1", 1.0, True, b"1", None, float("nan"), 0.0, -0.0]
    frame = pd.DataFrame({"patient": pd.Series(units, dtype=object), "n": range(len(units))})
    other = frame.rename(columns={"n": "m"})
    pairs = Counter((n, m) for _, n, m in read(frame, ("patient", "n", "m"), join=[other], on="patient").elements())
    same = [(0, 0), (0, 2), (2, 0), (2, 2), (1, 1), (3, 3), (4, 4), (7, 7), (7, 8), (8, 7), (8, 8)]
    assert pairs == Counter([*same, (5, None), (6, None)])


def test_a_unit_that_public_facts_name(tmp_path: Path) -> None:
    """The households of people are public here: then both tables hold rows of households."""
    homes = pd.DataFrame({"patient": ["a", "b", "c"], "home": [1, 1, 2]})
    bills = pd.DataFrame({"home": [1, 2, 2], "bill": [10, 20, 30]})
    rows = make_rows("-", unit="home", join=[homes, bills], on=["patient", "home"])
    frame = visits_frame()
    opened = open_frame_rows(frame, ColumnSelection(("home", "cost", "bill")), rows.plan, "home")
    assert Counter(opened.relation.fetchall()) == Counter(
        [(1, cost, 10) for cost in (5, 6, 7, 8)] + [(2, 9, 20), (2, 9, 30)]
    )


def test_rows_alike_meet_once_where_only_people_matter(tmp_path: Path) -> None:
    """One person with 10,000 rows in both tables: they exist, and that is all that is asked."""
    many = pd.DataFrame({"patient": ["a"] * 10_000 + ["b"], "drug": ["x"] * 9_999 + ["y", "z"]})
    rows = read(many[["patient"]], ("patient", "drug"), distinct=True, join=[many], on="patient")
    assert rows == Counter({("a", "x"): 1, ("a", "y"): 1, ("b", "z"): 1})


def test_zeros_of_two_signs_stay_two_rows() -> None:
    frame = pd.DataFrame({"patient": [1, 1, 1], "cost": [0.0, -0.0, 0.0]})
    other = pd.DataFrame({"patient": [1, 1], "dose": [float("inf"), float("inf")]})
    rows = read(frame, ("patient", "cost", "dose"), distinct=True, join=[other], on="patient")
    assert sum(rows.values()) == 2


def small_lot(monkeypatch: pytest.MonkeyPatch, most: int, least: int) -> None:
    monkeypatch.setattr(pairing, "MOST_PAIRS", most)
    monkeypatch.setattr(pairing, "_MOST_ROWS", least)


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [(4, 5, (4, 5)), (4, 6, (4, 5)), (9, 9, (4, 5)), (100, 2, (10, 2)), (2, 100, (2, 10)), (1, 50, (1, 20)),
     (50, 1, (20, 1)), (3, 7, (3, 6)), (0, 30, (0, 0)), (30, 0, (30, 1))],
)  # fmt: skip
def test_a_person_has_so_many_pairs_at_most(
    own: int, others: int, expected: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20 pairs and 4 rows: whoever has no more keeps all. Others near them keep theirs."""
    small_lot(monkeypatch, 20, 4)
    frame = pd.DataFrame({"patient": ["p"] * own + ["q"] * 5, "n": [*range(own), *range(5)]})
    other = pd.DataFrame({"patient": ["p"] * others + ["q"] * 4, "m": [*range(others), *range(4)]})
    rows = read(frame, ("patient", "n", "m"), join=[other], on="patient")
    mine = [(n, m) for patient, n, m in rows.elements() if patient == "p"]
    assert (len({n for n, _ in mine}), len({m for _, m in mine})) == expected
    assert len(mine) == len({*mine}) == expected[0] * expected[1]
    assert sum(patient == "q" for patient, _, _ in rows.elements()) == 20


def test_the_lot_of_a_person_looks_at_no_other_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one key, whatever else the tables hold, and in any order of their rows; with another key, other rows."""
    small_lot(monkeypatch, 20, 4)
    chance = random.Random(4)
    own = [("p", chance.choice([1.5, -0.0, 0.0, None, float("nan"), 2.0]), chance.choice("ab")) for _ in range(40)]
    others = [("p", chance.choice([None, 1, 2, 3])) for _ in range(30)]

    def lot(key: int, rows: list[Any], more: list[Any]) -> list[str]:
        with one_key(key):
            found = read(
                pa.table(dict(zip(("patient", "x", "t"), map(list, zip(*rows, strict=True)), strict=True))).to_pandas(),
                ("patient", "x", "t", "m"),
                join=[pl.DataFrame(more, schema=["patient", "m"], orient="row")], on="patient",
            )  # fmt: skip
        return sorted(repr(row) for row in found.elements() if row[0] == "p")

    alone = lot(1, own, others)
    for seed in range(3):
        mixed = random.Random(seed)
        more = [(f"q{n}", 1.5, "a") for n in range(50) for _ in range(mixed.randrange(9))]
        rows, beside = [*own, *more], [*others, *((who, 1) for who, _, _ in more)]
        mixed.shuffle(rows)
        mixed.shuffle(beside)
        assert lot(1, rows, beside) == alone
    assert len({tuple(lot(key, own, others)) for key in range(5)}) == 5


if has_postgres():

    def test_tables_of_postgresql(server: str) -> None:
        """Both sides of a join may be tables of a server; each column declares its type there."""
        place = f"postgresql://lastbit@/postgres?host={server}"
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS joined_visits, joined_drugs")
            connection.execute("CREATE TABLE joined_visits (patient text, zip text, cost int)")
            connection.execute("CREATE TABLE joined_drugs (patient text, drug text)")
            with connection.cursor() as cursor:
                cursor.executemany("INSERT INTO joined_visits VALUES (%s, %s, %s)", PEOPLE)
                cursor.executemany("INSERT INTO joined_drugs VALUES (%s, %s)", DRUGS)
        rows = make_rows(place, unit="patient", table="joined_visits", join=f"{place}#joined_drugs", on="patient")
        selection = ColumnSelection(("patient", "cost", "drug"))
        opened = open_table(rows.source, selection, rows.table, rows.form, rows.plan)
        texts = Counter({(patient, str(cost), drug): times for (patient, cost, drug), times in PAIRS.items()})
        assert Counter(opened.relation.fetchall()) == texts
        with pytest.raises(lb.LastbitError, match="could not be read"):
            read(visits_frame(), ("patient", "drug"), join=f"{place}#nothing", on="patient")
        with pytest.raises(lb.ParameterError, match=r"which of its tables to join.*clinic.db#drugs"):
            read(visits_frame(), ("patient", "drug"), join=place, on="patient")
