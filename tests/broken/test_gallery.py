"""The auditor convicts every broken mechanism, with a witness, and acquits its repair. The known figures come out."""

from fractions import Fraction
from itertools import product
from math import log, log2

import gmpy2
import pytest

import lastbit as lb
from lastbit.audit import compare, law, loss
from lastbit.audit.broken import (
    discovery,
    discrete_noise,
    downward_noise,
    numbers_of_rounds,
    printed_exponential,
    printed_selection,
    printed_snapping,
    printed_sparse_vector,
    quantiles,
    rho_and_delta,
    sparse_vector_variants,
)
from lastbit.audit.broken.gallery import GALLERY, TOLERANCE
from lastbit.audit.verdict import judge
from lastbit.papers.base2_sampling import optimized_sample
from lastbit.papers.sparse_vector import disc_sv, sim_gap_sv
from lastbit.privacy.cost import Cost


@pytest.mark.xdist_group("gallery")
@pytest.mark.parametrize("case", GALLERY, ids=lambda case: case.name)
def test_convicted_as_published_and_acquitted_when_repaired(case, laws_once):
    one, other, *right = (laws_once(program, TOLERANCE) for program in (case.program, case.neighbour, *case.repaired))
    published = judge(case.cost, one, other, TOLERANCE)
    assert published.verdict == "violated"
    assert judge(case.cost, *right, TOLERANCE).verdict == "holds"
    # The witness is checked again, from the laws alone.
    cost, event = Cost.of(case.cost), published.witness
    assert event
    if published.claim == "rho":
        assert max(p.renyi(q, published.alpha)[0] for p, q in ((one, other), (other, one))) > published.alpha * cost.rho
        return
    odds = cost.odds_bounds()[1]

    def proves(p, q):
        first, second = (sum(each[outcome][0] for outcome in event) for each in (p, q))
        return first > odds * (second + q.unexplored) + cost.delta

    assert proves(one, other) or proves(other, one)


def test_every_case_says_where_and_why():
    assert len({case.name for case in GALLERY}) == len(GALLERY)
    assert all(case.source and case.why and case.repaired for case in GALLERY)


def bits(programs, tolerance=0):
    return loss(*programs, tolerance).lower_bits


@pytest.mark.parametrize(("gaps", "printed", "fixed"), [(3, "3.585", "2.56"), (4, "4.27", "2.57"), (8, "4.90", "2.57")])
def test_gaps_conditioned_on_the_threshold(gaps, printed, fixed):
    """A1, on the transcript ⊥ ⊥ ⊤ with every gap. With many gaps another transcript is worse still."""
    programs = printed_sparse_vector.gap_instance(printed_sparse_vector.printed_sim_gap_sv, gaps)
    one, other = (law(program, 0) for program in programs)
    transcript = ((False,), (False,), (True,) * (gaps + 1))
    figure = log2(one[transcript][0] / other[transcript][0])
    assert f"{figure:.{len(printed) - 2}f}" == printed
    assert loss(one, other, 0).lower_bits >= figure * (1 - 2**-40)
    assert f"{bits(printed_sparse_vector.gap_instance(sim_gap_sv, gaps)):.2f}" == fixed


def all_below(q, n, clamped):
    """P(n times ⊥): ρ is discrete Laplace of base 1/2 clamped to [-1, 2], and so is every ν, unclamped."""
    lap = {k: Fraction(1, 3) / 2 ** abs(k) for k in (0, 1)}
    rho = {-1: Fraction(1, 3), **lap, 2: Fraction(1, 6)}

    def short_of(t):  # P(ν < t)
        return 1 - Fraction(2, 3) / 2**t if t >= 0 else Fraction(2, 3) / 2 ** (1 - t)

    reach = {value: max(-1, min(1, value - q)) if clamped else value - q for value in rho}
    return sum(mass * short_of(reach[value]) ** n for value, mass in rho.items())


