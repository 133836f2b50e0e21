"""Hostile values and lists that once broke a question: each was refused too late, mislabelled, or never ended."""

from __future__ import annotations

import decimal
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lastbit as lb
from lastbit.questions.answer import Payer, answer
from lastbit.questions.domain import Domain
from lastbit.questions.domains import Domains
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS

LISTED: dict[str, Any] = {"source": "v.csv", "by": "item", "domain": ["a", "b"], "unit": "u", "epsilon": 1}


@pytest.fixture
def wards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table whose column of groups has whole numbers, and an account."""
    monkeypatch.chdir(tmp_path)
    table = {"u": range(30), "ward": [place % 3 + 1 for place in range(30)], "cost": [5.0] * 30}
    pq.write_table(pa.table({name: list(values) for name, values in table.items()}), "v.parquet")
    lb.Ledger("budget.db").create("clinic", epsilon=5)


@pytest.mark.usefixtures("wards")
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("histogram", {}),
        ("top", {"k": 2}),
        ("median", {"of": "cost", "bounds": (0, 10), "one_each": True}),
    ],
)
@pytest.mark.parametrize("domain", ["1,01,2", {"ward": ["1", "1.0", "2"]}, ["1", "2", "02"]])
def test_two_names_of_one_item_are_refused_before_the_charge(kind: str, more: dict[str, Any], domain: Any) -> None:
    """A release has one number for each item that was named, so the numbers would stand beside other items."""
    paid = {"ledger": "budget.db", "dataset": "clinic", "epsilon": 1, "unit": "u", "by": "ward"}
    with pytest.raises(lb.ParameterError):
        lb.ask(kind, "v.parquet", domain=domain, **paid, **more)
    assert lb.Ledger("budget.db").account("clinic").spent == 0
    lb.ask(kind, "v.parquet", domain="01,2,3", **paid, **more)


@pytest.mark.parametrize(
    "k",
    [decimal.Decimal("1e999999999"), decimal.Decimal("sNaN"), decimal.Decimal("-Infinity"), Fraction(10**5000 + 1, 2)],
    ids=["long", "signal", "infinite", "fraction"],
)
def test_a_number_that_is_not_whole_is_refused_at_once(k: Any) -> None:
    with pytest.raises(lb.ParameterError, match="-k must be a whole number of at least 1: got "):
        KINDS["top"].parse({**LISTED, "k": k})


@pytest.mark.parametrize("kind", ["top", "choose", "measure"])
def test_no_more_items_are_asked_for_than_a_domain_can_have(kind: str) -> None:
    plan = KINDS[kind].parse_plan({"k": 2 * 10**7, "epsilon": 1}, items=2**63 - 1)
    assert plan.question.accuracy(1000).within > 0
    with pytest.raises(lb.ParameterError, match="-k must be at most 20,000,000"):
        KINDS[kind].parse_plan({"k": 2 * 10**7 + 1, "epsilon": 1}, items=2**63 - 1)


def test_a_long_list_is_not_the_name_of_a_file() -> None:
    long = "a" * 300
    assert Domain.parse(f"{long},b").items == (long, "b")
    assert Domain.parse(long).items == (long,)
    with pytest.raises(lb.ParameterError, match="must be a file with one item per line"):
        Domain.parse(f"{long}.txt")


def test_an_item_that_is_no_number_is_refused() -> None:
    for item in (decimal.Decimal("sNaN"), decimal.Decimal("NaN"), float("nan")):
        with pytest.raises(lb.ParameterError, match="inside it"):
            Domain.parse(["a", item], face="python")


@pytest.mark.parametrize(
    "domain",
    [
        [float("inf"), "a"],
        [np.float64(2.5), np.int64(3), np.str_("a")],
        ["--x", "b"],
        [f"item {place}" for place in range(3000)],
        ["-x", "b"],
    ],
    ids=["infinite", "numpy", "option", "long", "hyphen"],
)
def test_both_texts_name_the_same_items(domain: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    request = KINDS["top"].parse({**LISTED, "domain": domain, "k": 1})
    seen: list[Any] = []
    monkeypatch.setattr(lb, "ask", lambda kind, source, **more: seen.append({"source": source, **more}))
    exec(request.python, {})
    assert identity_of(KINDS["top"].parse(seen[0])) == identity_of(request)
    *files, line = request.command.splitlines()
    for file in files:
        _, _, *items, _, name = shlex.split(file)
        Path(name).write_text("\n".join(items) + "\n")
    words = shlex.split(line)
    word = words[words.index("--domain") + 1]
    assert Domains().parse([word], "--domain", "command")[0].digest == request.items.domains[0].digest


def test_a_pipe_is_not_named_again(tmp_path: Path) -> None:
    """The items that came through it are written out: nobody can read them a second time."""
    import os

    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n")
    os.close(writer)
    request = KINDS["top"].parse({**LISTED, "domain": f"/dev/fd/{reader}", "k": 1})
    os.close(reader)
    assert "--domain a,b " in request.command
    assert 'domain=["a", "b"]' in request.python
    assert "/dev/fd" not in request.about
    file = tmp_path / "items.txt"
    file.write_text("a\nb\n")
    assert str(file) in KINDS["top"].parse({**LISTED, "domain": file, "k": 1}).command


def test_a_file_is_not_taken_for_an_option() -> None:
    assert "lastbit count ./-x.csv " in KINDS["count"].parse({"source": "-x.csv", "unit": "u", "epsilon": 1}).command
    assert "lastbit count - " in KINDS["count"].parse({"source": "-", "unit": "u", "epsilon": 1}).command


def test_ask_takes_its_files_once() -> None:
    with pytest.raises(lb.ParameterError, match="source must be given once"):
        lb.ask("count", "a.csv", source="b.csv", unit="u", epsilon=1)


def test_the_order_of_quantiles_is_no_other_question() -> None:
    asked = {"source": "v.csv", "unit": "u", "of": "cost", "bounds": (0, 10), "epsilon": 1}
    one, other = (identity_of(KINDS["quantile"].parse({**asked, "at": at})) for at in ("0.75,0.5", ["1/2", 0.75]))
    assert one == other


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("histogram", {"by": "item", "domain": ["a", "b"], "unit": "row"}),
        ("histogram", {"month": "date", "bounds": ("2024-01", "2024-12"), "unit": "u"}),
        ("histogram", {"of": "cost", "bounds": (0, 10), "bins": 5, "unit": "u"}),
        (
            "histogram",
            {"by": "item", "domain": [["a"], ["2024-01"]], "weights": "c", "bounds": (0, 9), "month": "d", "unit": "u"},
        ),
        ("median", {"of": "cost", "bounds": (0, 10), "by": "item", "domain": ["a", "b"], "unit": "row"}),
        ("sum", {"of": "cost", "bounds": (0, 10), "unit": "row"}),
    ],
)
def test_a_plan_of_a_whole_command_is_the_plan_of_that_command(kind: str, asked: dict[str, Any]) -> None:
    """Also where each row is one person, and where the bounds are those of dates."""
    asked = {"source": "v.csv", "epsilon": 1, **asked}
    planned, dry = KINDS[kind].parse_plan(asked).question, KINDS[kind].parse(asked).question
    assert planned.mechanism.parameters == dry.mechanism.parameters
    assert planned.accuracy(1000) == dry.accuracy(1000)
    assert planned.notes == dry.notes


@pytest.mark.parametrize(
    ("kind", "plain", "said"),
    [
        ("mean", {}, "mean"),
        ("median", {}, "mean"),
        ("sum", {}, "total"),
        ("mean", {"latest_by": "date"}, "latest"),
        ("sum", {"most_rows": 3}, "row"),
    ],
)
def test_a_rule_that_follows_is_the_rule_that_is_said(kind: str, plain: dict[str, Any], said: str) -> None:
    asked = {"source": "v.csv", "unit": "u", "of": "cost", "bounds": (0, 10), "epsilon": 1, **plain}
    facts = [identity_of(KINDS[kind].parse({**asked, **more})) for more in ({}, {"per": said})]
    assert facts[0] == facts[1]
    other = "total" if said == "mean" else "mean"
    if not plain:
        assert identity_of(KINDS[kind].parse({**asked, "per": other})) != facts[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"by": "a", "domain": ["xy", "z"]}, {"by": "a", "domain": ["x", "yz"]}),
        ({"by": "a", "domain": ['x"\n"y']}, {"by": "a", "domain": ["x", "y"]}),
        ({"by": "a", "domain": ["x", "y"]}, {"by": "a", "domain": ["y", "x"]}),
        ({"by": ["a", "b"], "domain": [["x"], ["y"]]}, {"by": ["a", "b"], "domain": [["y"], ["x"]]}),
        ({"by": ["a", "b"], "domain": [["x", "y"], ["z"]]}, {"by": ["a", "b"], "domain": [["x"], ["y", "z"]]}),
        ({"by": ["a", "b"], "domain": {"a": "x,", "b": "y,"}}, {"by": ["b", "a"], "domain": {"a": "x,", "b": "y,"}}),
    ],
)
def test_other_items_are_another_question(one: dict[str, Any], other: dict[str, Any]) -> None:
    asked = {"source": "v.csv", "unit": "u", "epsilon": 1}
    assert identity_of(KINDS["count"].parse({**asked, **one})) != identity_of(KINDS["count"].parse({**asked, **other}))


@pytest.mark.usefixtures("wards")
def test_what_an_answer_protects_and_who_may_stop_it() -> None:
    paid = {"source": "v.parquet", "ledger": "budget.db", "dataset": "clinic", "epsilon": 1, "by": "ward"}
    stated = KINDS["count"].parse({**paid, "domain": "1,2", "counts": "cost", "sensitivity": 1})
    payer = Payer.of(stated)
    assert payer is not None
    assert payer.identity.protects == "person"

    def refuse() -> None:
        raise lb.ParameterError("stopped")

    with pytest.raises(lb.ParameterError, match="stopped"):
        answer(stated, payer, last_moment=refuse)
    assert lb.Ledger("budget.db").account("clinic").spent == 0
    answer(stated, payer, once="a key")
    with pytest.raises(lb.LedgerError):
        answer(stated, payer, once="a key")
    assert lb.Ledger("budget.db").account("clinic").spent == 1


@pytest.mark.parametrize(
    ("asked", "total", "squared"),
    [
        ({"unit": "u"}, 3, 3),
        ({"unit": "u", "most_items": 2}, 2, 2),
        ({"unit": "u", "most_items": 9}, 3, 3),
        ({"unit": "row"}, 1, 1),
        ({"unit": "u", "weights": "cost", "bounds": (-4, 2), "most_items": 2}, 8, 32),
        ({"counts": "n", "sensitivity": 5}, 15, 75),
        ({"counts": "n", "sensitivity": 5, "most_items": 2}, 10, 50),
    ],
)
def test_how_far_one_person_moves_the_numbers_of_items(asked: dict[str, Any], total: int, squared: int) -> None:
    """All numbers together for Laplace noise, and their squares for Gaussian noise."""
    shared = {"source": "v.csv", "by": "item", "domain": "a,b,c", **asked}
    laplace, gaussian = (
        KINDS["histogram"].parse({**shared, **cost}).question.mechanism.parameters
        for cost in ({"epsilon": 1}, {"rho": 1})
    )
    # Where a bound leaves people out, another part measures how many: one person moves one number of it by one.
    part = "answer." if asked.get("most_items") == 2 and "counts" not in asked else ""
    assert laplace[f"{part}sensitivity"] == str(total)
    assert gaussian.get(f"{part}squared_sensitivity", "1") == str(squared)
    # Where numbers are clamped, too, that part has half of what is left for people.
    share = "1/20" if "bounds" in asked else "1/10"
    assert (laplace.get("spread.sensitivity"), laplace.get("spread.epsilon")) == (
        ("1", share) if part else (None, None)
    )
    assert laplace[f"{part}epsilon"] == ("9/10" if part else "1")


@pytest.mark.parametrize(("most", "moved"), [(None, 3), ("all", 3), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_one_person_is_in_no_more_bins_than_there_are(most: Any, moved: int) -> None:
    asked = {"source": "v.csv", "unit": "u", "of": "cost", "edges": [0, 1, 2], "most_items": most, "epsilon": 1}
    parameters = KINDS["histogram"].parse(asked).question.mechanism.parameters
    assert parameters["answer.sensitivity" if most in (1, 2) else "sensitivity"] == str(moved)
    alone = KINDS["histogram"].parse({**asked, "people_share": 0}).question.mechanism.parameters
    assert (alone["sensitivity"], alone["epsilon"]) == (str(moved), "1")


def test_a_stated_sensitivity_is_whole() -> None:
    for wrong in ("1/2", "5/2", 0, -1):
        with pytest.raises(lb.ParameterError, match="--sensitivity must be a whole number from 1 on"):
            _ = KINDS["top"].parse({**LISTED, "unit": None, "counts": "n", "sensitivity": wrong}).items


def test_a_mapping_of_domains_follows_the_columns() -> None:
    asked = {"source": "v.csv", "unit": "u", "by": ["a", "b"], "domain": {"b": ["y"], "a": ["x"]}, "epsilon": 1}
    assert list(KINDS["count"].parse(asked).items.names) == [("x", "y")]
