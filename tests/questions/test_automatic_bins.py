"""Counts by bins whose bounds a share of the cost chooses."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.errors import ParameterError
from lastbit.questions.automatic_bins import AutomaticBins
from lastbit.questions.counts import count
from lastbit.questions.kinds import KINDS
from lastbit.values.bins import Bins
from lastbit.values.contribution_bound import one_key
from tests.laws.test_automatic_bounds import whole_law

AUTO: dict[str, Any] = {"unit": "who", "of": "number", "bounds": "auto", "bins": 4}


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "v.csv"
    rows = [(f"p{place}", place % 90) for place in range(4000)]
    path.write_text("who,number\n" + "".join(f"{who},{number}\n" for who, number in rows))
    return str(path)


def test_the_answer_has_the_bounds_the_people_beyond_and_the_bins_between(table: str) -> None:
    release = lb.ask("histogram", table, **AUTO, epsilon=40)
    assert list(release.published) == ["bounds", "clamped", "answer"]
    assert release.published["bounds"].bounds == (0, 100)
    assert release.cost == 40
    frame = release.to_frame()
    assert frame["number"].tolist() == ["under 25", "25 to 49", "50 to 74", "75 and over"]
    true = [sum(place % 90 // 25 == part for place in range(4000)) for part in range(4)]
    for low, high, people in zip(frame["low"], frame["high"], true, strict=True):
        assert low <= people <= high
    notes = " ".join(release.report.notes)
    assert "Number above 100 is in the last bin: " in notes
    assert "Number below 0 is in the first bin: " in notes
    assert "The bounds 0 and 100 were chosen from a public list; with probability 95% at most " in notes
    assert release.report.data["bounds"] == [0, 100]
    assert release.report.data["edges"] == [0, 25, 50, 75]


def test_a_column_that_is_called_cost_takes_no_place_of_the_cost(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("who,ward,cost\n" + "".join(f"p{place},a,{place % 90}\n" for place in range(400)))
    release = lb.ask("count", str(path), unit="who", edges={"cost": "auto:2"}, epsilon=40)
    assert release.report.data["cost"] == "epsilon 40"
    by_cost = {"of": "ward", "bounds": "auto", "by": "cost", "domain": "1,2"}
    assert lb.ask("sum", str(path), unit="who", **by_cost, epsilon=40).report.data["cost"] == "epsilon 40"


def test_both_spellings_are_one_question_to_the_ledger(table: str, tmp_path: Path) -> None:
    books = str(tmp_path / "budget.db")
    lb.Ledger(books).create("clinic", epsilon=10)
    paid = {"unit": "who", "epsilon": 1, "ledger": books, "dataset": "clinic"}
    first = lb.ask("histogram", table, of="number", bounds="auto", bins=4, **paid)
    again = lb.ask("count", table, edges={"number": "auto:4"}, reuse=True, **paid)
    assert again.report.data["charged"] == 0
    assert again.to_frame().equals(first.to_frame())
    (entry,) = [entry for entry in lb.Ledger(books).history("clinic") if entry.kind == "charge"]
    assert entry.cost == "epsilon 1"
    request = KINDS["count"].parse({"source": table, "unit": "who", "edges": ["number=auto:4"], "epsilon": 1})
    assert "--edges number auto:4" in request.command
    assert KINDS["histogram"].parse({"source": table, **AUTO, "epsilon": 1}).canonical.command == request.command


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"one_each": True},
        {"closed": True},
        {"by": "group", "domain": ["a", "b"]},
        {"rows": True, "most_rows": 2},
        {"missing": "show", "by": "group", "domain": ["a"], "others": "show"},
        {"where": "number < 50", "missing": 7},
        {"by": "group", "delta": "1e-6", "most_items": 2},
    ],
    ids=lambda options: ", ".join(options) or "plain",
)
def test_people_are_counted_as_between_typed_edges(options: dict[str, Any], tmp_path: Path) -> None:
    """Whatever bounds are published, what is counted is what the question with these edges counts."""
    path, numbers = tmp_path / "v.csv", (3, -7, 12.5, 55, "", "n/a", 99, 0)
    rows = [(place % 7, "abc"[place % 3], numbers[place % 8]) for place in range(40)]
    path.write_text("who,group,number\n" + "".join(f"{who},{group},{number}\n" for who, group, number in rows))
    plain = {"source": str(path), "unit": "who", "epsilon": 1, **options}
    bins = AutomaticBins(KINDS["count"].parse({**plain, "edges": {"number": "auto:4"}}), count)
    with one_key(3):
        values = bins.ask().reading.run()  # type: ignore[union-attr]
    for bounds, edges in (((0, 100), [0, 25, 50, 75]), ((-10, 50), [-10, 5, 20, 35])):
        closed = [*edges, bounds[1]] if "closed" in options else edges
        own = KINDS["count"].parse({**plain, "edges": {"number": closed}}).question
        with one_key(3):
            counted = own.reading.run()  # type: ignore[union-attr]
        chosen = values["answer"].make({"bounds": Chosen(bounds)})
        assert main_values(chosen) == main_values(counted)
        # Of each person all numbers, in whatever group.
        known = [(who, number) for who, _, number in rows if number not in ("", "n/a")]
        people = {who: [number for own, number in known if own == who] for who, _ in known}
        if "where" not in options:
            above = sum(max(own) > bounds[1] for own in people.values())
            below = sum(min(own) < bounds[0] and max(own) <= bounds[1] for own in people.values())
            assert values["clamped"].make({"bounds": Chosen(bounds)}).values.tolist() == [below, above]


def test_all_bounds_that_may_be_chosen_make_bins() -> None:
    """Nothing is refused after the charge: not the edges between any two bounds of the list, however many bins."""
    for bins in (2, 3, 7, 10_000):
        request = KINDS["count"].parse({"source": "v.csv", "unit": "who", "edges": {"x": f"auto:{bins}"}, "epsilon": 1})
        auto = AutomaticBins(request, count)
        ends = [Fraction(step, 1000) for step in auto.mechanism.parts["bounds"]._distances.tolist()]
        assert ends[:4] == [0, Fraction(1, 1000), Fraction(1, 500), Fraction(1, 200)]
        assert ends[-1] == (2 * 10**12 if bins < 10_000 else 10**11)
        for low in ends[:: 1 if bins < 9 else 9]:
            for high in ends[1 :: 1 if bins < 9 else 9]:
                assert len(Bins.of(bounds=(-low, high), bins=bins)) == bins
    assert auto.with_bounds((Fraction(-ends[-1]), ends[1])).mechanism.cost == Fraction(27, 40)


def test_a_list_that_ends_says_that_anybody_may_be_beyond(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text("who,number\n" + "".join(f"p{place},1e30\n" for place in range(400)))
    for kind, more, far in (("histogram", {"bins": 2}, "2,000,000,000,000"), ("sum", {}, "2000000000000")):
        release = lb.ask(kind, str(path), unit="who", of="number", bounds="auto", **more, epsilon=40)
        assert release.published["bounds"].bounds == (0, 2 * 10**12)
        notes = " ".join(release.report.notes)
        assert "which ends there: any number of people may be beyond." in notes
        assert "with probability 95% at most" not in notes
        assert release.report.data["clamped_above"] > 390
        assert far.replace(",", "") in notes.replace(",", "")


def test_numbers_between_two_steps_of_the_list_are_beyond_the_lower_one(tmp_path: Path) -> None:
    """A number just above a bound is beyond it: floored to the step it would have been at it."""
    path = tmp_path / "v.csv"
    asked = (("histogram", {"bins": 2}, "1000.0004"), ("sum", {}, "1000.0004"), ("mean", {"resolution": 1}, "1000.4"))
    for kind, more, number in asked:
        path.write_text("who,number\n" + "".join(f"p{place},{number}\n" for place in range(400)))
        release = lb.ask(kind, str(path), unit="who", of="number", bounds="auto", **more, epsilon=40)
        assert release.published["bounds"].bounds == (0, 2000)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("histogram", {**AUTO, "bins": None}, "--bounds auto needs a number of bins here"),
        ("histogram", {"unit": "who", "month": "day", "bounds": "auto"}, "--bounds auto needs a number of bins here"),
        ("histogram", {**AUTO, "edges": [0, 1]}, "edges take the place of bounds and bins"),
        ("histogram", {**AUTO, "bounds_share": 1}, "at most 1/2"),
        ("count", {"unit": "who", "edges": {"a": "auto:2", "b": "auto:3"}}, "automatic bins for one column"),
        ("count", {"unit": "who", "edges": {"a": "auto:2"}, "weights": "x", "bounds": (0, 1)}, "count people or rows"),
        ("count", {"unit": "who", "edges": {"a": "auto:two"}}, "from 2 to 10,000, of automatic bins: got 'auto:two'"),
        ("count", {"unit": "who", "edges": {"a": "auto:10001"}}, "Write --edges age auto:10"),
        ("histogram", {**AUTO, "bins": 1}, "two automatic bins or more"),
        ("mean", {**AUTO, "bins": None, "edges": {"a": "auto:2"}}, "in count and histogram alone"),
        (
            "count",
            {"unit": "who", "edges": {"a": "auto:2"}, "domain": {"a": [1, 2]}},
            "nobody knows before the release",
        ),
        ("count", {"unit": "who", "edges": {"a": "auto:2"}, "domain": "1,2"}, "nobody knows before the release"),
        ("count", {"unit": "who", "edges": {"a": "auto:2"}, "rho": "1e-30", "epsilon": None}, "larger rho"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_read(kind: str, options: Any, message: str) -> None:
    options = {name: value for name, value in {"epsilon": 1, **options}.items() if value is not None}
    with pytest.raises(ParameterError, match=message):
        _ = KINDS[kind].parse({"source": "none.csv", **options}).canonical.question


def test_a_column_that_holds_no_numbers_is_refused_before_the_charge(tmp_path: Path) -> None:
    import duckdb

    path, books = tmp_path / "v.parquet", str(tmp_path / "budget.db")
    duckdb.sql("SELECT 'a' AS who, 'text' AS number, DATE '2024-01-01' AS day").write_parquet(str(path))
    lb.Ledger(books).create("clinic", epsilon=10)
    paid = {"unit": "who", "epsilon": 1, "ledger": books, "dataset": "clinic"}
    duckdb.sql("SELECT 'a' AS who, 1 AS number, DATE '2024-01-01' AS day").write_parquet(str(tmp_path / "w.parquet"))
    by_months = {"of": "number", "bins": 2, "bounds": "auto", "by": "day", "domain": "2024-01..2024-02"}
    with pytest.raises(lb.LastbitError, match="holds dates, and --domain lists months"):
        lb.ask("histogram", str(tmp_path / "w.parquet"), **by_months, **paid)
    for asked in (
        {"of": "number", "bins": 2, "bounds": "auto"},  # text
        {"of": "day", "bins": 2, "bounds": "auto"},
        {"of": "nothing", "bins": 2, "bounds": "auto"},
    ):
        with pytest.raises(lb.LastbitError):
            lb.ask("histogram", str(path), **asked, **paid)
    assert [entry.kind for entry in lb.Ledger(books).history("clinic")] == ["create"]


def test_bins_without_open_ends_keep_the_last_one() -> None:
    """Equal bins between bounds are as many as were asked for, with open ends or without."""
    asked = {"source": "v.csv", "of": "age", "bounds": [0, 90], "bins": 3, "unit": "who", "epsilon": 1}
    command = KINDS["histogram"].parse({**asked, "closed": True}).canonical.command
    assert "--edges age 0,30,60,90 --closed" in command


PEOPLE = {"ann": [0], "bob": [-2, 2], "eve": [2, 1]}
"""Bob has numbers on both sides of zero."""
FORMS: dict[str, dict[str, Any]] = {"plain": {}, "one each": {"one_each": True}, "closed": {"closed": True}}


@pytest.mark.parametrize("form", FORMS)
def test_the_whole_law_is_within_the_cost_on_neighbours(form: str, tmp_path: Path) -> None:
    """All parts at once, on a list of two bounds: the exact laws of a table with and without one person."""

    def program(people: tuple[str, ...]) -> tuple[Any, Any]:
        path = tmp_path / f"{'-'.join(people)}.csv"
        path.write_text("who,number\n" + "".join(f"{who},{value}\n" for who in people for value in PEOPLE[who]))
        options = {"source": str(path), "unit": "who", "edges": {"number": "auto:2"}, "epsilon": 40, **FORMS[form]}
        auto = AutomaticBins(KINDS["count"].parse({**options, "people_share": "1/8"}), count, choices=(1, 2))
        with one_key(1):
            values = auto.ask().reading.run()  # type: ignore[union-attr]
        return auto.mechanism.ready(values), auto.mechanism

    whole, mechanism = program(tuple(PEOPLE))
    assert mechanism.cost == 40
    for gone in PEOPLE:
        rest, _ = program(tuple(who for who in PEOPLE if who != gone))
        verdict = lb.audit.compare(whole, rest, mechanism.cost, Fraction(1, 8))
        assert verdict.holds, f"{form} without {gone}: {verdict}"
        assert lb.audit.compare(whole, rest, lb.Cost.of(1), Fraction(1, 8)).verdict == "violated"


def test_the_law_is_that_of_the_bounds_times_that_of_the_noise(tmp_path: Path) -> None:
    """As fractions: each outcome has the mass of its bounds, by the closed form, times that of each number's noise."""
    path = tmp_path / "v.csv"
    path.write_text("who,number\n" + "".join(f"{who},{value}\n" for who in PEOPLE for value in PEOPLE[who]))
    request = KINDS["count"].parse(
        {"source": str(path), "unit": "who", "edges": {"number": "auto:2"}, "epsilon": 8, "people_share": 0}
    )
    auto = AutomaticBins(request, count, choices=(1, 2))
    assert list(auto.mechanism.parts) == ["bounds", "answer"]
    chooser: Any = auto.mechanism.parts["bounds"]
    values = auto.ask().reading.run()  # type: ignore[union-attr]
    chosen = whole_law(chooser, [0, 2, 2], [1, 2])  # of each person the number furthest from zero, of two the positive
    counted = {  # how many people have a number below the middle, and how many one from it on
        (0, 1): (2, 2), (0, 2): (2, 2), (-1, 0): (1, 3), (-2, 0): (1, 3),
        (-1, 1): (1, 3), (-1, 2): (2, 2), (-2, 1): (1, 3), (-2, 2): (1, 3),
    }  # fmt: skip
    law = lb.audit.law(auto.mechanism.ready(values), Fraction(1, 64))
    heard: dict[tuple[int, int], Fraction] = {}
    for release, mass in law.masses.items():
        bounds = tuple(map(int, release["bounds"].bounds))
        noise = auto.with_bounds(release["bounds"].bounds).mechanism
        exact, r = chosen[bounds], noise.rate.fraction
        for value, true in zip(release.main.columns()["value"], counted[bounds], strict=True):
            exact *= (1 - r) / (1 + r) * r ** abs(int(value) - true)
        assert mass <= exact <= mass + law.unexplored
        heard[bounds] = heard.get(bounds, Fraction(0)) + mass
    assert law.unexplored <= Fraction(1, 64)
    for bounds, exact in chosen.items():
        assert heard.get(bounds, 0) <= exact <= heard.get(bounds, Fraction(0)) + law.unexplored


class Chosen:
    """Bounds as a part publishes them."""

    def __init__(self, bounds: tuple[int, int]) -> None:
        self.bounds = tuple(map(Fraction, bounds))


def main_values(values: Any) -> Any:
    """The numbers of groups: of all parts, where there are several."""
    if isinstance(values, dict):
        return {name: main_values(part) for name, part in values.items()}
    if hasattr(values, "highest"):
        items, steps = values.highest(None)
        return list(items), steps.tolist()
    return [int(value) for value in values.values]
