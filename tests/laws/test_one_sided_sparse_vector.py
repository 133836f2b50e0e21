"""Sparse vectors with one-sided noise: the law of the code is the closed form, and the closed form keeps its cost.

The losses are exact, over infinite sums: an adaptive one comes close to its claim, and any other reaches it as soon as
there are more queries than answers above.
"""

from fractions import Fraction
from itertools import product

import pytest

import lastbit as lb
from tests.laws.folding import Folding
from tests.laws.one_sided import BELOW, BITS, OneSided, worst_odds

THRESHOLD = 5
THREE_QUARTERS, HALF = (3, 2), (1, 1)
RATES = [(HALF, 1, 1), (THREE_QUARTERS, 2, 1), (THREE_QUARTERS, 1, 2)]
"""(base, i, j): threshold rate base^i, first query rate base^j. So they are (1/2, 1/2), (9/16, 3/4), (3/4, 9/16)."""
ONE_BRANCH = ((1, 0, 1),)
BRANCHES = [((1, 1, 1), (2, 0, 2)), ((1, 2, 1), (2, 0, 2)), ((1, 2, 1), (2, 1, 2), (4, 0, 4))]


def rates_of(rates):
    (x, y), i, j = rates
    base = Fraction(x, 1 << y)
    return base**i, base**j


def build(rates, limit, monotone, branches=ONE_BRANCH, **more):
    """The mechanism with these rates: its cost is the sum of what they cost."""
    base, i, j = rates
    rest = j * limit * branches[-1][2] * (1 if monotone else 2)
    if len(branches) > 1:
        kind, own = (
            lb.AdaptiveSparseVector,
            {"branches": len(branches), "sigma": [branch[1] for branch in branches[:-1]]},
        )
    else:
        kind, own = lb.SparseVector, {}
    eta, split = lb.Eta(*base, i + rest), Fraction(i, i + rest)
    return kind(threshold=THRESHOLD, limit=limit, eta=eta, split=split, monotone=monotone, **own, **more)


def closed_form(rates, limit, branches=ONE_BRANCH, gaps=2):
    return OneSided(*rates_of(rates), branches, limit * branches[-1][2], gaps)


def transcript(release, mechanism):
    """Our answers as the closed form writes them."""
    units = [branch.units * mechanism._plan.unit for branch in mechanism._plan.branches]
    return tuple((units.index(answer.spent), answer.gap) if answer.above else BELOW for answer in release.answers)


def values_at(distances):
    return [THRESHOLD + distance for distance in distances]


def steps(n):
    return product((-1, 0, 1), repeat=n)


EVERY = [
    *(pytest.param(rates, ONE_BRANCH, limit, n) for rates in RATES for limit in (1, 2) for n in (1, 2, 3)),
    *(pytest.param(rates, branches, limit, 2) for rates in RATES for branches in BRANCHES for limit in (1, 2)),
]


@pytest.mark.parametrize("rates", RATES, ids=str)
@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("branches", [ONE_BRANCH, *BRANCHES], ids=str)
def test_the_plan_has_these_rates_margins_and_shifts(rates, limit, monotone, branches):
    plan = build(rates, limit, monotone, branches)._plan
    s, r = rates_of(rates)
    assert plan.threshold_rate.fraction == s
    assert [(branch.rate.fraction, branch.margin, branch.units) for branch in plan.branches] == [
        (r**power, margin, units) for power, margin, units in branches
    ]
    shifts = [branch.centre - plan.kind.centre(plan.threshold_rate) for branch in plan.branches]
    assert shifts == closed_form(rates, limit, branches).shifts


class Given(Folding):
    """A draw whose first noise, the threshold's, is known, and whose other noise is folded."""

    def __init__(self, draw, z, bounds):
        super().__init__(draw, bounds)
        self._first = [z]

    def geometric(self, rate, size=None):
        return self._first.pop() if self._first else super().geometric(rate, size)


