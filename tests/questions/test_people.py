"""What is measured about people: its share of the cost, what the parts say, and how often that may fail.

The noise of every part is chosen here, so that each number can be worked out by hand.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lastbit as lb
from lastbit.errors import ParameterError
from lastbit.estimate.people import PeopleBounds, noise_of_sum
from lastbit.output.json_values import json_text
from lastbit.output.words import Words
from lastbit.questions.item_options import ItemOptions, parse_bound
from lastbit.questions.kinds import KINDS
from lastbit.questions.people import PeopleParts, PeopleReading, choose_noise, find_bound, parse_share
from lastbit.values.ranked import RankedCounts
from tests.fixed_words import FixedWords
from tests.output.json_schema import problems
from tests.output.test_json import RULES

LEVEL = Fraction(95, 100)
ALPHA = Fraction(5, 100)
LISTED = PeopleParts(most=1, size=4, by_class=True)
"""One of four items: the classes of the spread are one item, and two, three and four."""


class Shifted(lb.Sampler):
    """All noise is the same number."""

    def __init__(self, noise: int) -> None:
        super().__init__()
        self.noise = noise

    def laplace(self, rate: Any, n: int | None = None) -> Any:
        return self.noise if n is None else np.full(n, self.noise, np.int64)

    gaussian = laplace


def ranked(sizes: dict[int, int]) -> RankedCounts:
    """So many people have so many items: the first ones."""
    pairs = [(place, place + 1, people) for size, people in sizes.items() for place in range(size)]
    places, ranks, units = np.array(pairs, np.int64).T
    return RankedCounts(("a", "b", "c", "d"), places, ranks, units)


def noise(most: int, cost: Any) -> Any:
    return choose_noise(cost, most=most)


def read(parts: PeopleParts, sizes: dict[int, int], shift: int = 0, **cost: Any) -> PeopleReading:
    mechanism = parts.mechanism(cost or {"epsilon": 1}, noise)
    release = mechanism.ready(parts.values(ranked(sizes)))(Shifted(shift))
    return parts.read(release, LEVEL)


@pytest.mark.parametrize("cost", [{"epsilon": "1/3"}, {"rho": 2}])
@pytest.mark.parametrize("share", ["1/10", "1/4", "1/1000"])
@pytest.mark.parametrize(
    ("parts", "shares"),
    [
        ({"most": 2}, {"spread": 1}),
        ({"clamped": True}, {"clamped": 1}),
        ({"most": 2, "clamped": True}, {"spread": Fraction(1, 2), "clamped": Fraction(1, 2)}),
        ({"auto": True}, {"bound": 1, "spread": 1}),
        ({"auto": True, "clamped": True}, {"bound": 1, "spread": Fraction(1, 2), "clamped": Fraction(1, 2)}),
        ({}, {}),
    ],
)
def test_the_parts_cost_the_share_and_the_answer_the_rest(
    parts: dict[str, Any], shares: dict[str, Any], share: str, cost: dict[str, Any]
) -> None:
    ((name, whole),) = ((name, Fraction(amount)) for name, amount in cost.items())
    costs = PeopleParts(**parts, share=Fraction(share)).costs(cost)
    amounts = {part: amount[name] for part, amount in costs.items()}
    answer = amounts.pop("answer")
    assert amounts == {part: whole * Fraction(share) * of for part, of in shares.items()}
    assert answer + sum(amounts.values()) == whole


def test_a_share_of_nothing_measures_nothing() -> None:
    parts = PeopleParts(most=2, clamped=True, share=parse_share(0))
    assert parts.measured == ()
    assert parts.costs({"epsilon": 1}) == {"answer": {"epsilon": 1}}
    assert isinstance(parts.mechanism({"epsilon": 1}, noise), lb.DiscreteLaplace)
    for wrong in ("-1/10", "1/3", 1):
        with pytest.raises(lb.ParameterError, match="--people-share must be from 0 to 1/4"):
            parse_share(wrong)
    with pytest.raises(lb.ParameterError, match="auto needs a --people-share above 0"):
        PeopleParts.of(ItemOptions(by=("x",), auto=True), 9, 0)


@pytest.mark.parametrize(("most", "size", "bounded"), [(1, 3, True), (2, 3, True), (3, 3, False), (9, 3, False)])
def test_a_bound_that_leaves_nobody_out_is_not_measured(most: int, size: int, bounded: bool) -> None:
    parts = PeopleParts.of(ItemOptions(by=("x",), most_items=most), size, "1/10")
    assert (parts.is_bounded, parts.measured) == (bounded, ("spread",) if bounded else ())


def test_the_whole_cost_is_that_of_all_parts() -> None:
    for parts in (LISTED, PeopleParts(size=4, auto=True)):
        mechanism = parts.mechanism({"epsilon": "7/3"}, noise)
        assert mechanism.cost.epsilon == Fraction(7, 3)
    gaussian = LISTED.mechanism({"rho": "1/8"}, noise)
    assert (gaussian.cost.rho, gaussian.cost.text) == (Fraction(1, 8), "rho 1/8")


@pytest.mark.parametrize("cost", [{"epsilon": 1}, {"rho": "1/2"}])
def test_bounds_of_all_classes_hold_together_in_a_quarter_of_what_may_fail(cost: dict[str, Any]) -> None:
    reading = read(LISTED, {1: 50, 3: 20}, **cost)
    assert [reading.release["spread"].steps.tolist(), reading.most] == [[50, 0, 20, 0], 1]
    spread = choose_noise({name: Fraction(amount) / 10 for name, amount in cost.items()})
    noise = "gaussian" if "rho" in cost else "laplace"
    reach = noise_of_sum(noise, spread.rate, 1, ALPHA / 8 / 4)
    together = noise_of_sum(noise, spread.rate, 3, ALPHA / 8)
    counts = (50 + reach, reach, 20 + reach, reach)
    assert reading.bounds == PeopleBounds(1, ((1, 1), (2, 2), (3, 3), (4, 4)), counts, 20 + together)
    assert reading.bounds.cut == 20 + together < sum(counts[1:])
    # The next smaller reach fails more often, by the exact tail of one noise.
    assert spread.accuracy(1 - 2 * ALPHA / 32) == reach


def test_no_class_has_fewer_people_than_none() -> None:
    low = read(LISTED, {1: 50}, shift=-(10**6))
    assert low.bounds.counts == (0, 0, 0, 0)
    assert low.cut == (-3 * 10**6, 0, 0)


@pytest.mark.parametrize("spread", [{4: 90}, {1: 10, 4: 300}, {1: 500, 4: 3000}])
def test_whoever_is_missing_is_within_the_bound_however_many_are_counted(spread: dict[int, int]) -> None:
    """Of few people counted few are missing, and of all people nobody is: most are missing somewhere between."""
    reading = read(LISTED, spread)
    missing = [max(0, min(reading.bounds.cut, reading.highest(count) - count)) for count in range(601)]
    for fewest, most in [(0, 600), (20, 500), (20, 70), (50, 290), (299, 301), (5, 5), (600, 600)]:
        assert reading.most_missing(fewest, most) >= max(missing[fewest : most + 1])
    assert reading.most_missing(70, 70) == missing[70]


def test_the_interval_of_all_people_stands_on_those_counted() -> None:
    reading = read(LISTED, {1: 500, 4: 3000})
    assert reading.counted_level == 1 - ALPHA / 2
    counted = (Fraction(391, 2), Fraction(409, 2))
    low, high = reading.interval(counted)
    assert (low, high) == (reading.bounds.lower(196, ALPHA / 8), reading.bounds.upper(204, ALPHA / 8))
    # Three of four people who have all items are not counted in one of them.
    assert low <= 204 < high <= 204 + reading.bounds.cut
    several = reading.interval(counted, selected=20)
    assert several == (reading.bounds.lower(196, ALPHA / 160), reading.bounds.upper(204, ALPHA / 160))
    assert several[0] <= low < high < several[1]
    assert reading.interval(counted, selected=None) == (196, 204 + reading.bounds.cut)
    assert reading.interval((None, Fraction(3)))[0] == 0
    assert reading.interval((Fraction(-9), Fraction(-4))) == (0, reading.bounds.upper(0, ALPHA / 8))
    assert reading.interval((Fraction(5), None))[1] is None


@pytest.mark.parametrize(("several", "narrower"), [("", 0), ("abcd", 4)])
def test_where_most_intervals_would_be_narrower_with_all_it_is_said(several: str, narrower: int) -> None:
    """Five hundred people are in so many of four wards, and count in one; many others are in one ward."""
    rows = [(n, ward) for n in range(500) for ward in several] + [(500 + n, "abcd"[n % 4]) for n in range(2000)]
    table = pd.DataFrame(rows, columns=["patient", "ward"])
    answer = lb.ask(
        "histogram", table, by="ward", domain=[*"abcd"], unit="patient", most_items=1, epsilon=500
    )  # fmt: skip
    notes = [note for note in answer.report.notes if "would be narrower" in note]
    assert [f"{narrower} intervals of these 4 would be narrower" in note for note in notes] == [True] * bool(narrower)


def test_the_people_cut_are_those_of_all_classes_but_the_first() -> None:
    reading = read(LISTED, {1: 50, 2: 7, 3: 20, 4: 400})
    reach = noise_of_sum("laplace", reading.release["spread"].rate, 3, ALPHA / 2)
    assert reading.cut == (427, 427 - reach, 427 + reach)
    assert reading.bounds.cut == 427 + noise_of_sum("laplace", reading.release["spread"].rate, 3, ALPHA / 8)
    assert reading.data == {"most_items": 1, "cut": 427, "cut_low": 427 - reach, "cut_high": 427 + reach}


def test_an_automatic_bound_decides_what_comes_after_it() -> None:
    parts = PeopleParts(size=4, auto=True, by_class=True)
    reading = read(parts, {3: 4000}, epsilon=50)
    assert reading.most == int(reading.release["bound"].value) == 3
    assert list(reading.release["spread"].items) == ["1 to 3", "4 to 4"]
    assert reading.release["answer"].steps.tolist() == [4000, 4000, 4000, 0]
    assert reading.bounds.classes == ((1, 3), (4, 4))


class Clamped:
    """Numbers of which some were beyond the bounds."""

    clamped_people = lb.Counts(items=("below", "above"), values=[40, 700], monotone=True, most_items=1)


@pytest.mark.parametrize(
    ("typed", "size", "highest"),
    [("auto", None, 1000), ("auto:200", None, 200), ("auto:2000", None, 2000), ("auto", 4, 4), ("auto:3", 4, 3),
     ("auto:200", 4, 4), ("auto", 5000, 5000)],
)  # fmt: skip
def test_an_automatic_bound_is_at_most_what_was_typed(typed: str, size: int | None, highest: int) -> None:
    parts = PeopleParts.of(ItemOptions(**parse_bound(typed)), size, "1/10")
    mechanism: Any = parts.mechanism({"epsilon": 1}, noise)
    assert parts.highest == highest
    assert mechanism.parts["bound"].bounds == (1, highest)
    assert mechanism.parts["answer"].parameters["most_items"] == f"the published bound, up to {highest}"


@pytest.mark.parametrize(
    "typed", ["auto:1", "auto:1000001", "auto:-3", "auto:", "auto:x", "auto:²", "auto:" + "9" * 5000]
)
def test_a_largest_bound_that_can_never_be_is_refused(typed: str) -> None:
    for options in ({"by": "d", "delta": "1e-6"}, {"by": "d", "domain": ["a", "b", "c"]}):
        with pytest.raises(ParameterError, match="must be auto:NUMBER with a number from 2 to 1,000,000"):
            KINDS["count"].parse({"source": "t.csv", "unit": "u", "epsilon": 1, "most_items": typed, **options})


def test_few_people_do_not_make_an_automatic_bound_as_large_as_it_can_be() -> None:
    """Of 1,000 people with 1 to 6 items: a linear scale puts half of all bounds above 500."""
    items = [1 + place % 6 for place in range(1000)]
    bound: Any = find_bound(1000, {"epsilon": "1/10"})
    drawn = sorted(int(bound.ready(items)(lb.Sampler(FixedWords(f"bound {n}"))).value) for n in range(41))
    assert drawn[20] < 100


def test_clamped_people_are_said_for_each_side() -> None:
    parts = PeopleParts(clamped=True)
    mechanism = parts.mechanism({"epsilon": 1}, noise)
    values = parts.values(Clamped(), lambda _: [0])
    reading = parts.read(mechanism.ready(values)(Shifted(2)), LEVEL)
    reach = noise_of_sum("laplace", lb.DiscreteLaplace(epsilon="1/10").rate, 1, ALPHA / 2)
    assert reading.clamped_ends == {"below": (42, 42 - reach, 42 + reach), "above": (702, 702 - reach, 702 + reach)}
    below, above = reading.describe_clamping("cost", ("0", "9"), Words())
    assert f"below 0 counts as 0: 42 people ({42 - reach} to {42 + reach} with probability 95%)" in below
    assert f"above 9 counts as 9: 702 people ({702 - reach} to {702 + reach} with probability 95%)" in above
    assert reading.data["clamped_above_high"] == 702 + reach


ALL, COUNTED = "all patients", "patients counted"
WITHIN = ", with their numbers clamped to the bounds"
MEANINGS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    (
        "count",
        {"most_items": 1},
        {"value": ALL, "low": ALL, "high": ALL, "bounded_value": COUNTED, "bounded_high": COUNTED},
    ),
    ("count", {"most_items": 1, "people_share": 0}, {"value": COUNTED, "bounded_low": COUNTED}),
    ("count", {}, {"value": ALL, "low": ALL}),
    ("count", {"rows": True, "most_rows": 2}, {"value": "all visits", "bounded_value": "visits counted"}),
    (
        "mean",
        {"of": "cost", "bounds": [0, 9], "most_items": 1},
        {
            "value": ALL + WITHIN,
            "people": ALL,
            "total": ALL + WITHIN,
            "mean": COUNTED + WITHIN,
            "bounded_value": COUNTED + WITHIN,
        },
    ),
    (
        "mean",
        {"of": "cost", "bounds": [0, 9], "rows": True, "most_rows": 2},
        {"value": "visits counted" + WITHIN, "people": "visits counted"},
    ),
    ("median", {"of": "cost", "bounds": [0, 9], "one_each": True}, {"value": COUNTED + WITHIN, "people": ALL}),
    ("share", {"of": "cost > 3"}, {"value": ALL, "people": ALL}),
    ("tables", {}, {"value": ALL, "bounded_value": COUNTED}),
]


@pytest.mark.parametrize(("kind", "options", "expected"), MEANINGS)
def test_the_json_says_of_whom_each_number_is(kind: str, options: dict[str, Any], expected: dict[str, str]) -> None:
    table = pd.DataFrame({"patient": [0, 0, 1, 2] * 50, "ward": ["a", "b"] * 100, "cost": [3.0, 5.0] * 100})
    view = lb.ask(
        kind, table, unit="patient", noun="patient", row_noun="visit", by="ward", domain={"ward": ["a", "b"]}, rho=1,
        **options,
    )  # fmt: skip
    document = json.loads(json_text(view.data))
    assert expected.items() <= document["meaning"].items()
    assert document["meaning"].keys() <= document.keys()
    assert problems(document, RULES) == []
    numbers = {
        name for name in document if name.endswith(("low", "high", "value")) and not name.startswith(("cut", "clamp"))
    }
    assert numbers <= document["meaning"].keys()


@pytest.mark.parametrize("most", [1, 2, 10])
@pytest.mark.parametrize("sensitivity", [1, 2, Fraction(5, 2)])
def test_noise_is_for_all_numbers_that_one_person_moves(sensitivity: Any, most: int) -> None:
    """Each of `most` numbers moves by the sensitivity: epsilon is for their sum, rho for the sum of their squares."""
    epsilon = choose_noise({"epsilon": 1}, sensitivity=sensitivity, most=most, resolution="1/2")
    assert epsilon.sensitivity == sensitivity * most
    rho = choose_noise({"rho": 1}, sensitivity=sensitivity, most=most, resolution="1/2")
    assert (rho.squared_sensitivity or rho.sensitivity**2) == sensitivity**2 * most
    assert rho.cost.rho <= 1
    assert epsilon.cost.epsilon <= 1
