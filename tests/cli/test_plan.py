"""What `plan` says of each command is what a release of the command has."""

from __future__ import annotations

import json
import re
import shlex
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.number_grid import reach_below_step
from lastbit.ledger import Account
from lastbit.questions.kinds import KINDS
from lastbit.questions.plan import describe_plan, make_plan
from lastbit.questions.report import account_line


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


def plan(command: str, capsys: Any) -> dict[str, Any]:
    assert run(f"plan {command} --json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_plan_that_the_budget_refuses_charges_nothing(tmp_path: Any) -> None:
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=1)
    paid = {"source": "v.csv", "unit": "patient", "ledger": str(tmp_path / "budget.db"), "dataset": "clinic"}
    for epsilon, allowed in ((1, True), (2, False)):
        planned = make_plan(KINDS["count"].parse({**paid, "epsilon": epsilon}))
        assert bool(planned.refusal) is not allowed
        assert planned.charge == (epsilon if allowed else None)
        assert planned.data["charged"] == planned.charge == describe_plan(planned)["charged"]
        assert (planned.data["allowed"], planned.data["left"]) == (allowed, {"epsilon": 1})
        assert planned.data["left_after"] == ({"epsilon": 0} if allowed else None)


def test_a_plan_costs_nothing_where_the_books_are_asked_for_what_they_have(tmp_path: Any) -> None:
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=3)
    (tmp_path / "v.csv").write_text("patient\n1\n2\n")
    paid = {"unit": "patient", "ledger": str(tmp_path / "budget.db"), "dataset": "clinic", "epsilon": "1/2"}
    lb.ask("count", str(tmp_path / "v.csv"), **paid)
    for reuse, charged in ((False, Fraction(1, 2)), (True, 0)):
        planned = make_plan(KINDS["count"].parse({**paid, "source": str(tmp_path / "v.csv"), "reuse": reuse}))
        assert planned.previous_entry is not None
        assert planned.data["charged"] == charged
        assert ("reused" in planned.data) is reuse
        assert describe_plan(planned)["charged"] == Fraction(1, 2)  # a key of the service pays anew


@pytest.mark.parametrize("people", [20, 5000])
def test_made_up_values_are_of_as_many_people_as_the_plan_speaks_of(people: int) -> None:
    planned = make_plan(KINDS["count"].parse({"source": "v.csv", "unit": "patient", "epsilon": 20}), units=people)
    (count,) = planned.sample().report.table["value"]
    assert abs(count - people) < 10


class Quiet:
    """A draw whose noise is zero: then a release is the truth, and its interval lies around it."""

    def laplace(self, rate: Any, size: int) -> Any:
        return np.zeros(size, np.int64)

    gaussian = laplace

    def integer(self, n: int) -> int:
        return 0


QUIET: Any = Quiet()


def test_every_releasing_command_has_a_plan(capsys: Any) -> None:
    assert run("--help") == 0
    listed = capsys.readouterr().out.split("Commands:")[1].split("\n\n")[0]
    free = {"plan", "budget", "audit", "columns", "completion", "serve", "token", "publish", "verify", "compare"}
    assert set(re.findall(r"^  (\w+)  +\S", listed, re.MULTILINE)) - free == {*KINDS, "watch"}
    assert run("plan --help") == 0
    planned = set(re.findall(r"^  (\w+)  +\S", capsys.readouterr().out.split("Commands:")[1], re.MULTILINE))
    assert planned == {*KINDS, "watch"}


def test_histogram(capsys: Any) -> None:
    for options, mechanism in (
        ("--most-items 1 --epsilon 1/10", lb.DiscreteLaplace(epsilon="9/100")),
        ("--epsilon 1", lb.DiscreteLaplace(epsilon=1, sensitivity=12)),
        ("--rho 1/10 --most-items 3", lb.DiscreteGaussian(rho="9/100", squared_sensitivity=3)),
    ):
        low, high = mechanism.release(np.array([100] * 12), draw=QUIET).interval("0.95")[0]
        assert plan(f"histogram --items 12 {options}", capsys)["within"] == (high - low) / 2


