"""Wrong values of every type, for every option of every kind of question: one refusal, the same from every face."""

from __future__ import annotations

import datetime
import decimal
import json
import shlex
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.kinds import KINDS, WATCH
from lastbit.questions.option import Option
from lastbit.questions.value_types import Flag

VALUES: list[Any] = [
    0, 1, -1, 2.0, 2.5, 1e400, float("nan"), 10**30, 10**5000, True, False, "", " ", "x", "2", "-2", "1/3", "1/0", "²",
    "false", "--unit", "\0", "\udcff", "a" * 20_000, b"x", [], [0], [None], [[]], ["x", 1], {}, {"a": 1}, (), set(),
    {"x"}, object(), lambda: 1, np.int64(3), np.array([1, 2]), np.float32("inf"), decimal.Decimal("NaN"),
    Fraction(1, 3), datetime.date(2026, 1, 1), Path("v.csv"), type, "1e999999", "nan", "0x10", "1_000",
]  # fmt: skip
BASE: dict[str, dict[str, Any]] = {
    "top": {"by": "item", "domain": ["a", "b"], "k": 1},
    "above": {"by": "item", "domain": ["a", "b"], "threshold": 5},
    "choose": {"by": "item", "domain": ["a", "b"]},
    "measure": {"by": "item", "domain": ["a", "b"], "k": 1},
    "histogram": {"by": "item", "domain": ["a", "b"]},
    "count": {},
    "sum": {"of": "cost", "bounds": (0, 10)},
    "mean": {"of": "cost", "bounds": (0, 10)},
    "share": {"of": "cost > 5"},
    "median": {"of": "cost", "bounds": (0, 10)},
    "quantile": {"of": "cost", "bounds": (0, 10), "at": 0.5},
    "describe": {"numbers": "cost"},
    "tables": {"by": ["item", "cost"], "domain": [["a", "b"], ["0", "1"]], "delta": "1e-6"},
}
OPTIONS = [(kind, option) for kind in KINDS.values() for option in kind.options]
TYPED = [
    (kind, option)
    for kind, option in OPTIONS
    if option.type.words == 1 and not option.type.repeats and "python" in option.faces
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clinic")
    rows = "".join(f"{place},{'ab'[place % 2]},{place % 9}\n" for place in range(50))
    (folder / "visits.csv").write_text("patient,item,cost\n" + rows)
    return folder


@pytest.fixture
def table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in the folder where the test runs. Nothing is asked of it: all tests have the same one."""
    monkeypatch.chdir(folder)


@pytest.fixture
def clinic(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table in a folder of the test's own, and an account that pays for questions."""
    shutil.copy(folder / "visits.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    lb.Ledger("budget.db").create("clinic", epsilon=5)
    return tmp_path


def ask(kind: str, **options: Any) -> Any:
    asked = {"source": "visits.csv", "unit": "patient", "epsilon": 1, **BASE[kind], **options}
    return KINDS[kind].parse(asked).question


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(("kind", "option"), OPTIONS, ids=[f"{kind.name}-{option.name}" for kind, option in OPTIONS])
def test_ask_takes_a_value_or_refuses_it_in_one_line(kind: Any, option: Option) -> None:
    """Nothing else than a ParameterError, and no value breaks its line or its text."""
    for value in VALUES:
        try:
            ask(kind.name, **{option.name: value})
        except lb.LastbitError as error:
            text = str(error)
            assert "\n" not in text
            assert len(text) < 1500
            text.encode("utf-8")


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(("kind", "option"), TYPED, ids=[f"{kind.name}-{option.name}" for kind, option in TYPED])
def test_the_command_refuses_in_the_same_words(kind: Any, option: Option, capsys: Any) -> None:
    """Of the values that can be typed. The table does not exist: what is refused is refused before it is opened."""
    for value in ("x", "", "1/0", "²", "--unit", "-1", "0", "1e999999", "nan", "a" * 20_000):
        words = {"source": "none.csv", "unit": "patient", "epsilon": "1", **BASE[kind.name], option.name: value}
        typed = ["none.csv"]
        for name, given in words.items():
            flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
            if name == "domain" and given == ["a", "b"]:
                typed += [flag, "a,b"]
            elif isinstance(given, list):
                typed += [word for own in given for word in (flag, own if isinstance(own, str) else ",".join(own))]
            elif name != "source":
                typed += [flag, *(map(str, given) if isinstance(given, tuple) else [str(given)])]
        try:
            _ = kind.parse(words).question
            refusal = ""
        except lb.LastbitError as error:
            refusal = str(error)
        code = cli._run([kind.name, *typed], debug=False)
        shown = capsys.readouterr().err
        if refusal and value != "--unit":  # of which the command says that a value was left out
            assert code == 2
            assert shown == f"lastbit: {' '.join(refusal.split())}\n"
        else:
            assert code == 2
            assert shown.startswith("lastbit: ")
            assert shown.count("\n") == 1


def test_the_examples_that_were_provoked(clinic: Path) -> None:
    paid = {"unit": "patient", "epsilon": "1/10", "ledger": clinic / "budget.db", "dataset": "clinic"}
    lb.ask("quantile", Path("visits.csv"), of="cost", bounds=[0, 10], at=[0.25, 0.5], **paid)
    lb.ask("histogram", "visits.csv", of="cost", edges=[0, 5, 10], **paid)
    for k in ("2", 2.0, np.int64(2), 2):
        lb.ask("top", "visits.csv", by="item", domain=["a", "b"], k=k, reuse=True, **paid)
    spent = lb.Ledger("budget.db").account("clinic").spent
    assert spent == Fraction(3, 10)  # four spellings of k are one question
    for wrong, message in {
        "k": ("two", "-k must be a whole number of at least 1: got 'two'."),
        "where": (0, "--where must be text: got 0."),
        "by": ([], "top needs --by COLUMN."),
        "most_items": (True, "--most-items must be a whole number of at least 1: got True."),
        "monotone": ("false", "--monotone must be true or false, without quotes: got 'false'."),
    }.items():
        with pytest.raises(lb.ParameterError) as refused:
            lb.ask("top", "visits.csv", **{"by": "item", "domain": ["a", "b"], **paid, wrong: message[0]})
        assert message[1] in str(refused.value)
    with pytest.raises(lb.ParameterError, match="--one-each must be true or false"):
        lb.ask("count", "visits.csv", by="item", domain=["a"], one_each="false", **paid)
    assert lb.Ledger("budget.db").account("clinic").spent == spent


@pytest.mark.parametrize("face", ["service", "page"])
def test_whoever_asks_a_server_names_no_file_and_changes_no_table(face: Any, clinic: Path) -> None:
    (clinic / "items.txt").write_text("secret\n")
    fixed = {option.name for option in KINDS["top"].options if face not in option.faces}
    assert {"source", "unit", "sql", "table", "ledger", "dataset", "counts", "sensitivity", "monotone"} <= fixed
    for name in fixed:
        with pytest.raises(lb.ParameterError, match=f"there is no option '{name}' for top here"):
            KINDS["top"].parse({"by": "item", name: "x"}, face)
    (domain,) = [option for option in KINDS["top"].options if option.name == "domain"]
    for value in ("items.txt", ["items.txt", ["a"]], {"item": "items.txt"}, "a,b"):
        if face == "page":  # what a person types there are the items themselves
            assert set(domain.parse(value, face)[0].items) <= {"items.txt", "a", "b"}
            continue
        with pytest.raises(lb.ParameterError, match="must be a list of items, or a range"):
            domain.parse(value, face)
    assert domain.parse(["items.txt", "b"], face)[0].items == ("items.txt", "b")


def test_every_option_says_what_it_is() -> None:
    for kind in (*KINDS.values(), WATCH):
        names = [option.name for option in kind.options]
        assert len(names) == len(set(names)), kind.name
        for option in kind.options:
            assert option.help.endswith((".", '".')), option.name
            json.dumps(option.type.schema)
            if not option.required and option.default is not None:
                assert (
                    isinstance(option.type, Flag)
                    or option.default == ()
                    or option.type.parse(option.default, option.flag, "python") == option.default
                )


def test_two_spellings_of_one_question_are_one_identity() -> None:
    from lastbit.questions.identity import identity_of

    def facts(kind: str, **options: Any) -> Any:
        return identity_of(KINDS[kind].parse({"source": "v.csv", "unit": "u", "epsilon": 1, **options}))

    numbers = {"of": "cost", "bounds": (0, 10)}
    months = {"bounds": ("2024-01", "2024-12")}
    listed = {"by": "ward", "domain": ["a", "b"]}
    for one, other in [
        (facts("median", **numbers), facts("quantile", **{**numbers, "bounds": ["0", "10.0"]}, at="0.5")),
        (facts("histogram", month="day", **months), facts("histogram", of="day", every="month", **months)),
        (facts("histogram", **listed), facts("count", **listed)),
        (facts("count", **listed, one_each=True), facts("count", **{**listed, "domain": "a,b"}, most_items="1")),
        (facts("top", **listed, k=2), facts("top", **listed, k="2", level="0.9", note="again")),
    ]:
        assert one == other
    assert facts("top", **listed, k=2) != facts("top", **listed, k=3)
    assert facts("histogram", **listed) != facts("histogram", **listed, most_items=1)


def test_the_words_of_a_command_are_words_of_a_shell() -> None:
    request = KINDS["mean"].parse({"source": "it's.csv", "of": "a b", "bounds": (0, 9), "epsilon": 0.5})
    assert shlex.split(request.command) == [
        "lastbit", "mean", "it's.csv", "--epsilon", "0.5", "--of", "a b", "--bounds", "0", "9",
    ]  # fmt: skip