def test_an_unclamped_threshold_loses_with_every_answer():
    """A2. The longer runs by the formula that the short one confirms."""
    for mechanism, clamped in ((printed_sparse_vector.printed_disc_sv, False), (disc_sv, True)):
        laws = [law(program, 0) for program in printed_sparse_vector.no_clamp_instance(mechanism, 10)]
        assert [found[(False,) * 10][0] for found in laws] == [all_below(q, 10, clamped) for q in (0, 1)]
    for n, figure, places in ((10, "3.37", 2), (50, "16.1", 1), (200, "64.4", 1)):
        ratio = all_below(0, n, False) / all_below(1, n, False)
        assert f"{log2(max(ratio, 1 / ratio)):.{places}f}" == figure
        assert Fraction(1, 2) <= all_below(0, n, True) / all_below(1, n, True) <= 2
    assert loss(*printed_sparse_vector.no_clamp_instance(disc_sv, 10), 0).upper <= log(2) * (1 + 2**-50)


def test_private_selection_costs_twice_the_candidate():
    """A3."""
    programs = printed_selection.selection_instance(Fraction(2))
    one, other = (law(program) for program in programs)
    found = loss(one, other)
    assert f"{found.lower:.4f}" == "1.3843"
    assert log(other["a"][1] / one["a"][0]) >= found.lower
    assert compare(*programs, printed_selection.PRINTED_COST).verdict == "violated"
    assert compare(*programs, printed_selection.RIGHT_COST).verdict == "holds"


def test_private_selection_is_the_sum_over_its_rounds():
    stop, rounds = Fraction(1, 5), 4
    first, _ = printed_selection.selection_instance(Fraction(2), stop, rounds)
    a, b = Fraction(1, 10_000), Fraction(2, 3)
    on = (1 - a - b) * (1 - stop)
    found = law(first, 0)
    assert found.masses["a"] == a * sum(on**i for i in range(rounds))
    assert found.masses["b"] == b * sum(on**i for i in range(rounds))


def test_numbers_of_rounds_that_cost_more():
    """The mechanism refuses both: it draws its rounds given the cap, and no law that rises with a threshold."""
    assert f"{bits(numbers_of_rounds.cap_instance(printed=True)):.4f}" == "4.0863"
    assert f"{bits(numbers_of_rounds.cap_instance(printed=False)):.4f}" == "2.7644"
    assert f"{bits(numbers_of_rounds.rising_instance(printed=True)):.4f}" == "2.9967"
    assert f"{bits(numbers_of_rounds.rising_instance(printed=False)):.4f}" == "1.9996"


def test_the_best_drawn_at_once_is_the_best_of_its_runs():
    candidate, rounds = (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), [Fraction(k) for k in (3, 1, 2, 1)]

    def run(draw):
        return max(draw.index(candidate) for _ in range(1 + draw.index(rounds)))

    assert law(run, 0).masses == law(lambda draw: numbers_of_rounds.best(draw, candidate, rounds), 0).masses


@pytest.mark.parametrize(("n", "figure"), [(3, "2.56"), (5, "3.06"), (9, "3.42")])
def test_rounding_the_wrong_way(n, figure):
    """A4."""
    assert f"{bits(printed_exponential.rounding_instance(n, printed=True)):.2f}" == figure
    assert bits(printed_exponential.rounding_instance(min(n, 5), printed=False)) < 2


def test_padding_in_the_wrong_place():
    """A5."""
    ones = [Fraction(1)] * 3
    printed = law(lambda draw: printed_exponential.printed_sample(draw, ones), 0)
    assert printed.masses == {0: Fraction(1, 4), 1: Fraction(1, 4), 2: Fraction(1, 2)}
    one, other = (law(program, 0) for program in printed_exponential.padding_instance(printed=True))
    assert one[3][0] / other[3][0] == 9  # 3.17 bits, where the bound is 2


@pytest.mark.parametrize("tries", [1, 2, 3])
@pytest.mark.parametrize("weights", [["1", "1", "1"], ["1/4", "1/2", "1", "1/2"], ["3", "5"], ["1/8", "1/8"]])
def test_the_repaired_padding_draws_in_proportion_to_the_weights(weights, tries):
    """A5. A try ends at the padding with probability 1 - t/2^k, whatever the weights, and the next one is the same."""
    exact = [Fraction(weight) for weight in weights]
    inside = sum(exact) / next(power for k in range(-2, 4) if (power := Fraction(2) ** k) >= sum(exact))
    reals = [gmpy2.mpfr(gmpy2.mpq(weight)) for weight in exact]
    found = law(lambda draw: optimized_sample(draw, reals, 16, tries=tries), 0)
    failed = (1 - inside) ** tries
    ends = {i: (1 - failed) * weight / sum(exact) for i, weight in enumerate(exact)}
    assert found.masses == ends | ({None: failed} if failed else {})