def test_count_and_sum(capsys: Any) -> None:
    for options, mechanism in (
        ("count --epsilon 1", lb.DiscreteLaplace(epsilon=1)),
        ("count --rows --most-rows 5 --rho 1/2", lb.DiscreteGaussian(rho="9/20", squared_sensitivity=25)),
        ("count --items 12 --most-items 1 --epsilon 1/10", lb.DiscreteLaplace(epsilon="9/100")),
        ("count --items 12 --most-items 1 --epsilon 1/10 --people-share 0", lb.DiscreteLaplace(epsilon="1/10")),
        ("count --items 12 --most-items 1 --epsilon 1/10 --people-share 1/4", lb.DiscreteLaplace(epsilon="3/40")),
    ):
        low, high = mechanism.release(100, draw=QUIET).interval("0.95")
        assert plan(options, capsys)["within"] == (high - low) / 2
    for options, each, epsilon in (("", 1, "9/5"), ("--most-rows 3", 3, "9/5"), ("--people-share 0", 1, 2)):
        facts: Any = {"groups": ["all"], "bounds": (-50, 100), "resolution": "1/10", "most_rows": each}
        release = lb.GroupMeans(**facts, epsilon=epsilon).release({"all": [10, 20]}, draw=QUIET)
        ((low, high),) = release.total_intervals("0.95")
        found = plan(f"sum --bounds -50 100 --resolution 1/10 --epsilon 2 {options}", capsys)
        # A sum that lies between two steps is floored, and each number of 1,000 people by a hair.
        hair = 1000 * reach_below_step((-50, 100))
        assert Fraction(found["exact"]["within"]) == (high - low) / 2 + Fraction(1, 10) + hair


def test_quantiles(capsys: Any) -> None:
    shared: dict[str, Any] = {"bounds": (0, 1000), "epsilon": "9/10", "resolution": 1}
    step = "--bounds 0 1000 --resolution 1 --epsilon 1"
    one = lb.Quantile(q="1/2", **shared).accuracy("0.95")
    for command in ("median", "quantile", "quantile --at 0.5"):
        assert Fraction(plan(f"{command} {step}", capsys)["exact"]["within"]) == one
    several = lb.Quantiles(qs=["1/10", "9/10"], **shared, most_values=2).accuracy("0.95")
    found = plan(f"quantile --at 0.9,0.1 --most-rows 2 {step}", capsys)
    assert Fraction(found["exact"]["within"]) == max(several)


def test_measure(capsys: Any) -> None:
    release = lb.SelectAndMeasure(k=3, epsilon=1, monotone=True).release(np.array([50, 900, 80, 3]))
    low, high = release.intervals("0.9")[0]
    found = plan("measure -k 3 --epsilon 1 --level 0.9", capsys)
    assert Fraction(found["exact"]["within"]) == (high - low) / 2


def test_mean(capsys: Any) -> None:
    mechanism = lb.GroupMeans(groups=["all"], epsilon="9/10", bounds=(0, 1000))
    ((fewest, most),) = mechanism.release({"all": [500] * 2000}, draw=QUIET).people_intervals("0.95")
    found = plan("mean --bounds 0 1000 --people 2000 --epsilon 1", capsys)
    within = mechanism.accuracy("0.95", 2000) + reach_below_step((0, 1000))
    assert Fraction(found["exact"]["within"]) == within
    # Narrower than that of a sum and a number at a bound, where theirs is widest.
    low, high = lb.NoisyMean(epsilon="9/10", bounds=(0, 1000)).release([1000] * 2000, draw=QUIET).interval("0.95")
    assert within < high - low
    assert f"the number of people is off by at most {-(-(most - fewest) // 2) + 1}." in found["promise"]
    assert plan("mean --bounds 0 10 --people 2 --epsilon 1", capsys)["within"] == 10


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        ("above --limit 3 --epsilon 1", {"monotone": True, "limit": 3, "epsilon": 1}),
        ("watch --limit 1 --epsilon 2", {"limit": 1, "epsilon": 2}),
        ("watch --rho 1/2 --sensitivity 3 --monotone", {"limit": 1, "rho": "1/2", "sensitivity": 3, "monotone": True}),
    ],
)
def test_above_and_watch(options: str, parameters: dict[str, Any], capsys: Any) -> None:
    """A query so far off is told rightly with 95%, by the exact law of the noise; one a step nearer is not."""
    noise = lb.SparseVector(threshold=0, **parameters).gap_noise
    reach = plan(options, capsys)["within"]
    right = [min(noise.at_least(-steps), 1 - noise.at_least(steps)) for steps in (reach - 1, reach)]
    assert right[0] < Fraction(95, 100) <= right[1]


@pytest.mark.parametrize(
    ("command", "within"),
    [
        ("choose --items 18 -k 3", 20),
        ("measure -k 2", 9),
        ("histogram --items 5", 12),
        ("mean --bounds 0 100 --people 900", 2),
        ("above --limit 2", 15),
        ("watch --sensitivity 4", 60),
        ("count", 7),
        ("sum --bounds 0 100", 500),
        ("median --bounds 0 100", 12),
    ],
)
def test_the_least_epsilon_for_an_accuracy(command: str, within: int, capsys: Any) -> None:
    found = plan(f"{command} --within {within}", capsys)
    epsilon = Fraction(found["exact"]["epsilon"])
    assert Fraction(found["exact"]["within"]) <= within
    assert plan(f"{command} --epsilon {epsilon}", capsys)["exact"]["within"] == found["exact"]["within"]
    assert Fraction(plan(f"{command} --epsilon {epsilon * Fraction(99, 100)}", capsys)["exact"]["within"]) > within


