"""Facts about columns: typed once, used by every question, and contradicted by none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.column_facts import ColumnFacts
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.request import Request

FACTS = """
[study]
title = "not looked at"
[columns.region]
values   = ["north", "south"]
one_each = true
[columns.sex]
values   = ["f", "m"]
labels   = { f = "female", m = "male" }
one_each = true
[columns.age]
edges    = [0, 18, 65]
one_each = true
[columns.department]
values     = "departments.txt"
most_items = 3
[columns.day]
every      = "month"
from       = "2024-01"
to         = "2024-03"
most_items = 2
[columns.code]
discover   = true
most_items = 5
[columns.cost]
bounds = [0, 500]
in     = "euros"
label  = "Cost of a visit"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "study.toml").write_text(FACTS, encoding="utf-8")
    (tmp_path / "facts" / "departments.txt").write_text("heart\neyes\n", encoding="utf-8")
    rows = [
        f"{i},{('north', 'south')[i % 2]},{'fm'[i % 4 // 2]},{i % 90},heart,2024-0{1 + i % 3}-05,I{i % 3},{i % 600}"
        for i in range(360)
    ]
    text = "\n".join(["person,region,sex,age,department,day,code,cost", *rows])
    (tmp_path / "visits.csv").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def request(kind: str, *, columns: Any = "facts/study.toml", **options: Any) -> Request:
    return KINDS[kind].parse({"source": "visits.csv", "unit": "person", "epsilon": 1, "columns": columns, **options})


SAME: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("count", {"by": "region"}, {"by": "region", "domain": "north,south", "one_each": True}),
    ("count", {"by": "age"}, {"edges": {"age": [0, 18, 65]}, "one_each": True}),
    ("count", {"by": "day"}, {"month": "day", "domain": "2024-01..2024-03", "most_items": 2}),
    ("count", {"by": "department,day"},
     {"by": "department", "month": "day", "domain": {"department": ["heart", "eyes"], "day": "2024-01..2024-03"},
      "most_items": 6}),
    ("count", {"by": "region,ward", "domain": "a,b"},
     {"by": "region,ward", "domain": {"region": ["north", "south"], "ward": ["a", "b"]}}),
    ("count", {"by": "code", "delta": "1e-6"}, {"by": "code", "discover": True, "most_items": 5, "delta": "1e-6"}),
    ("mean", {"of": "cost"}, {"of": "cost", "bounds": (0, 500)}),
    ("mean", {"of": "cost", "by": "sex"},
     {"of": "cost", "bounds": (0, 500), "by": "sex", "domain": "f,m", "one_each": True}),
    ("mean", {"of": "cost", "by": "sex", "per": "row", "most_rows": 2},
     {"of": "cost", "bounds": (0, 500), "by": "sex", "domain": "f,m", "per": "row", "most_rows": 2}),
    ("quantile", {"of": "cost", "at": "0.5", "by": "department"},
     {"of": "cost", "at": "0.5", "by": "department", "bounds": (0, 500), "domain": "heart,eyes", "most_items": 3}),
    ("top", {"by": "department", "k": 1}, {"by": "department", "k": 1, "domain": "heart,eyes"}),
    ("top", {"by": "department", "k": 1, "of": "cost"},
     {"by": "department", "k": 1, "domain": "heart,eyes", "weights": "cost", "bounds": (0, 500)}),
    ("top", {"by": "code", "k": 1, "delta": "1e-6"}, {"by": "code", "k": 1, "delta": "1e-6", "most_items": 5}),
]  # fmt: skip


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("kind", "short", "long"), SAME)
def test_what_the_file_says_is_the_question_that_one_would_type(kind: str, short: Any, long: Any) -> None:
    known, typed = request(kind, **short), request(kind, columns=None, **long)
    assert identity_of(known) == identity_of(typed)
    assert known.question.mechanism.parameters == typed.question.mechanism.parameters
    # What is said beside the file and is no contradiction changes nothing.
    assert identity_of(request(kind, **long)) == identity_of(typed)
    # The command and the program say the question without the file.
    words = cli_words(known.command)
    assert "--columns" not in words
    assert "columns=" not in known.python or "female" in known.python