def test_the_repaired_mechanism_is_the_exponential_mechanism():
    """A5. Given that it did not give up, it has the law of ours, exactly."""
    mechanism = lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2))
    repaired = printed_exponential.padding_instance(printed=False)
    for utilities, program in zip([(2, 1, 0, 1), (2, 0, 0, 2)], repaired, strict=True):
        found = law(program, 0)
        weights = [Fraction(1, 2**u) for u in utilities]
        failed = (1 - sum(weights) / 4) ** printed_exponential.TRIES
        assert found.masses[None] == failed
        released = law(mechanism.program([-u for u in utilities]), 0).masses
        ours = {choice.index: mass for choice, mass in released.items()}
        assert ours == {i: weight / sum(weights) for i, weight in enumerate(weights)}
        assert all(found.masses[i] == (1 - failed) * mass for i, mass in ours.items())


def test_a_missing_sample():
    """A6."""
    low, high = (law(program, 0) for program in printed_exponential.missing_instance(printed=True))
    assert (f"{float(low[False][0]):.3f}", f"{float(high[False][0]):.3f}") == ("0.500", "0.749")
    for program in printed_exponential.missing_instance(printed=False):
        assert list(law(program)) == [True]


def test_a_uniform_number_above_one():
    """A7."""
    published = loss(*printed_snapping.instance(0))
    assert f"{published.lower:.2f}" == "1.95"
    fixed = loss(*printed_snapping.instance(1), Fraction(1, 2**30))
    assert 1 - 1e-6 < fixed.lower <= printed_snapping.COST


def test_one_sided_noise_reaches_no_value_from_below():
    """A8."""
    one, other = (law(program, "1/1000000") for program in printed_exponential.laplace_instance(printed=True))
    assert max(one) == -1
    assert max(other) == 0
    assert other[0][0] > Fraction(8, 10)


def test_a_score_without_its_sensitivity():
    """A9."""
    assert bits(printed_selection.score_instance(lb.Rate.from_eta(printed_selection.SCORE_ETA)), "1e-9") > 3.99
    right = printed_selection.score_instance(lb.Rate.from_eta(printed_selection.SCORE_ETA, Fraction(1, 2)))
    assert compare(*right, printed_selection.SCORE_ETA).verdict == "holds"


@pytest.mark.parametrize("variant", [sparse_vector_variants.variant_1, sparse_vector_variants.variant_2])
@pytest.mark.parametrize("limit", [1, 2])
def test_the_two_private_variants_pass_on_all_neighbours(variant, limit):
    laws = {
        queries: law(lambda draw, queries=queries: variant(draw, queries, limit), Fraction(1, 2**12))
        for queries in product((0, 1), repeat=3)
    }
    cost = lb.Eta(1, 1, 4 * limit)
    worst = 0.0
    for one, other in product(laws, laws):
        verdict = judge(cost, laws[one], laws[other], Fraction(1, 2**12))
        assert verdict.verdict == "holds"
        worst = max(worst, verdict.loss.lower_bits)
    assert worst > 2


@pytest.mark.parametrize(("case", "proof"), [(0, (False,)), (1, (True,))])
def test_one_sided_noise_downwards_loses_without_bound_on_one_query(case, proof):
    """One of two neighbours never gives the answer that the other gives with probability 1/4."""
    broken = downward_noise.CASES[case]
    chances = {law(program, "1e-9")[proof][0] for program in (broken.program, broken.neighbour)}
    assert chances == {Fraction(0), Fraction(1, 4)}


def test_noise_downwards_on_both_charges_every_answer_below():
    """P(n times ⊥) is Σ (1-s)s^z·r^(n·(q+z+1)) for q at the threshold or above: a bit more with every query."""
    for n in (1, 6, 9):
        programs = (downward_noise.instance([q] * n, -1, -1) for q in (0, 1))
        first, second = (law(program, Fraction(1, 1 << 20)) for program in programs)
        below = (False,) * n
        found = [Fraction(1, 2) / (1 - Fraction(1, 2 ** (n + 1))) / 2 ** (n * (q + 1)) for q in (0, 1)]
        assert found[0] / found[1] == 2**n
        assert first[below][0] <= found[0] <= first[below][1]
        assert second[below][0] <= found[1] <= second[below][1]