def test_what_cannot_be_planned_says_why(capsys: Any) -> None:
    for command, message in {
        "plan foo --epsilon 1": "No such command 'foo'",
        "plan mean --epsilon 1 --bounds 0 1 --people 0": "--people must be a whole number of at least 1: got 0",
        "plan mean --epsilon 1 --people 5": "mean needs --bounds LOW HIGH",
        "plan quantile --at x --bounds 0 1 --epsilon 1": "--at must be a finite number",
        "plan above": "exactly one of --epsilon, --rho and --within",
        "plan sum --bounds 0 5 --weights x --epsilon 1": "No such option: --weights",
        "plan count --items 5 --domain a,b --epsilon 1": "--items says how long a domain is",
        "plan above --epsilon 1 --within 5": "exactly one of --epsilon, --rho and --within",
        "plan watch --within 0 --threshold 5": "within must be positive",
        f"plan histogram --items {2**63} --epsilon 1": "--items must be below 2^63",
    }.items():
        assert run(command) == 2
        assert message in capsys.readouterr().err


def test_a_bound_in_a_sentence_is_rounded_to_the_side_on_which_it_holds(capsys: Any) -> None:
    """People are whole numbers, and a bound that is cut to six digits is still a bound."""
    for command in ("measure -k 10", "mean --bounds 0 100 --people 1000", "above", "choose --items 20", "count"):
        assert run(f"plan {command} --epsilon 1") == 0
        said = capsys.readouterr().out
        assert re.search(r"\d (people|person)|people by at most \d", said), command
        assert not re.search(r"\.\d+ people|people by at most [\d,]+\.\d", said)
    assert run("plan sum --bounds 0 1234567 --resolution 1/1000 --epsilon 1/3") == 0
    said = capsys.readouterr().out
    exact = Fraction(plan("sum --bounds 0 1234567 --resolution 1/1000 --epsilon 1/3", capsys)["exact"]["within"])
    (printed,) = re.findall(r"at most ([\d,]+),", said)
    assert exact <= int(printed.replace(",", "")) < exact + 1
    account = Account.with_limit("c", epsilon=1).charged(lb.Cost.of("1/3000000"))
    assert account_line(account) == "c: spent 3.33334e-7 of 1, 0.999999 left (epsilon)"


@pytest.mark.parametrize(
    ("command", "share", "whole"),
    [
        ("count", "2%", 5000),
        ("histogram --items 12", "1/2%", 5000),
        ("median --bounds 0 100", "2%", 5000),
        ("mean --bounds 0 400", "1%", 400),
        ("sum --bounds -50 100", "3%", 500_000),
    ],
)
def test_an_accuracy_in_percent(command: str, share: str, whole: int, capsys: Any) -> None:
    """Of counts and ranks the share is of all units, of means of the bounds, of sums of the largest possible sum."""
    wish = Fraction(share.removesuffix("%")) * whole / 100
    for within in (share, str(wish)):
        data = plan(f"{command} --people 5000 --within {within}", capsys)
        assert Fraction(data["exact"]["within"]) <= wish
        assert Fraction(data["exact"]["within"]) > wish * Fraction(9, 10)


def test_a_plan_says_what_a_dry_run_says(tmp_path: Any, capsys: Any) -> None:
    table = tmp_path / "visits.csv"
    table.write_text("patient,cost,item\n1,5,a\n")
    for command in (
        "count --unit patient --epsilon 1",
        "mean --of cost --unit patient --bounds 0 100 --people 700 --epsilon 1",
        "sum --of cost --unit patient --bounds 0 100 --rho 1/10",
        "median --of cost --unit patient --bounds 0 100 --epsilon 1",
        "histogram --of cost --unit patient --bounds 0 100 --bins 5 --epsilon 1",
        "histogram --by item --unit patient --domain a,b --epsilon 1",
        "measure --by item --unit patient --domain a,b -k 1 --epsilon 1",
        "above --by item --unit patient --domain a,b --threshold 3 --epsilon 1",
    ):
        kind, *options = command.split(" ", 1)
        assert run(f"{kind} {table} {options[0]} --dry-run --json") == 0
        dry = json.loads(capsys.readouterr().out)
        assert dry == plan(f"{kind} {table} {options[0]}", capsys)
        assert dry["promise"] in dry["notes"]
        assert "95%" in dry["promise"]