@pytest.mark.parametrize(
    ("rates", "branches", "limit", "n", "gaps"),
    [
        *((rates, ONE_BRANCH, *rest) for rates in RATES for rest in ((1, 2, 2), (2, 2, 2), (2, 3, BITS))),
        *((rates, branches, limit, 2, 2) for rates in RATES for branches in BRANCHES[:2] for limit in (1, 2)),
        *((rates, BRANCHES[2], 1, 1, 2) for rates in RATES),
        (RATES[0], BRANCHES[2], 1, 2, 2),
    ],
    ids=str,
)
def test_given_the_threshold_noise_the_code_has_the_law_of_the_definition(rates, branches, limit, n, gaps):
    tested = build(rates, limit, False, branches, **({"gaps": False} if gaps == BITS else {}))
    law = closed_form(rates, limit, branches, gaps)
    distances = [law.shifts[-1] + each for each in (0, 1, -1)[:n]]
    program = tested.program(values_at(distances))
    for z in (0, 2):
        # The closed form tells two gaps apart, from the margin on: noise beyond them may be folded.
        bounds = {
            branch.rate: z + shift - min(distances) + branch.margin + 2
            for branch, shift in zip(tested._plan.branches, law.shifts, strict=True)
        }
        found = lb.audit.law(lambda draw, z=z, bounds=bounds: program(Given(draw, z, bounds)), 0)
        assert found.unexplored == 0
        ours = {transcript(release, tested): mass for release, mass in found.exact.items()}
        for each in law.transcripts(n):
            assert ours.get(each, 0) == law.mass_given_noise(each, distances, z)


@pytest.mark.parametrize(
    ("rates", "branches", "limit", "n"),
    [
        (RATES[0], ONE_BRANCH, 1, 2),
        (RATES[0], ONE_BRANCH, 2, 3),
        (RATES[2], ONE_BRANCH, 2, 2),
        (RATES[0], BRANCHES[0], 1, 1),
        (RATES[0], BRANCHES[2], 1, 1),
    ],
)
def test_the_law_that_the_auditor_finds_is_the_closed_form(rates, branches, limit, n):
    tested, law = build(rates, limit, False, branches), closed_form(rates, limit, branches)
    distances = (0, -1, 1)[:n]
    found = lb.audit.law(tested.program(values_at(distances)), Fraction(1, 1 << 6))
    ours = {transcript(release, tested): bounds for release, bounds in found.items()}
    for each in law.transcripts(n):
        lower, upper = ours.get(each, (0, found.unexplored))
        assert lower <= law.mass(each, distances) <= upper


@pytest.mark.parametrize(("rates", "branches", "limit", "n"), EVERY)
@pytest.mark.parametrize("gaps", [2, BITS])
def test_the_loss_is_within_the_claim_and_reaches_it(rates, branches, limit, n, gaps):
    """From the second gap on, all queries here have the same odds at every gap: two gaps are all gaps."""
    law = closed_form(rates, limit, branches, gaps)
    general = monotone = 1
    for near, move in product(steps(n), steps(n)):
        one = [law.shifts[-1] + each for each in near]
        odds = worst_odds(law, one, [a + b for a, b in zip(one, move, strict=True)])
        general = max(general, odds)
        if min(move) >= 0 or max(move) <= 0:
            monotone = max(monotone, odds)
    for same_way, odds in ((False, general), (True, monotone)):
        eta = build(rates, limit, same_way, branches).eta
        claim = 1 / eta.fraction
        assert odds <= claim
        if len(branches) == 1 and n > limit:
            assert odds == claim
        elif n > limit:
            assert odds > Fraction(9, 10) * claim