def test_noise_given_where_it_starts_is_the_conditional_law():
    rate = lb.Rate.from_eta(lb.Eta(1, 1, 1))
    for least in (-3, 0, 2):
        found = law(lambda draw, least=least: sparse_vector_variants._noise_from(draw, rate, least), "1e-6")
        whole = sum(Fraction(1, 2 ** abs(v)) for v in range(least, 0)) + Fraction(2, 2 ** max(least, 0))
        assert all(found[v][0] == Fraction(1, 2 ** abs(v)) / whole for v in found)
        assert min(found) == least


def test_the_repaired_noisy_max_is_private_on_all_neighbours_of_a_small_grid():
    def programs(values, printed):
        return law(lambda draw: discrete_noise.noisy_max(draw, values, printed=printed), Fraction(1, 2**9))

    worst = {}
    for printed in (True, False):
        laws = {values: programs(values, printed) for values in product((0, 1), repeat=3)}
        worst[printed] = max(
            judge(lb.Eta(1, 1, 2), laws[a], laws[b], Fraction(1, 2**9)).verdict for a, b in product(laws, laws)
        )
    assert worst == {True: "violated", False: "holds"}


def test_the_costs_in_rho_and_delta_that_are_too_low():
    """A threshold's delta is the tail from one person below it, exactly; repaired, the delta is attained."""
    printed, fixed = (
        [law(program, Fraction(1, 2**30)) for program in rho_and_delta.list_item_instance(printed=each)]
        for each in (True, False)
    )
    for laws, delta in ((printed, Fraction(1, 12)), (fixed, Fraction(1, 24))):
        lower, upper = laws[0].delta_at(laws[1], rho_and_delta._STEP)
        assert lower <= delta <= upper < lower + Fraction(1, 2**28)
        assert laws[1].delta_at(laws[0], rho_and_delta._STEP)[0] == 0
    assert Fraction(1, 24) == rho_and_delta.THRESHOLD_DELTA
    # Noise that ends has no rho, and the end is in the witness.
    one, other = (law(program, 0) for program in rho_and_delta.gaussian_instance(printed=True))
    found = judge(lb.Cost.zcdp(10**6), one, other, Fraction(0))
    assert (found.claim, found.measured.value, found.witness) == ("rho", float("inf"), (-4,))
    # But for the probability of its end it is as private as Gaussian noise.
    assert judge(lb.Cost.zcdp(rho_and_delta.GAUSSIAN_RHO, one[-4][0]), one, other, Fraction(0)).holds
    assert not judge(
        lb.Cost.zcdp(rho_and_delta.GAUSSIAN_RHO, one[-4][0] * Fraction(9, 10)), one, other, Fraction(0)
    ).holds


@pytest.mark.parametrize(
    ("place", "delta"), [(0, Fraction(1, 8)), (1, Fraction(35, 384)), (2, Fraction(1)), (3, Fraction(23, 192))]
)
def test_searches_with_a_line_left_out_have_the_deltas_of_the_proof(place, delta):
    case = discovery.CASES[place]
    one, other = (law(program, Fraction(1, 1000)) for program in (case.program, case.neighbour))
    found = [first.delta_at(second, case.cost.epsilon) for first, second in ((one, other), (other, one))]
    assert max(low for low, _ in found) <= delta <= max(high for _, high in found)
    assert max(low for low, _ in found) > delta - Fraction(1, 100) > case.cost.delta


def test_quantiles_lose_what_their_slips_cost():
    """Up to twice the claim at the median, up to three times for a quartile, and a level more in the recursion."""
    median, quartile, recursion, rounded = quantiles.CASES
    assert f"{bits((median.program, median.neighbour)):.4f}" == "3.3097"
    assert 6 < bits((quartile.program, quartile.neighbour)) < 18
    assert 4 < bits((recursion.program, recursion.neighbour)) < 6
    # What may come out without a person, and never with that person.
    assert 3 in lb.audit.law(rounded.program, 0).masses
    assert 3 not in lb.audit.law(rounded.neighbour, 0).masses
    assert bits(rounded.repaired) <= 2
