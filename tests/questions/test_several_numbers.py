"""Several columns of numbers in one release: each is the question that it would be alone, at its share of one cost."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.errors import ParameterError
from lastbit.mechanisms import mechanism
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan
from lastbit.questions.within import price_accuracy
from lastbit.values.contribution_bound import one_key
from tests.cli.test_counts_and_sums import Quiet

BOUNDS = {"cost": (0, 50), "stay": (-3, 6)}
OPTIONS: dict[str, Any] = {"unit": "who", "of": ["cost", "stay"], "bounds": BOUNDS}
GROUPS: dict[str, Any] = {"by": "ward", "domain": ["a", "b"]}
FORMS: dict[str, dict[str, Any]] = {
    "all": {},
    "groups": GROUPS,
    "one each": {**GROUPS, "one_each": True},
    "rows": {"rows": True, "most_rows": 2},
    "rows of groups": {**GROUPS, "rows": True, "most_rows": 2},
    "some rows": {"where": "ward = 'a'"},
    "nothing about people": {"people_share": 0},
    "chosen": {"bounds": "auto"},
    "one chosen": {"bounds": {"stay": "auto", "cost": (0, 50)}},
}


@pytest.fixture
def frame() -> pd.DataFrame:
    rows = [
        {
            "who": f"p{n // 2}",
            "ward": "ab"[n % 3 % 2],
            "cost": n % 70 if n % 5 else None,
            "stay": n % 11 - 4 if n % 7 else None,
        }
        for n in range(600)
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def table(frame: pd.DataFrame, tmp_path: Path) -> str:
    frame.to_csv(tmp_path / "v.csv", index=False)
    return str(tmp_path / "v.csv")


def parse(kind: str = "mean", **options: Any) -> Any:
    cost = {} if {"epsilon", "rho"} & options.keys() else {"epsilon": 1}
    return KINDS[kind].parse({"source": "v.csv", **OPTIONS, **cost, **options})


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("form", FORMS)
def test_each_column_is_the_question_that_it_is_alone_at_its_share(kind: str, form: str) -> None:
    """The mechanism of each part is that of the column alone, bounds and all, so that the law is the product."""
    for name, cost in (("epsilon", "2/3"), ("rho", "1/7")):
        several = parse(kind, **{**FORMS[form], name: cost}).question.mechanism
        bounds = FORMS[form].get("bounds", BOUNDS)
        for column in ("cost", "stay"):
            own = bounds if bounds == "auto" else bounds[column]
            half = {**FORMS[form], "of": column, "bounds": own, name: Fraction(cost) / 2}
            alone = parse(kind, **half).question.mechanism
            part = several.parts[column]
            assert (part.name, part.parameters, part.cost) == (alone.name, alone.parameters, alone.cost)
        whole = parse(kind, **{**FORMS[form], "of": "cost", "bounds": (0, 50), name: cost}).question.mechanism
        assert getattr(several.cost, name) == getattr(whole.cost, name) == Fraction(cost)
        assert list(several.parts) == ["cost", "stay"]


def test_three_columns_have_a_third_of_the_cost_each() -> None:
    parts = parse(of="cost,stay,age", bounds=(0, 9), epsilon="1/2").question.mechanism
    assert [part.cost.epsilon for part in parts.parts.values()] == [Fraction(1, 6)] * 3
    assert parts.cost.epsilon == Fraction(1, 2)


def test_the_whole_law_is_the_product_and_is_within_the_cost_on_neighbours(tmp_path: Path) -> None:
    people = {"ann": "1,2\n", "bob": "0,1\n", "eve": "2,\n"}

    def program(names: tuple[str, ...], **options: Any) -> tuple[Any, Any]:
        path = tmp_path / f"{'-'.join(names)}.csv"
        path.write_text("who,cost,stay\n" + "".join(f"{who},{people[who]}" for who in names))
        own = {"bounds": {"cost": (0, 1), "stay": (0, 2)}, "epsilon": 8, "people_share": 0, "resolution": 1, **options}
        question = parse("sum", source=str(path), **own).question
        return question.mechanism.ready(question.reading.run()), question.mechanism

    whole, several = program(tuple(people))
    law = lb.audit.law(whole, Fraction(1, 8))
    laws = {}
    for column, bounds in {"cost": (0, 1), "stay": (0, 2)}.items():
        alone, _ = program(tuple(people), of=column, bounds=bounds, epsilon=4)
        laws[column] = lb.audit.law(alone, Fraction(1, 64))
    checked = 0
    for release, mass in law.masses.items():
        masses = [laws[column].masses.get(release[column]) for column in ("cost", "stay")]
        if None not in masses:
            assert mass == masses[0] * masses[1]
            checked += 1
    assert checked > 3
    for gone in people:
        rest, _ = program(tuple(who for who in people if who != gone))
        assert lb.audit.compare(whole, rest, several.cost, Fraction(1, 8)).holds


@pytest.mark.parametrize("kind", ["mean", "sum"])
@pytest.mark.parametrize("form", [name for name in FORMS if "chosen" not in name])
def test_without_noise_a_file_a_frame_and_each_column_alone_say_the_same(
    kind: str, form: str, table: str, frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mechanism, "_SYSTEM", Quiet())
    options = {**OPTIONS, **FORMS[form], "epsilon": 1, "resolution": "1/1024"}
    with one_key(5):
        answers = [lb.ask(kind, source, **options).to_frame() for source in (table, frame)]
    pd.testing.assert_frame_equal(*answers)
    rows = answers[0]
    assert list(rows.columns[:2]) == (["of", "ward"] if "by" in options else ["of", "people"])
    for column in ("cost", "stay"):
        with one_key(5):
            alone = lb.ask(kind, table, **{**options, "of": column, "bounds": BOUNDS[column], "epsilon": "1/2"})
        own = rows[rows["of"] == column].drop(columns="of").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, alone.to_frame())
    if form == "all":
        clamped = frame.assign(cost=frame["cost"].clip(0, 50), stay=frame["stay"].clip(-3, 6))
        how = "mean" if kind == "mean" else "sum"
        by_person = (clamped if kind == "mean" else frame).groupby("who")[["cost", "stay"]].agg(how)
        by_person = by_person.clip({"cost": 0, "stay": -3}, {"cost": 50, "stay": 6}, axis=1)
        has = frame.groupby("who")[["cost", "stay"]].count() > 0
        truth = by_person.where(has).agg(how)
        assert np.allclose(rows.set_index("of")["value"], truth.loc[["cost", "stay"]], atol=0.01)
        assert rows.set_index("of")["people"].round(6).to_dict() == has.sum().to_dict()


def test_the_answer_names_its_numbers_in_every_form(table: str, tmp_path: Path) -> None:
    options = {**OPTIONS, **GROUPS, "epsilon": 9, "noun": "patient,patients"}
    answer = lb.ask("mean", table, **options)
    assert answer.title == "Mean cost and stay per patient, by ward"
    assert lb.ask("sum", table, **OPTIONS, epsilon=9).title == "Sums of cost and stay of all people"
    assert answer.report.columns["of"] == ["cost", "cost", "stay", "stay"]
    assert "The cost is shared evenly among the 2 columns of numbers" in " ".join(answer.report.notes)
    assert "Of stay: stay below -3 counts as -3: " in " ".join(answer.report.notes)
    panels = answer.panels
    assert [(panel.heading, panel.name) for panel in panels] == [
        ("cost", "Mean cost per patient"), ("stay", "Mean stay per patient"),
    ]  # fmt: skip
    assert [panel.from_zero for panel in panels] == [True, False]
    assert answer.hide(below=10**6).panels[1].heights == [None, None]
    assert "Of stay: numbers were limited to -3 to 6." in answer.methods()
    assert "shared evenly" in answer.methods()
    data = answer.data
    assert data["of"] == ["cost", "stay"]
    assert data["groups"]["of"] == answer.report.columns["of"]
    assert data["parts"]["stay"]["of"] == "stay"
    assert data["bounds"] == [[0, 50], [-3, 6]]
    assert answer.pivot("of", "ward").columns.tolist() == ["of", "a", "b"]
    # A number of the last column alone is not taken for one of the whole answer.
    with pytest.raises(AttributeError):
        _ = answer.means
    assert answer.published["cost"].cost == Fraction(9, 2)
    alone = lb.ask("mean", table, **OPTIONS, epsilon=9)
    assert [panel.labels for panel in alone.panels] == [["cost"], ["stay"]]
    assert lb.compare(answer, answer, as_="difference").to_frame()["of"].tolist() == data["groups"]["of"]


def test_a_group_called_of_stands_under_another_name(frame: pd.DataFrame) -> None:
    answer = lb.ask("mean", frame.rename(columns={"ward": "of"}), **OPTIONS, by="of", domain=["a", "b"], epsilon=9)
    assert list(answer.to_frame().columns[:2]) == ["of", "of (group)"]
    assert [panel.labels for panel in answer.panels] == [["a", "b"], ["a", "b"]]


def test_one_charge_one_entry_and_the_books_show_it_again(table: str, tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=10)
    paid = {"ledger": str(tmp_path / "budget.db"), "dataset": "clinic", "epsilon": 1}
    first = lb.ask("mean", table, **OPTIONS, **GROUPS, **paid)
    (entry,) = [entry for entry in ledger.history("clinic") if entry.kind == "charge"]
    assert entry.cost == "epsilon 1"
    assert ledger.account("clinic").spent == 1
    again = lb.ask("mean", table, **{**OPTIONS, "of": "cost, stay"}, **GROUPS, **paid, reuse=True)
    assert again.report.data["charged"] == 0
    pd.testing.assert_frame_equal(first.to_frame(), again.to_frame())
    rebuilt = rebuild_request(entry.question, [table], lambda _: first.request.typed_domains[0], epsilon=1)
    assert rebuilt is not None
    assert rebuilt["of"] == ("cost", "stay")


def test_a_budget_for_one_column_reads_nothing_of_two(table: str, tmp_path: Path) -> None:
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon="1/2")
    with pytest.raises(lb.BudgetExceeded):
        lb.ask("mean", table, **OPTIONS, ledger=str(tmp_path / "budget.db"), dataset="clinic", epsilon=1)


def test_two_spellings_are_one_question_and_another_order_is_another() -> None:
    facts = {"cost": {"bounds": [0, 50]}, "stay": {"bounds": [-3, 6]}}
    known = identity_of(parse())
    for options in (
        {"of": "cost,stay"},
        {"of": "cost , stay", "bounds": {"stay": ("-3.0", "6"), "cost": ("0", "100/2")}},
        {"bounds": "cost=0,50;stay=-3,6"},
        {"bounds": None, "columns": facts},
        {"bounds": {"stay": (-3, 6)}, "columns": {"cost": facts["cost"]}},
    ):
        assert identity_of(parse(**options)) == known, options
    assert known["options"]["of"] == ["cost", "stay"]
    assert identity_of(parse(of=["stay", "cost"])) != known
    assert identity_of(parse(bounds=(0, 9))) == identity_of(parse(bounds={"cost": (0, 9), "stay": (0, 9)}))
    for one in ({"of": ["cost"]}, {"of": "cost", "bounds": {"cost": (0, 50)}}):
        alone = parse(**{"bounds": (0, 50), **one})
        assert identity_of(alone)["options"] == {"per": "mean", "unit": "who", "of": "cost", "bounds": ["0", "50"]}


def test_the_command_takes_the_bounds_of_each_column(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mean", table, "--unit", "who", "--of", "cost,stay", "--bounds", "cost=0,50", "--epsilon", "9"]
    assert cli._run([*words, "--bounds", "stay=-3,6", "--json"], debug=False) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["groups"]["of"] == ["cost", "stay"]
    assert told["bounds"] == [[0, 50], [-3, 6]]
    request = parse()
    assert "--of cost,stay --bounds cost=0,50 --bounds stay=-3,6" in request.command
    assert 'bounds={"cost": ["0", "50"], "stay": ["-3", "6"]}' in request.python
    assert cli._run(words, debug=False) == 2
    assert "--bounds must be for every column of --of: 'stay' has none" in " ".join(capsys.readouterr().err.split())
    assert cli._run([*words, "--bounds", "0", "5"], debug=False) == 2
    assert "must name its column every time" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bounds": {"cost": (0, 5), "stay": (0, 5), "age": (0, 9)}}, "must be for columns of --of: got 'age'"),
        ({"bounds": {"cost": (0, 5)}}, "'stay' has none. Write --bounds stay=0,100 too"),
        ({"bounds": {}}, "got none. Write --bounds cost=0,5000"),
        ({"of": "cost", "bounds": {"stay": (0, 5)}}, "must be for columns of --of: got 'stay'"),
        ({"of": ["cost", "cost"]}, "must name each column once: got 'cost' twice"),
        ({"of": []}, "must name a column of numbers: got none"),
        ({"of": ["cost", 3]}, "--of must be text: got 3"),
        ({"of": "cost,"}, "--of must not be empty"),
        ({"bounds": {"cost": (0, 5), "stay": 7}}, "--bounds of stay must be two values"),
        ({"bounds": "cost=0,5;stay=3"}, "NAME=LOW,HIGH for each column: got 'stay=3'"),
        ({"bounds": "cost=0,5;cost=0,6"}, "must name each column once: got 'cost' twice"),
        ({"bounds": {"cost": (0, 5), "stay": (6, 5)}}, "--bounds must rise: got lower 6 and upper 5"),
        ({"by": ["1 as stay"], "domain": ["1"]}, "'stay' is the column of --of"),
        ({"columns": {"stay": {"bounds": [0, 1]}}}, "contradicts what --columns says of stay"),
        ({"columns": {"stay": {"bounds": [0, 1]}}, "bounds": (0, 9)}, "contradicts what --columns says of stay"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        _ = parse(**options).question


def test_a_pipe_is_refused_before_a_row_is_read() -> None:
    reading = parse(source="-").question.reading
    for read in (reading.run, reading.check_columns):
        with pytest.raises(ParameterError, match="read once for each column"):
            read()


def test_a_publication_answers_it_and_is_verified(table: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        f"""
[study]
title = "Two numbers"
edition = "1"
[data]
files = "{table}"
unit = "who"
[budget]
epsilon = 9
ledger = "budget.db"
dataset = "clinic"
[columns.ward]
values = ["a", "b"]
[columns.cost]
bounds = [0, 50]
[columns.stay]
bounds = [-3, 6]
[[question]]
name = "both"
ask = "mean"
of = ["cost", "stay"]
by = "ward"
"""
    )
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=9)
    folder = str(tmp_path / "out")
    assert cli._run(["publish", "run", str(tmp_path / "study.toml"), "--folder", folder], debug=False) == 0
    assert cli._run(["verify", folder], debug=False) == 0
    release = json.loads((tmp_path / "out" / "release.json").read_text("utf-8"))
    assert release["answers"]["both"]["columns"]["of"] == ["cost", "cost", "stay", "stay"]


def test_names_with_commas_and_semicolons_stay_names() -> None:
    request = parse(of=["a,b", "c;d=e"], bounds={"a,b": (0, 1), "c;d=e": (0, 2)})
    assert request["of"] == ("a,b", "c;d=e")
    assert request["bounds"].pairs == (("a,b", ("0", "1")), ("c;d=e", ("0", "2")))
    typed = parse(of='"a,b",c;d=e', bounds="a,b=0,1;c;d=e=0,2")
    assert identity_of(typed) == identity_of(request)


def test_a_plan_says_the_accuracy_of_each_column_and_finds_the_cost_of_the_worst() -> None:
    plan = make_plan(parse(epsilon=2), units=500)
    alone = {
        column: make_plan(parse(of=column, bounds=bounds, epsilon=1), units=500).accuracy
        for column, bounds in BOUNDS.items()
    }
    for column, accuracy in alone.items():
        assert f"Of {column}: w{accuracy.sentence[1:]}" in plan.accuracy.sentence
    assert plan.accuracy.within == alone["cost"].within
    assert plan.data["cost"] == "epsilon 2"
    cost = Fraction(price_accuracy(parse(epsilon=None, within=1), 500)["epsilon"])
    assert make_plan(parse(epsilon=cost), units=500).accuracy.within <= 1
    with pytest.raises(ParameterError, match="Nobody knows what 100% is"):
        price_accuracy(parse(epsilon=None, within="2%"), 500)
    assert price_accuracy(parse(bounds=(0, 9), epsilon=None, within="2%"), 500)["epsilon"] is not None
