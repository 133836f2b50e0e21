"""Another table beside the rows: public facts by a key that stands once, or more rows of the same people."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit.data.files.joining import JoinPlan
from tests.data.query.test_person_plan import read

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
        ("r.jsonl", '{"zip": 1}\n', "a file that names its columns"),
        ("r.db", "SQLite format 3\0", "a file that names its columns"),
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
        JoinPlan("other.csv", "patient", ("patient", "day"))
