"""Each command of the grammar and its twin in Python are one question to the ledger."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.cli.grammar import complete_discover, join_edges
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Option
from lastbit.questions.request import Request

FACTS = """
[columns.region]
values = ["north", "south", "east", "west"]
one_each = true
[columns.sex]
values = ["f", "m"]
one_each = true
[columns.age]
edges = [0, 18, 40, 65, 80]
one_each = true
[columns.department]
values = "departments.txt"
most_items = 3
[columns.wait]
bounds = [0, 365]
"""

TWINS: list[tuple[str, dict[str, Any]]] = [
    ("count visits.parquet --unit patient --rho 1/100", {"rho": "1/100"}),
    (
        "mean visits.parquet --unit patient --of stay --rows --most-rows 5 --by department --domain departments.txt "
        "--sd --bounds 0 60 --epsilon 1",
        {"of": "stay", "rows": True, "most_rows": 5, "by": "department", "domain": "departments.txt", "sd": True,
         "bounds": (0, 60), "epsilon": 1},
    ),
    (
        "mean visits.parquet --unit patient --of cost --per total --edges age 0,18,40,65,80 --one-each "
        "--bounds 0 20000 --epsilon 1",
        {"of": "cost", "per": "total", "edges": {"age": [0, 18, 40, 65, 80]}, "one_each": True, "bounds": (0, 20000),
         "epsilon": 1},
    ),
    (
        "quantile visits.parquet --unit patient --of wait --at 0.5,0.9 --by department --columns study.toml --rho 1",
        {"of": "wait", "at": [0.5, 0.9], "by": "department", "columns": "study.toml", "rho": 1},
    ),
    (
        "top visits.parquet --unit patient --by diagnosis --discover -k 10 --numbers --most-items 5 --epsilon 1 "
        "--delta 1e-6",
        {"by": "diagnosis", "discover": True, "k": 10, "numbers": True, "most_items": 5, "epsilon": 1,
         "delta": "1e-6"},
    ),
    (
        "tables visits.parquet --unit patient --by region,age,sex --columns study.toml --ways 2 --rho 1/20",
        {"by": ["region", "age", "sex"], "columns": "study.toml", "ways": 2, "rho": "1/20"},
    ),
    (
        "count visits.parquet --unit patient --month day --domain 2024-01..2024-12 --most-items 4 --epsilon 1",
        {"month": "day", "domain": "2024-01..2024-12", "most_items": 4, "epsilon": 1},
    ),
    (
        "count visits.parquet --unit patient --by region --domain north,south --edges age 0,18 --epsilon 1",
        {"by": {"region": ["north", "south"], "age": lb.bins(0, 18)}, "epsilon": 1},
    ),
    (
        "count visits.parquet --unit patient --by day --month day --domain 2024-01..2024-12 --epsilon 1",
        {"by": {"day": lb.months("2024-01", "2024-12")}, "epsilon": 1},
    ),
    (
        "count visits.parquet --unit patient --where \"kind = 'emergency'\" --by region --columns study.toml --rho 1/9",
        {"where": "kind = 'emergency'", "by": "region", "columns": "study.toml", "rho": "1/9"},
    ),
    (
        "median visits.parquet --unit patient --of wait --bounds 0 9 --by 'hour(arrival) as hour' --domain 0..23 "
        "--epsilon 1",
        {"of": "wait", "bounds": (0, 9), "by": {"hour(arrival) as hour": None}, "domain": "0..23", "epsilon": 1},
    ),
]  # fmt: skip


def parse_words(words: str) -> Request:
    """Return the request of a command, by the options themselves."""
    name, source, *rest = shlex.split(words)
    options = {option.flag: option for option in KINDS[name].options}
    typed: dict[str, Any] = {"source": [source]}
    arguments = complete_discover(join_edges(rest))
    while arguments:
        option: Option = options[arguments.pop(0)]
        count = option.type.words
        values, arguments = arguments[:count], arguments[count:]
        if option.type.repeats:
            typed[option.name] = [*typed.get(option.name, []), *values]
        else:
            typed[option.name] = True if count == 0 else values[0] if count == 1 else tuple(values)
    return KINDS[name].parse(typed, "command")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "study.toml").write_text(FACTS, encoding="utf-8")
    (tmp_path / "departments.txt").write_text("heart\neyes\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("words", "options"), TWINS)
def test_a_command_and_its_twin_are_one_question(words: str, options: dict[str, Any]) -> None:
    typed = parse_words(words)
    twin = typed.kind.parse({"source": "visits.parquet", "unit": "patient", **options})
    assert identity_of(typed) == identity_of(twin)
    assert typed.question.mechanism.parameters == twin.question.mechanism.parameters
    # What is printed as the command is the question again.
    assert identity_of(parse_words(typed.command.removeprefix("lastbit "))) == identity_of(typed)


OLD_WORDS: list[tuple[str, str]] = [
    (
        "measure v.csv --unit who --by code --domain a,b -k 1",
        "top v.csv --unit who --by code --domain a,b -k 1 --numbers",
    ),
    (
        "top v.csv --unit who --by code --domain a,b -k 1 --weights cost --bounds 0 9",
        "top v.csv --unit who --by code --domain a,b -k 1 --of cost --bounds 0 9",
    ),
    (
        "top v.csv --unit who --by code -k 1 --most-items 2 --delta 1e-6",
        "top v.csv --unit who --by code --discover -k 1 --most-items 2 --delta 1e-6",
    ),
    (
        "histogram v.csv --unit who --by code --most-items 2 --delta 1e-6",
        "top v.csv --unit who --by code --discover --numbers -k 3 --most-items 2 --delta 1e-6",
    ),
    ("histogram v.csv --unit who --of age --edges 0,18", "count v.csv --unit who --edges age 0,18"),
    ("median v.csv --unit who --of age --bounds 0 9", "quantile v.csv --unit who --of age --bounds 0 9 --at 0.5"),
    (
        "count v.csv --unit who --by code --domain a,b --one-each",
        "count v.csv --unit who --by code --domain code=a,b --most-items 1",
    ),
]


@pytest.mark.parametrize(("old", "new"), OLD_WORDS)
def test_old_words_and_new_ones_are_one_question(old: str, new: str) -> None:
    before, after = (parse_words(f"{words} --epsilon 1") for words in (old, new))
    assert identity_of(before) == identity_of(after)
    assert before.question.mechanism.parameters == after.question.mechanism.parameters


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"of": "a", "weights": "b", "bounds": (0, 1)}, "an old word for --of: got 'b' and 'a'"),
        ({"numbers": True, "delta": "1e-6"}, "Leave --delta or --domain out"),
        ({"numbers": True, "form": "left-out"}, "write --set too"),
    ],
)
def test_words_that_contradict_each_other_are_refused(options: dict[str, Any], words: str) -> None:
    asked = {"source": "v.csv", "unit": "who", "by": "code", "domain": "a,b", "k": 1, "epsilon": 1, **options}
    with pytest.raises(lb.ParameterError, match=words):
        _ = KINDS["top"].parse(asked).question


def test_found_items_have_numbers_and_the_first_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    rows = [f"{i},{'abcd'[min(3, i // 60)]}" for i in range(400)]
    file.write_text("\n".join(["who,code", *rows]), encoding="utf-8")
    asked: dict[str, Any] = {"unit": "who", "by": "code", "discover": True, "most_items": 1, "delta": "1e-6"}
    answer = lb.ask("top", file, **asked, numbers=True, k=2, epsilon=1000)
    frame = answer.to_frame()
    assert frame["rank"].to_list() == [1, 2]
    assert frame["code"].to_list() == ["d", "a"]
    assert frame["value"].to_list() == [220, 60]
    few = lb.ask("top", file, **asked, numbers=True, k=9, epsilon=1000)
    assert "4 of the 9 asked for were found." in repr(few)
    assert "4 of the 9 asked for were found." in repr(lb.ask("top", file, **asked, k=9, epsilon=1000))
