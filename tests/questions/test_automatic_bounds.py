"""Sums and means whose bounds a share of the cost chooses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.numbers import Numbers
from lastbit.errors import ParameterError
from lastbit.mechanisms.parts import Parts
from lastbit.questions.automatic_bounds import AutomaticNumbers, describe_ends, widen
from lastbit.questions.kinds import KINDS
from lastbit.values.contribution_bound import one_key

AUTO: dict[str, Any] = {"unit": "who", "of": "number", "bounds": "auto"}


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "v.csv"
    path.write_text("who,number\n" + "".join(f"p{place},{place % 90}\n" for place in range(4000)))
    return str(path)


def test_the_answer_prints_the_bounds_the_people_clamped_and_what_its_interval_is_about(table: str) -> None:
    release = lb.ask("sum", table, **AUTO, epsilon=8)
    assert release.published["bounds"].bounds == (0, 100)
    notes = " ".join(release.report.notes)
    assert "for numbers clamped to the bounds" in notes
    assert "The bounds 0 and 100 were chosen" in notes
    assert "Number above 100 counts as 100: " in notes
    assert release.cost == 8
    assert list(release.published) == ["bounds", "answer"]
    assert "clamped" in release.published
    row = release.to_frame().iloc[0]
    assert row["low"] <= sum(place % 90 for place in range(4000)) <= row["high"]


@pytest.mark.parametrize("kind", ["sum", "mean"])
@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/8"}])
def test_the_cost_is_one_and_is_charged_once(kind: str, cost: dict[str, Any], table: str, tmp_path: Path) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", **dict.fromkeys(cost, 10))
    lb.ask(kind, table, **AUTO, **cost, ledger=str(tmp_path / "budget.db"), dataset="clinic")
    (entry,) = [entry for entry in ledger.history("clinic") if entry.kind == "charge"]
    ((name, amount),) = cost.items()
    assert entry.cost == f"{name} {amount}"
    again = lb.ask(
        kind, table, **AUTO, **cost, ledger=str(tmp_path / "budget.db"), dataset="clinic", reuse=True
    )  # fmt: skip
    assert again.report.data["charged"] == 0


def test_bounds_far_apart_are_widened_so_that_nothing_is_refused_after_the_charge() -> None:
    request = KINDS["mean"].parse({"source": "v.csv", **AUTO, "epsilon": 1})
    chosen = [Fraction(sign * times) * Fraction(10) ** power
              for sign in (-1, 1) for power in (-3, 0, 7, 15) for times in (1, 5)]  # fmt: skip
    for low in (Fraction(0), *(end for end in chosen if end < 0)):
        for high in (Fraction(0), *(end for end in chosen if end > 0)):
            if low < high:
                bounds = widen((low, high))
                assert bounds[0] <= low < high <= bounds[1]
                mechanism = AutomaticNumbers(request, "mean", "mean").with_bounds(bounds).ask().mechanism
                assert mechanism.cost == Fraction(3, 4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per": "row"}, "--per row needs --most-rows"),
        ({"by": "item", "domain": ["a"], "rho": "1e-30", "epsilon": None}, "larger rho"),
        ({"missing": "lowest"}, "leaves missing numbers out"),
        ({"bounds_share": 1}, "at most 1/2"),
        ({"bounds": ["auto", 5]}, "lower bound must be a finite number"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        _ = KINDS["sum"].parse({"source": "none.csv", **AUTO, "epsilon": 1, **options}).question


def test_the_command_takes_one_word(table: str, capsys: Any) -> None:
    assert (
        cli._run(["sum", table, "--unit", "who", "--of", "number", "--bounds", "auto", "--epsilon", "9"], debug=False)
        == 0
    )
    assert "The bounds 0 and 100" in " ".join(capsys.readouterr().out.split())
    request = KINDS["sum"].parse({"source": table, **AUTO, "epsilon": 9})
    assert "--bounds auto" in request.command
    assert 'bounds="auto"' in request.python


PEOPLE = {"ann": [("a", 3)], "bob": [("a", -2), ("b", 2)], "eve": [("b", 1), ("b", 2)]}
"""Bob has numbers on both sides of zero, in two groups: he counts in the choice of bounds once."""
FORMS: dict[str, dict[str, Any]] = {
    "all": {},
    "groups": {"by": "group", "domain": ["a", "b"]},
    "one each": {"by": "group", "domain": ["a", "b"], "one_each": True},
    "rows": {"rows": True, "most_rows": 2},
}


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_law_is_within_the_cost_on_neighbours(form: str, tmp_path: Path) -> None:
    """All parts at once, on a list of two bounds: the exact laws of a table with and without one person."""

    def program(people: tuple[str, ...]) -> tuple[Any, Parts]:
        path = tmp_path / f"{'-'.join(people)}.csv"
        rows = [f"{who},{group},{value}\n" for who in people for group, value in PEOPLE[who]]
        path.write_text("who,group,number\n" + "".join(rows))
        options = {"source": str(path), **AUTO, **FORMS[form], "resolution": 1, "epsilon": 40, "people_share": "1/8"}
        rule = "row" if form == "rows" else "total"
        auto = AutomaticNumbers(KINDS["mean"].parse(options), rule, "mean", choices=(1, 2), parts=1)
        with one_key(1):
            values = auto.ask().reading.run()  # type: ignore[union-attr]
        return auto.mechanism.ready(values), auto.mechanism

    whole, mechanism = program(tuple(PEOPLE))
    for gone in PEOPLE:
        rest, _ = program(tuple(who for who in PEOPLE if who != gone))
        verdict = lb.audit.compare(whole, rest, mechanism.cost, Fraction(1, 8))
        assert verdict.holds, f"{form} without {gone}: {verdict}"
        cheaper = lb.Cost.of(1)
        assert lb.audit.compare(whole, rest, cheaper, Fraction(1, 8)).verdict == "violated"


def test_each_person_counts_once_in_the_choice_by_their_number_furthest_from_zero(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    rows = [f"{who},{group},{value}\n" for who in PEOPLE for group, value in PEOPLE[who]]
    path.write_text("who,group,number\n" + "".join(rows))
    for form, furthest in {"groups": [2, 3, 3], "rows": [2, 2, 3]}.items():
        options = {"source": str(path), **AUTO, **FORMS[form], "resolution": 1, "epsilon": 1}
        rule = "row" if form == "rows" else "total"
        auto = AutomaticNumbers(KINDS["sum"].parse(options), rule, "sum")
        values = auto.ask().reading.run()  # type: ignore[union-attr]
        assert sorted(values["bounds"].steps.tolist()) == furthest


def test_people_beyond_chosen_bounds_are_on_one_side_each() -> None:
    """Of a table that two units have: one from -5 to 3, one at 1. Bounds are chosen after the table is read."""
    extremes = np.array([-5, -5, 1]), np.array([3, 3, 1])
    ends = Fraction(-(1 << 60)), Fraction(1 << 60)
    numbers = Numbers(
        np.array([3, -5, 1]), np.array([0, 1, 0]), (), Fraction(1), ends, 2, ranks=np.array([1, 2, 1]),
        extremes=extremes, apart=True,
    )  # fmt: skip
    for bounds, clamped, sums in (
        ((-5, 3), [0, 0], [(14, 2), (0, 1)]),
        ((-2, 3), [1, 0], [(8, 2), (0, 1)]),
        ((-2, 2), [0, 1], [(7, 2), (0, 1)]),
        ((-(10**30), 10**30), [0, 0], [(2 * 10**30 + 4, 2), (10**30 - 5, 1)]),
    ):
        near = numbers.clamp_to((Fraction(bounds[0]), Fraction(bounds[1])))
        assert near.clamped_people.values.tolist() == clamped
        assert list(near.keep_first(2).group_sums(2).values) == sums


def test_nobody_knows_who_is_beyond_the_end_of_the_list() -> None:
    request = KINDS["sum"].parse({"source": "v.csv", "unit": "p", "of": "cost", "bounds": "auto", "epsilon": 1})
    chooser = lb.AutomaticBounds(choices=[1, 2, 5], epsilon=1)
    for low, high, ends in ((0, 2, False), (-2, 2, False), (0, 5, True), (-5, 1, True)):
        said = describe_ends(chooser, (Fraction(low), Fraction(high)), request, one_number=True)
        assert ("which ends there: any number of people may be beyond." in said) is ends
        assert ("with probability 95% at most" in said) is not ends
