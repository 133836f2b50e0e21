"""An accuracy as a price: what is bought is what the plan says, of public facts alone; one question to the books."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import make_plan
from lastbit.questions.within import buy_accuracy

WARDS = {"by": "ward", "domain": ["n", "s"]}
VALUES = {"of": "cost", "bounds": [0, 100]}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "people": ("count", {}),
    "people of groups": ("count", WARDS),
    "people, one each": ("count", {**WARDS, "one_each": True}),
    "rows": ("count", {"rows": True, "most_rows": 3}),
    "rows of groups": ("count", {**WARDS, "rows": True, "most_rows": 3}),
    "values": ("count", {"different": "item", "most_items": 3}),
    "values of groups": ("count", {"different": "item", "most_items": 3, **WARDS}),
    "discovered": ("count", {"by": "item", "discover": True, "delta": "1e-6", "most_items": 2}),
    "bins": ("histogram", {"of": "cost", "bounds": [0, 100], "bins": 4, "most_items": 2}),
    "sum": ("sum", VALUES),
    "mean": ("mean", {**VALUES, "people": 500}),
    "mean of groups": ("mean", {**VALUES, **WARDS, "people": 500}),
    "two means": ("mean", {"of": ["cost", "age"], "bounds": [0, 100], "people": 500}),
    "share": ("share", {"of": "cost > 5", "people": 500}),
    "median": ("median", VALUES),
    "quantiles": ("quantile", {**VALUES, "at": [0.1, 0.9]}),
    "top": ("top", {**WARDS, "k": 1}),
    "top with numbers": ("top", {**WARDS, "k": 1, "numbers": True}),
    "top, discovered": ("top", {"by": "item", "discover": True, "delta": "1e-6", "k": 2}),
    "set": ("top", {**WARDS, "k": 1, "set": True}),
    "above": ("above", {**WARDS, "threshold": 5}),
    "choose": ("choose", WARDS),
    "choose with delta": ("choose", {**WARDS, "k": 2, "delta": "1e-6"}),
    "measure": ("measure", {**WARDS, "k": 1}),
    "tables": ("tables", WARDS),
    "tables with delta": ("tables", {**WARDS, "delta": "1e-6"}),
}


def parse(case: str, **more: Any) -> Any:
    kind, options = ASKED[case]
    return KINDS[kind].parse({"source": "v.csv", "unit": "who", **options, **more})


@pytest.mark.parametrize("case", ASKED)
def test_the_accuracy_is_reached_at_the_least_cost(case: str) -> None:
    units = ASKED[case][1].get("people", 1000)
    wish = 90 if case == "sum" else 9
    bought = buy_accuracy(parse(case, within=wish))
    ((currency, price),) = bought.cost.items()
    assert currency == ("rho" if case == "tables" else "epsilon")
    assert bought.question.accuracy(units).within <= wish
    # It has four digits: one step less in the last is too little.
    digits = Fraction(price)
    step = Fraction(1)
    while digits / step >= 10**4:
        step *= 10
    while digits / step < 10**3:
        step /= 10
    assert (digits / step).denominator == 1
    assert bought.change(**{currency: digits - step}).question.accuracy(units).within > wish
    typed = parse(case, **{currency: price})
    assert bought.question.mechanism == typed.question.mechanism
    assert [make_plan(bought, units=units).data["promise"]] == bought.spell([bought.purchase.promise])


@pytest.mark.parametrize(
    ("case", "wish", "wrong"),
    [
        ("people", "0", "--within must be positive: got 0"),
        ("people", "-3", "--within must be positive: got -3"),
        ("people", "0%", "--within must be positive: got 0"),
        ("people", "nan", "--within must be a finite number: got 'nan'"),
        ("people", "inf", "--within must be a finite number"),
        ("people", "%", "--within must be a finite number"),
        ("people", "5%%", "--within must be a finite number"),
        ("people", "about 5", "--within must be a finite number: got 'about 5'"),
        ("people", "1e99999", "--within must fit in 4096 bits"),
        ("people", "1e400", "every epsilon gives this one. Ask for a smaller one"),
        ("people", "5%", "--within 5% depends on how many people there are: type a public guess, as --people 4000"),
        ("people", "5 %", "--within 5% depends on how many people there are"),
        ("median", "5%", "--within 5% depends on how many people there are"),
        ("sum", "1e-30", "accuracy must be one that epsilon 2048 can give"),
        ("mean", "100", "every epsilon gives this one"),
        ("top", "100%", "--within 100% depends on how many people"),
        ("values", "5%", "--within must be a number here, without %: got 5%"),
    ],
)
def test_what_cannot_be_bought_says_what_to_type(case: str, wish: str, wrong: str) -> None:
    with pytest.raises(lb.ParameterError, match=wrong.replace("'", ".")):
        buy_accuracy(parse(case, within=wish))


def test_an_accuracy_that_costs_more_than_protects_anybody_is_not_bought_unseen() -> None:
    assert float(buy_accuracy(parse("sum", within="34"))["epsilon"]) <= 10
    for within, price in (("33", r"10\.21"), ("9", r"38\.59")):
        with pytest.raises(lb.ParameterError, match=f"would cost epsilon {price}, .* type --epsilon {price} to pay it"):
            buy_accuracy(parse("sum", within=within))


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "rho": 1}])
def test_a_cost_beside_an_accuracy_is_refused(cost: dict[str, Any]) -> None:
    with pytest.raises(lb.ParameterError, match="exactly one of --epsilon, --rho and --within"):
        buy_accuracy(parse("people", within=5, **cost))


def test_what_depends_on_people_needs_a_guess_of_them() -> None:
    asked: dict[str, Any] = {"source": "v.csv", "unit": "who", "within": 9}
    for kind, options in (("mean", VALUES), ("share", {"of": "cost > 5"})):
        with pytest.raises(lb.ParameterError, match="type a public guess, as --people 4000, or a cost"):
            buy_accuracy(KINDS[kind].parse({**asked, **options}))
    # The least with 2·exp(-11·epsilon) <= (1 + exp(-epsilon)) / 20, and with 41 in the place of 11.
    guess = [buy_accuracy(parse("people", within="1%", people=people))["epsilon"] for people in (1000, 4000)]
    assert list(map(Fraction, guess)) == [Fraction("0.2844"), Fraction("0.07396")]
    # A percentage of how far the bounds are apart, or of 100 points, needs the guess for the mean and the share alone.
    assert buy_accuracy(parse("mean", within="9%"))["epsilon"] == buy_accuracy(parse("mean", within=9))["epsilon"]
    assert buy_accuracy(parse("share", within="9%"))["epsilon"] == buy_accuracy(parse("share", within=9))["epsilon"]


@pytest.mark.parametrize("kind", ["mean", "sum"])
def test_an_accuracy_that_nobody_knows_before_the_release_is_not_sold(kind: str) -> None:
    for more in ({}, {"of": ["cost", "age"]}, WARDS):
        asked = {"source": "v.csv", "unit": "who", "of": "cost", **more, "bounds": "auto", "within": 9, "people": 500}
        with pytest.raises(
            lb.ParameterError, match=r"known before the table is read.*Type --bounds LOW HIGH, or a cost"
        ):
            buy_accuracy(KINDS[kind].parse(asked))


def test_who_asks_for_automatic_bins_is_told_to_type_edges() -> None:
    for kind, options in (
        ("count", {"edges": {"cost": "auto:4"}}),
        ("histogram", {"of": "cost", "bins": 4, "bounds": "auto"}),
    ):
        with pytest.raises(lb.ParameterError, match="Type the edges, as --edges cost 0,100,200, or a cost, as"):
            buy_accuracy(KINDS[kind].parse({"source": "v.csv", "unit": "who", "within": 9, **options}))


def test_a_share_of_listed_values_is_of_their_number() -> None:
    asked = {"source": "v.csv", "unit": "who", "different": "item", "domain": {"item": ["a", "b", "c", "d"]}}
    bought = buy_accuracy(KINDS["count"].parse({**asked, "within": "50%"}))
    assert bought["epsilon"] == buy_accuracy(KINDS["count"].parse({**asked, "within": 2}))["epsilon"]
    assert bought.purchase is not None
    assert bought.purchase.sentence.endswith("50% is of the 4 values that are listed.")


def test_the_price_is_that_of_a_person_in_several_units() -> None:
    bought = buy_accuracy(
        KINDS["count"].parse({"source": "v.csv", "unit": ["who", "day"], "most_units": 4, "within": 100})
    )
    assert bought.purchase is not None
    assert (bought["epsilon"], bought.question.mechanism.cost.text) == ("0.02981", "epsilon 0.11924")
    assert bought.purchase.sentence == "--within 100 is --epsilon 0.02981, and costs epsilon 0.11924."


@pytest.fixture
def visits(tmp_path: Path) -> str:
    rows = "".join(f"{who},{'ns'[who % 2]},{who % 90}\n" for who in range(300))
    (tmp_path / "visits.csv").write_text("who,ward,cost\n" + rows)
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=1)
    return str(tmp_path / "visits.csv")


def test_the_books_have_one_question_for_an_accuracy_and_its_price(visits: str) -> None:
    paid: dict[str, Any] = {"unit": "who", "ledger": str(Path(visits).with_name("budget.db")), "dataset": "clinic"}
    first = lb.ask("count", visits, **paid, **WARDS, within=20)
    epsilon = Fraction(first.request["epsilon"])
    assert first.books["charged"] == epsilon
    again = [
        lb.ask("count", visits, **paid, **WARDS, reuse=True, within="20.0"),
        lb.ask("count", visits, **paid, **WARDS, reuse=True, epsilon=epsilon),
        lb.ask("histogram", visits, **paid, **WARDS, reuse=True, within=20),
    ]
    assert again == [first] * 3
    assert lb.Ledger(paid["ledger"]).account("clinic").spent == epsilon
    shown = " ".join(str(first).split())
    assert f"within=20 costs epsilon {float(epsilon)}. With probability 95%" in shown
    assert f'epsilon="{float(epsilon)}"' in first.request.python
    assert "within" not in first.request.python


def test_a_description_is_bought_by_the_ranks_of_its_quartiles(visits: str) -> None:
    release = lb.ask("describe", visits, unit="who", numbers="cost", within=90)
    assert release.request.purchase.promise in release.report.notes
    assert release.request.question.accuracy(300).within <= 90


def test_the_level_of_a_release_that_is_shown_again_changes_no_price(visits: str) -> None:
    for more in ({}, {"together": True}, {"level": "0.9"}):
        release = lb.ask("count", visits, unit="who", **WARDS, within=20, **more)
        assert release.to_frame(level="0.5")["low"].tolist() > release.to_frame()["low"].tolist()


def run(command: list[str], capsys: Any) -> tuple[int, str]:
    code = cli._run(command, debug=False)
    out, err = capsys.readouterr()
    return code, out + err


def test_the_command_the_plan_and_a_dry_run_say_one_price(visits: str, capsys: Any) -> None:
    asked = ["sum", visits, "--unit", "who", "--of", "cost", "--bounds", "0", "90", "--within", "500"]
    later = Path(visits).with_name("later.json")
    code, shown = run([*asked, "--dry-run", "--json", str(later)], capsys)
    assert (code, later.exists()) == (0, False)
    assert "No file was written: the release writes it." in shown
    code, dry = run([*asked, "--dry-run", "--json"], capsys)
    assert (code, json.loads(dry)["dry_run"]) == (0, True)
    code, plan = run(["plan", *asked[:1], *asked[2:], "--json"], capsys)
    assert (code, json.loads(plan)["epsilon"]) == (0, json.loads(dry)["epsilon"])
    code, answer = run([*asked, "--json"], capsys)
    assert code == 0
    notes = json.loads(answer[: answer.rindex("}") + 1])["notes"]
    assert f"--within 500 costs epsilon {json.loads(dry)['epsilon']}." in notes
    assert json.loads(dry)["promise"] in notes


def test_rows_are_people_where_somebody_insists_and_frames_have_no_file() -> None:
    frame = pd.DataFrame({"row": [1, 1, 2] * 40, "item": ["a", "b", "a"] * 40})
    assert lb.ask("count", frame, unit="row", within=5).columns()["value"][0] < 60  # two people
    assert lb.ask("count", frame.drop(columns="row"), unit="row", within=5).columns()["value"][0] > 60
