"""The bounds of an adaptive sparse vector, as exact laws of all its branches on one noisy threshold."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.estimate.gaps import GapNoise

LEVEL = Fraction(95, 100)


def noises_of(mechanism: lb.AdaptiveSparseVector) -> list[GapNoise]:
    prices = [branch.units * mechanism._plan.unit for branch in mechanism._plan.branches]
    return [mechanism.gap_noise(lb.Answer(True, Fraction(0), price)) for price in prices]


def false_bound(noises: list[GapNoise], below: int, steps: list[int]) -> Fraction:
    """P(some branch reports a query this far below the threshold with N above its steps), exactly."""
    return sum(
        (noise.report_probability(below, most + 1) for noise, most in zip(noises, steps, strict=True)), Fraction(0)
    )


def worst(noises: list[GapNoise], steps: list[int]) -> Fraction:
    return max(false_bound(noises, below, steps) for below in range(-40, 80, 2))


@pytest.mark.parametrize(("branches", "figure"), [(2, "0.087"), (4, "0.171")])
def test_bounds_that_each_take_the_whole_level_fail_too_often(branches: int, figure: str) -> None:
    noises = noises_of(lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1, branches=branches))
    alone = [noise.tail_bound(1 - LEVEL) for noise in noises]
    assert f"{float(worst(noises, alone)):.3f}" == figure


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
@pytest.mark.parametrize(("branches", "limit"), [(2, 1), (3, 1), (4, 1), (2, 3)])
def test_a_lower_bound_keeps_its_level_for_every_query_asked(branches: int, limit: int, noise: str) -> None:
    mechanism = lb.AdaptiveSparseVector(threshold=0, limit=limit, epsilon=1, branches=branches, noise=noise)
    noises = noises_of(mechanism)
    bounds = [each.lower_bound(0, 0, LEVEL) for each in noises]
    steps = [bound.steps for bound in bounds]
    failing = worst(noises, steps)
    # What `coverage` states holds for every value, and is not far from what the worst value has.
    assert failing <= 1 - bounds[0].coverage <= 1 - LEVEL
    assert failing > (1 - LEVEL) / 2
    assert {bound.coverage for bound in bounds} == {bounds[0].coverage}
    # No bound is lower than its share asks for.
    shares = [each.at_least(most) for each, most in zip(noises, steps, strict=True)]
    assert min(shares) > (1 - LEVEL) / branches


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
@pytest.mark.parametrize("branches", [2, 3])
def test_what_a_branch_reports_is_the_law_of_a_run(branches: int, noise: str) -> None:
    mechanism = lb.AdaptiveSparseVector(
        threshold=0, limit=1, eta=lb.Eta(1, 24, 1), split="even", branches=branches, noise=noise, sigma=2
    )
    unit, noises = mechanism._plan.unit, noises_of(mechanism)
    for value in (-3, 0, 2, 5):
        law = lb.audit.law(mechanism.program([value]), Fraction(1, 1 << 12))

        def chance_of(wanted: Callable[[Fraction, Fraction], bool], law: lb.audit.Law = law) -> Fraction:
            """The mass of the runs with such an answer: its gap and what it spent."""
            ones = [(run.gaps[0], run.spent[0], mass) for run, mass in law.masses.items() if run.indices]
            return sum((mass for gap, spent, mass in ones if wanted(gap, spent)), Fraction(0))

        for place, each in enumerate(noises):
            price = (1 << place) * unit
            for least in (-2, 0, 3, 6):
                followed = chance_of(lambda gap, spent, p=price, v=value, n=least: spent == p and gap - v >= n)
                assert followed <= each.report_probability(-value, least) <= followed + law.unexplored


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
def test_the_coverage_given_a_report_is_that_of_the_branch(noise: str) -> None:
    mechanism = lb.AdaptiveSparseVector(threshold=10, limit=1, eta=lb.Eta(1, 12, 1), split="even", noise=noise)
    for each in noises_of(mechanism):
        bound = each.lower_bound(10, 4, "0.9")
        for value in (4, 9, 10, 13):
            told = each.report_probability(10 - value, 10 - value + each.margin)
            missed = each.report_probability(10 - value, bound.steps + 1)
            assert bound.coverage_given_report(value) == 1 - missed / told
    # The last branch is reached by queries that failed the first: that makes its noise another.
    last = noises_of(mechanism)[-1]
    alone = type(last)(last.threshold_rate, last.query_rate, last.resolution, last.margin)
    assert last.report_probability(-4, -4) < alone.report_probability(-4, -4) == alone.at_least(-4)


def test_one_branch_reports_what_the_closed_form_says() -> None:
    for noise in ("one-sided", "laplace"):
        each = lb.SparseVector(threshold=0, limit=2, epsilon=1, noise=noise).gap_noise
        for below in (-9, -1, 0, 1, 7):
            assert each.report_probability(below, 3) == each.at_least(max(below, 3))


def test_a_branch_alone_does_not_say_what_is_decisive_and_a_ninth_branch_not_how_often_it_reports() -> None:
    noises = noises_of(lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1, branches=9))
    with pytest.raises(lb.ParameterError, match="several branches can report it"):
        noises[0].decisive()
    assert noises[7].lower_bound(0, 5).coverage >= LEVEL
    with pytest.raises(lb.ParameterError, match=r"at most 8 .* got a report by branch 9"):
        noises[8].lower_bound(0, 5).coverage_given_report(0)


@pytest.mark.parametrize("noise", ["one-sided", "laplace"])
@pytest.mark.parametrize("branches", [2, 3, 4])
def test_a_query_so_far_below_is_reported_by_some_branch_as_rarely_as_the_level_says(branches: int, noise: str) -> None:
    mechanism = lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1, branches=branches, noise=noise, sigma=0)
    noises, far = noises_of(mechanism), int(mechanism.decisive(LEVEL))
    anything = [-10_000] * branches
    assert false_bound(noises, far, anything) <= 1 - LEVEL
    # The whole level for each branch would be too much.
    alone = max(int(replace(noise, before=(), after=()).decisive(LEVEL)) for noise in noises)
    assert false_bound(noises, alone, anything) > 1 - LEVEL