@pytest.mark.parametrize(("rates", "branches", "limit", "n"), EVERY)
def test_every_transcript_loses_at_most_what_its_answers_spent(rates, branches, limit, n):
    """Why a ledger may give back what is unspent: the bound is on each transcript, of every length, and is reached."""
    law = closed_form(rates, limit, branches)
    s, r = rates_of(rates)
    reached = {1: 0, 2: 0}
    for near, move in product(steps(n), steps(n)):
        one = [law.shifts[-1] + each for each in near]
        other = [a + b for a, b in zip(one, move, strict=True)]
        moves = [2, 1] if min(move) >= 0 or max(move) <= 0 else [2]
        for length in range(1, n + 1):
            for transcript in law.transcripts(length):
                p, q = law.mass(transcript, one), law.mass(transcript, other)
                for count in moves:
                    price = 1 / (s * r ** (count * law.spent(transcript)))
                    assert max(p / q, q / p) <= price
                    reached[count] = max(reached[count], p / q / price)
    assert min(reached.values()) == 1 or (n == 1 and min(reached.values()) > Fraction(1, 2))


@pytest.mark.parametrize(("limit", "branches", "n", "most"), [(1, BRANCHES[0], 2, 2), (1, BRANCHES[2], 4, 4)])
def test_an_adaptive_run_gives_as_many_answers_as_its_units_pay_for(limit, branches, n, most):
    tested = build(RATES[0], limit, False, branches)
    release = tested.release(values_at([10**6] * (most + 3)))
    assert (len(release.indices), release.answered, release.unspent) == (most, most, 0)
    longest = max(
        sum(answer is not BELOW for answer in each) for each in closed_form(RATES[0], limit, branches).transcripts(n)
    )
    assert longest == most


@pytest.mark.parametrize("rates", RATES, ids=str)
@pytest.mark.parametrize("monotone", [False, True])
def test_the_loss_is_within_the_claim_far_from_the_threshold_too(rates, monotone):
    law = closed_form(rates, 1, gaps=6)
    claim = 1 / build(rates, 1, monotone).eta.fraction
    for one, move in product(product(range(-3, 4), repeat=2), steps(2)):
        if not monotone or min(move) >= 0 or max(move) <= 0:
            assert worst_odds(law, one, [a + b for a, b in zip(one, move, strict=True)]) <= claim


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("limit", "distances"), [(1, (0, 0)), (1, (-1, 0, 0)), (2, (0, -1))])
def test_the_auditor_finds_that_the_code_keeps_its_cost(limit, distances, monotone):
    tested = build(RATES[0], limit, monotone, gaps=len(distances) < 3)
    found = lb.audit.check_all(tested, values_at(distances), tolerance=Fraction(1, 1 << 6))
    assert found.holds


def test_one_person_who_reaches_further_is_paid_for():
    tested = lb.SparseVector(threshold=5, limit=1, eta=lb.Eta(1, 1, 12), split="1/3", sensitivity=2, resolution=1)
    assert (tested._plan.threshold_rate, tested._plan.branches[0].rate) == (lb.Rate(1, 2), lb.Rate(1, 2))
    law = OneSided(Fraction(1, 4), Fraction(1, 4), ONE_BRANCH, 1, 4)
    assert law.shifts == [0]
    odds = [worst_odds(law, (-1, 0), (-1 + a, b)) for a, b in product(range(-2, 3), repeat=2)]
    assert max(odds) == 1 / tested.eta.fraction


def test_the_standard_deviation_of_a_gap_at_epsilon_one():
    """Half the variance, exactly. On a fine grid, as for continuous noise, 5.89 becomes 4.16 for one answer above."""
    for limit, resolution, laplace, one_sided in (
        (1, 1, "5.86", "4.14"),
        (1, "1/1000", "5.89", "4.16"),
        (10, 1, "34.2", "24.2"),
        (10, "1/1000", "34.2", "24.2"),
    ):
        noises = [
            lb.SparseVector(threshold=0, limit=limit, epsilon=1, resolution=resolution, noise=noise).gap_noise
            for noise in ("laplace", "one-sided")
        ]
        assert noises[0].variance == 2 * noises[1].variance
        assert [f"{float(noise.variance) ** 0.5:.3g}" for noise in noises] == [laplace, one_sided]
