"""Laws of the number of rounds: their masses, their cells, and the chance that they miss the best candidates."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, pairwise

import pytest

import lastbit as lb
from lastbit.chance import distributions, rounds
from lastbit.chance.inversion import Weighted
from lastbit.chance.rounds import MOST, Rounds
from tests.twins.pair import agree

LAWS = [
    Rounds.of("uniform", 7),
    Rounds.of(0, 7),
    Rounds.of("1/2", 12),
    Rounds.of("-1/2", 12),
    Rounds.of("-9/10", 5),
    Rounds.of("3/2", 6),
    Rounds.of(2, 6),
    Rounds.of("geometric", 9, "1/3"),
    Rounds.of("geometric", 9, "99/100"),
    Rounds.of("geometric", 3, 1),
    Rounds.of(0, 1),
]


def weights(law: Rounds) -> list[Fraction]:
    """The products of the definition, one after the other."""
    found = [Fraction(1)]
    for k in range(1, law.most):
        found.append(found[-1] * law.keep * (k + law.eta) / (k + 1))
    return found


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_masses_are_those_of_the_definition(law):
    exact = weights(law)
    stated = list(law.masses())
    assert stated == [weight / sum(exact) for weight in exact]
    assert [mass for _, mass in distributions.rounds(law).masses()] == stated
    assert law.mean == sum(k * mass for k, mass in enumerate(stated, start=1))
    for share in (Fraction(1, 20), Fraction(1, 2)):
        assert law.misses(share) == sum(mass * (1 - share) ** k for k, mass in enumerate(stated, start=1))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_every_interval_lands_in_the_cell_of_the_exact_weights(law):
    exact = Weighted.of(weights(law))
    for bits in (1, 5, 10):
        for u in range(1 << bits):
            found, right = law.cell(u, bits), exact.cell(u, bits)
            # At a border that is exactly a fraction over 2^bits, bounds may leave to more words what they could tell.
            edges = {Fraction(u, 1 << bits), Fraction(u + 1, 1 << bits)}
            assert found == right or (found is None and edges & _inner_ends(law))


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_bounds_of_the_ends_are_bounds_without_spare_digits_too(law, monkeypatch):
    """With spare digits a bound that is rounded the wrong way would be right by luck, for every law that is this short.

    Rounded down, the masses that must not be too small make the total too small, and the lower ends too large.
    """
    monkeypatch.setattr(rounds, "_GUARD", 0)
    ends = [Fraction(0), *accumulate(law.masses())]
    for bits in range(1, 65):
        lower, upper = rounds._ends.__wrapped__(law, bits)
        assert all(low <= end * (1 << bits) <= high for low, end, high in zip(lower, ends, upper, strict=True))


def _inner_ends(law: Rounds) -> set[Fraction]:
    return set(accumulate(law.masses())) - {1}


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_both_samplers_draw_the_cell_around_every_border(law):
    ends = [0, *(end * (1 << 64) for end in accumulate(law.masses()))]
    for place, (start, stop) in enumerate(pairwise(ends), start=1):
        if stop - start < 2:
            continue
        for word in (-(-start // 1), -(-stop // 1) - 2, (start + stop) // 2):
            words = [int(word), 1 << 63]
            assert lb.Reference(lb.Tape(words)).rounds(law) == place
            agree(words, lambda draw: draw.rounds(law))


def test_the_auditor_follows_the_draw():
    found = lb.audit.law(lambda draw: draw.rounds(Rounds.of("-1/2", 5)))
    assert found.masses == dict(enumerate(Rounds.of("-1/2", 5).masses(), start=1))


def test_condition_of_the_theorem_is_met_with_equality_and_geometric_laws_stay_below():
    for law in LAWS:
        for k in range(1, law.most):
            ratio, bound = Fraction(*law.ratio(k)), (k + law.eta) / (k + 1)
            assert ratio == bound * law.keep <= bound
            assert law.rises or ratio <= 1


TABLE = {
    ("uniform", 199): ("3", ".095", ".242", ".430"),
    ("1/2", 285): ("2.5", ".192", ".336", ".489"),
    (0, 716): ("2", ".419", ".547", ".644"),
    ("-1/2", 31_216): ("1.5", ".779", ".861", ".903"),
}
SHARES = [Fraction(1, 20), Fraction(1, 50), Fraction(1, 100)]


@pytest.mark.parametrize(("law", "most"), TABLE, ids=str)
def test_rounds_against_quality(law, most):
    """Each law with the least number of rounds whose mean is at least 100."""
    long = Rounds.of(law, most)
    times, *missed = TABLE[law, most]
    assert long.times(threshold=False) == Fraction(times)
    assert [f"{float(long.misses(share)):.3f}"[1:] for share in SHARES] == missed
    assert long.mean >= 100 > Rounds.of(law, most - 1).mean


def test_the_geometric_law_of_the_paper_misses_more_than_the_uniform_one():
    """Endless, with mean 100: E x^K = γx/(1 - (1-γ)x)."""
    stop = Fraction(1, 100)
    endless = [stop * (1 - q) / (1 - (1 - stop) * (1 - q)) for q in SHARES]
    assert [f"{float(each):.3f}"[1:] for each in endless] == [".160", ".329", ".497"]
    cut = Rounds.of("geometric", 4000, stop)
    assert all(abs(cut.misses(q) - each) < Fraction(1, 10**12) for q, each in zip(SHARES, endless, strict=True))
    assert all(Rounds.of("uniform", 199).misses(q) < each for q, each in zip(SHARES, endless, strict=True))


@pytest.mark.parametrize(
    ("law", "most", "stop", "message"),
    [
        ("uniform", 0, None, "most must be a whole number of at least 1"),
        (-1, 5, None, "law must be above -1 and at most 2"),
        (3, 5, None, "law must be above -1 and at most 2"),
        ("poisson", 5, None, "law, where it is not 'uniform' or 'geometric', must be a finite number"),
        ("geometric", 5, None, "needs stop"),
        ("geometric", 5, 0, "stop must be positive"),
        ("geometric", 5, 2, "stop must be at most 1"),
        ("uniform", 5, "1/2", "stop is for law='geometric'"),
        (0, MOST + 1, None, "most must be at most 131,072 for this law"),
    ],
)
def test_bad_laws_are_refused(law, most, stop, message):
    with pytest.raises(lb.ParameterError, match=message):
        Rounds.of(law, most, stop)


def test_a_uniform_number_of_rounds_has_no_longest_table():
    long = Rounds.of("uniform", 300_000)
    assert (long.mean, next(long.masses())) == (Fraction(300_001, 2), Fraction(1, 300_000))
    assert long.misses(Fraction(1, 2)) == (1 - Fraction(1, 1 << 300_000)) / 300_000
    assert (long.misses(Fraction(0)), long.misses(Fraction(1))) == (1, 0)
    assert 1 <= lb.Sampler().rounds(Rounds.of("uniform", 10**30)) <= 10**30
    assert Rounds.of(1, 9) == Rounds.of("uniform", 9)
