"""Private selection: the exact law, the exact cost, and how tight the cost is."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

import lastbit as lb
from lastbit.audit import Law, judge, law, loss
from lastbit.chance.rounds import Rounds
from tests.selection_law import RARE, THIRD, as_law, best_law, generating, sum_of_masses, threshold_law, worst_pairs

HALF = lb.Eta(1, 1, 1)

# Outcomes 0, 1, 2 with scores 0, 1, 2 and two laws on them whose ratios are at most 2: private at Eta(1, 1, 1).
ONE = (Fraction(6, 10), Fraction(2, 10), Fraction(2, 10))
OTHER = (Fraction(5, 10), Fraction(1, 10), Fraction(4, 10))


def candidate(masses, scores=(0, 1, 2)):
    def run(draw):
        i = draw.index(masses)
        return i, scores[i]

    return run


def selection(masses, scores=(0, 1, 2), **options):
    return lb.PrivateSelection(candidates=[candidate(masses, scores)], **{"candidate_cost": HALF, **options})


def outputs(found: Law) -> dict:
    return {release.output: mass for release, mass in found.masses.items()}


LAWS = [
    {"law": "uniform"},
    {"law": "1/2"},
    {"law": 0},
    {"law": "-1/2"},
    {"law": 2},
    {"law": "geometric", "stop": "1/3"},
]


def sum_of(most, law="uniform", stop=None):
    return sum_of_masses(list(Rounds.of(law, most, stop).masses()))


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("options", LAWS, ids=str)
@pytest.mark.parametrize("scores", [(0, 1, 2), (0, 1, 1), (1, 0, 1), (0, 0, 0)])
def test_the_best_of_the_run_has_the_closed_form(options, scores, constant):
    """On every branch of the code itself. With constant, the rounds after the last change no probability."""
    most = 3 if constant else 4
    found = law(selection(ONE, scores, most=most, constant=constant, **options).program())
    assert found.unexplored == 0
    assert outputs(found) == best_law(ONE, sum_of(most, **options), scores)


@pytest.mark.parametrize("options", LAWS, ids=str)
def test_ten_rounds_have_the_closed_form(options):
    """A success scores the number of its round, so that there are no ties, and no more branches than successes."""
    pair = (Fraction(2, 3), THIRD)
    calls = []

    def rising(draw):
        calls.append(None)
        i = draw.index(pair)
        return i, len(calls) if i else None

    mechanism = lb.PrivateSelection(candidates=[rising], candidate_cost=HALF, most=10, **options)

    def program(draw):
        calls.clear()
        return mechanism.release(draw=draw).output

    found = law(program)
    assert found.unexplored == 0
    none, one = best_law(pair, sum_of(10, **options), (0, 1)).values()
    assert found.masses == {None: none, 1: one}


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("options", [each for each in LAWS if each["law"] != 2], ids=str)
@pytest.mark.parametrize("bar", [1, 2])
def test_the_first_that_reaches_the_threshold_has_the_closed_form(options, bar, constant):
    most = 4 if constant else 10 // bar
    found = law(selection(ONE, most=most, threshold=bar, constant=constant, **options).program())
    assert found.unexplored == 0
    assert outputs(found) == threshold_law(ONE, sum_of(most, **options), bar)


def test_candidates_are_drawn_uniformly():
    chosen = lb.PrivateSelection(candidates=[candidate(ONE), candidate(OTHER)], candidate_cost=HALF, most=1)
    found = law(chosen.program())
    by_candidate = {(r.candidate, r.output): mass for r, mass in found.masses.items()}
    assert by_candidate == {(c, i): m[i] / 2 for c, m in enumerate((ONE, OTHER)) for i in range(3)}


@pytest.mark.parametrize("constant", [False, True])
def test_ties_are_broken_uniformly_among_the_rounds_that_count(constant):
    calls = []

    def nth(draw):
        calls.append(None)
        return len(calls), 5

    three = lb.PrivateSelection(candidates=[nth], candidate_cost=1, most=3, law=0, constant=constant)

    def program(draw):
        calls.clear()
        return three.release(draw=draw).output

    length = dict(enumerate(Rounds.of(0, 3).masses(), start=1))
    found = law(program)
    assert found.masses == {i: sum(mass / n for n, mass in length.items() if n >= i) for i in (1, 2, 3)}


def test_with_constant_every_run_has_all_rounds():
    calls = []

    def count_calls(draw):
        calls.append(None)
        return draw.integer(2), 1

    def program(draw, **options):
        calls.clear()
        lb.PrivateSelection(candidates=[count_calls], candidate_cost=1, most=3, **options).release(draw=draw)
        return len(calls)

    for options in ({}, {"law": "-1/2"}, {"threshold": 0}, {"threshold": 2}):
        assert law(lambda draw: program(draw, constant=True, **options)).masses == {3: 1}
    assert set(law(program).masses) == {1, 2, 3}


# law, most, stop: how many times ln 2 the worst pair with distinct and with tied scores loses, and the claim.
TIGHT = [
    ({"law": 0, "most": 10}, "1.9734", "1.54", 2),
    ({"law": 0, "most": 100}, "1.9984", "1.77", 2),
    ({"law": "-1/2", "most": 10}, "1.4922", "1.33", Fraction(3, 2)),
    ({"law": "-1/2", "most": 100}, "1.4992", "1.45", Fraction(3, 2)),
    ({"law": "-9/10", "most": 100}, "1.0998", "1.10", Fraction(11, 10)),
    ({"law": "uniform", "most": 10}, "2.8850", "1.97", 3),
    ({"law": "uniform", "most": 100}, "2.9968", "2.00", 3),
    ({"law": "geometric", "stop": "1/100", "most": 700}, "2.9541", "1.98", 3),
    ({"law": 2, "most": 100}, "3.9951", "2.68", 4),
    ({"law": 0, "most": 2000}, "1.9999", "1.87", 2),
    ({"law": "-1/2", "most": 2000}, "1.5000", "1.49", Fraction(3, 2)),
    ({"law": "uniform", "most": 2000}, "2.9999", "2.00", 3),
]


def worst(cost, laws_of, rare=RARE) -> float:
    """The largest loss in multiples of ln 2 over the worst pairs, both ways; none is above the cost."""
    largest = 0.0
    for one, other in worst_pairs(rare):
        laws = as_law(laws_of(one)), as_law(laws_of(other))
        assert judge(cost, *laws, Fraction(0)).holds
        largest = max(largest, loss(*laws).lower / math.log(2))
    return largest


@pytest.mark.parametrize(("options", "distinct", "tied", "times"), TIGHT, ids=str)
def test_the_best_costs_what_it_claims_and_the_claim_is_tight(options, distinct, tied, times):
    mechanism = selection(ONE, **options)
    assert mechanism.cost == lb.Cost.of(HALF).widened(times)
    f = generating(mechanism.rounds)
    rare = RARE if mechanism.most < 2000 else RARE / 25
    assert f"{worst(mechanism.cost, lambda masses: best_law(masses, f), rare):.4f}" == distinct
    ties = [(0, 1, 1), (0, 0, 1), (0, 0, 0)]
    most = max(worst(mechanism.cost, lambda masses, s=s: best_law(masses, f, s), rare) for s in ties)
    assert f"{most:.2f}" == tied


THRESHOLDS = [
    ({"law": "uniform", "most": 10}, "1.9748", 2),
    ({"law": "uniform", "most": 100}, "2.0000", 2),
    ({"law": "1/2", "most": 100}, "1.9227", 2),
    ({"law": 0, "most": 100}, "1.7717", 2),
    ({"law": "geometric", "stop": "1/20", "most": 60}, "1.8981", 2),
    ({"law": "-1/2", "most": 10}, "1.3254", Fraction(3, 2)),
    ({"law": "-1/2", "most": 2000}, "1.4890", Fraction(3, 2)),
    ({"law": "-9/10", "most": 100}, "1.0967", Fraction(11, 10)),
]


@pytest.mark.parametrize(("options", "figure", "times"), THRESHOLDS, ids=str)
def test_a_threshold_costs_what_it_claims(options, figure, times):
    mechanism = selection(ONE, threshold=1, **options)
    assert mechanism.cost == lb.Cost.of(HALF).widened(times)
    f = generating(mechanism.rounds)
    largest = max(worst(mechanism.cost, lambda masses, bar=bar: threshold_law(masses, f, bar)) for bar in (1, 2))
    assert f"{largest:.4f}" == figure


@pytest.mark.parametrize("options", [{"law": "uniform"}, {"law": 0}, {"law": "-1/2"}], ids=str)
def test_the_costs_hold_on_a_grid_of_neighbours(options):
    tenths = [Fraction(n, 10) for n in range(1, 9)]
    laws = [(a, b, 1 - a - b) for a, b in product(tenths, repeat=2) if a + b < 1]
    near = [
        (p, q) for p, q in product(laws, repeat=2) if all(x <= 2 * y and y <= 2 * x for x, y in zip(p, q, strict=True))
    ]
    assert len(near) > 200
    mechanism, f = selection(ONE, most=10, **options), generating(Rounds.of(options["law"], 10))
    scores = [(0, 1, 2), (0, 1, 1), (1, 0, 1)]
    best = [{masses: as_law(best_law(masses, f, score)) for masses in laws} for score in scores]
    first = {masses: as_law(threshold_law(masses, f)) for masses in laws}
    bar = selection(ONE, most=10, threshold=1, **options)
    for p, q in near:
        assert all(judge(mechanism.cost, each[p], each[q], Fraction(0)).holds for each in best)
        assert judge(bar.cost, first[p], first[q], Fraction(0)).holds


def test_stopping_at_a_cap_costs_more_than_the_law_given_the_cap():
    """Without slack a geometric run that is cut at 20 rounds loses 4 times a candidate; given 20 it is below 3."""
    stop, cap = Fraction(1, 100), 20
    cut = [(1 - stop) ** (k - 1) * (stop if k < cap else 1) for k in range(1, cap + 1)]
    sixth = Fraction(1, 6)
    one, other = (1 - sixth - 2 * RARE, 2 * RARE, sixth), (1 - 2 * sixth - RARE, RARE, 2 * sixth)
    laws = [as_law(best_law(masses, sum_of_masses(cut))) for masses in (one, other)]
    assert f"{loss(*laws).lower / math.log(2):.4f}" == "4.0863"
    assert judge(lb.Eta(1, 1, 3), *laws, Fraction(0)).verdict == "violated"
    given = generating(Rounds.of("geometric", cap, stop))
    assert judge(lb.Eta(1, 1, 3), *(as_law(best_law(m, given)) for m in (one, other)), Fraction(0)).holds


def test_a_law_that_rises_costs_more_than_two_candidates_with_a_threshold():
    """P(K = k) in proportion to k; and the mechanism refuses laws that rise."""
    third = [(2 * THIRD, THIRD), (THIRD, 2 * THIRD)]
    laws = [as_law(threshold_law(m, sum_of_masses([Fraction(k, 5050) for k in range(1, 101)]))) for m in third]
    assert f"{loss(*laws).lower / math.log(2):.4f}" == "3.0000"
    assert judge(lb.Eta(1, 1, 2), *laws, Fraction(0)).verdict == "violated"
    with pytest.raises(lb.ParameterError, match="law must be at most 1 with a threshold"):
        selection(ONE, most=10, law="11/10", threshold=1)


@pytest.mark.parametrize(("far", "near"), [(100, 2), (-100, 0), (float("nan"), 0)])
def test_a_quality_beyond_its_bounds_is_clamped_before_and_after_its_noise(far, near):
    """Before, or a score at the bound would say that nobody's noise can bring it back; after, or it would be told."""

    def scores(quality):
        return law(lb.scored(lambda draw: "it", lambda output: quality, eta=HALF, bounds=(0, 2)), "1/1000")

    assert scores(far).masses == scores(near).masses
    assert {score for _, score in scores(far)} == {0, 1, 2}


def test_a_score_keeps_its_cost_for_any_sensitivity():
    for reach in (1, 2):
        laws = [
            law(lb.scored(lambda draw: 0, lambda _, at=at: at, eta=HALF, sensitivity=reach, bounds=(0, 4)), "1/10000")
            for at in (1, 1 + reach)
        ]
        assert judge(HALF, *laws, Fraction(1, 10000)).holds
        assert judge(lb.Eta(3, 2, 1), *laws, Fraction(1, 10000)).verdict == "violated"