def cli_words(command: str) -> list[str]:
    import shlex

    return shlex.split(command)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("kind", "typed"),
    [
        ("count", {"by": "region", "domain": "north,mars"}),
        ("count", {"by": "region", "most_items": 2}),
        ("count", {"by": "region", "most_items": "all"}),
        ("count", {"by": "region", "discover": "region", "delta": "1e-6"}),
        ("count", {"edges": {"age": [0, 50]}}),
        ("count", {"by": "age", "domain": "1..9"}),
        ("count", {"year": "day"}),
        ("count", {"by": "day", "domain": "2023-01..2023-02"}),
        ("count", {"by": "code", "domain": "I1,I2"}),
        ("mean", {"of": "cost", "bounds": (0, 9)}),
    ],
)
def test_a_contradiction_is_refused_unless_it_is_meant(kind: str, typed: Any) -> None:
    with pytest.raises(lb.ParameterError, match="contradicts what --columns says"):
        request(kind, **typed)
    meant = request(kind, **typed, override=True)
    assert meant["override"] is True


@pytest.mark.usefixtures("folder")
def test_labels_are_shown_and_are_no_part_of_the_question() -> None:
    shown = lb.ask("count", "visits.csv", unit="person", by="sex", columns="facts/study.toml", epsilon=1000)
    assert shown.to_frame()["sex"].to_list() == ["female", "male"]
    tables = lb.ask("tables", "visits.csv", unit="person", by="sex,region,age", columns="facts/study.toml", rho=1000)
    assert "female" in repr(tables)
    other = {"sex": {"values": ["f", "m"], "labels": {"f": "women"}, "one_each": True}}
    assert identity_of(request("count", by="sex", columns=other)) == identity_of(request("count", by="sex"))


WRONG: list[tuple[Any, str]] = [
    ("nowhere.toml", "nowhere.toml: No such file"),
    ("visits.csv", "it is no TOML"),
    ("facts", "is none"),
    (3, "must be a file such as study.toml, or a mapping: got 3"),
    ({"a": 3}, "columns.a must be a table of facts"),
    ({"a": {"colour": 1}}, "has no fact 'colour'"),
    ({"a": {"values": ["x"], "edges": [0, 1]}}, "in one way: got values and edges"),
    ({"a": {"values": {}}}, "columns.a.values must be"),
    ({"a": {"edges": [3, 1]}}, "must rise"),
    ({"a": {"labels": ["x"]}}, "a table from values to labels"),
    ({"a": {"one_each": "yes"}}, "true or false"),
    ({"a": {"one_each": True, "most_items": 3}}, "one_each says most_items = 1"),
    ({"a": {"most_items": 0}}, "at least 1"),
    ({"a": {"every": "decade"}}, "columns.a.every must be"),
    ({"a": {"from": "2024"}}, "from and to go together"),
    ({"a": {"bounds": [1]}}, "two values"),
    ({"a": {"in": 3}}, "must be text"),
]  # fmt: skip


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("facts", "words"), WRONG)
def test_what_can_be_no_fact_is_refused_in_one_line(facts: Any, words: str) -> None:
    with pytest.raises(lb.ParameterError) as error:
        request("count", columns=facts, by="a", domain="x")
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_a_first_file_has_the_names_of_columns_and_nothing_of_a_row(folder: Path) -> None:
    assert cli._run(["columns", "new", "visits.csv", "-o", "new.toml"], debug=False) == 0
    text = (folder / "new.toml").read_text("utf-8")
    assert all(f"[columns.{name}]" in text for name in ("person", "region", "cost"))
    assert "north" not in text
    assert "heart" not in text
    filled = text.replace("# [columns.region]", '[columns.region]\nvalues = ["north"]')
    (folder / "new.toml").write_text(filled, encoding="utf-8")
    assert ColumnFacts.parse("new.toml")["region"]["values"].items == ("north",)
    assert cli._run(["columns", "new", "visits.csv", "-o", "new.toml"], debug=False) == 2
