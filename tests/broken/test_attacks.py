"""Every attack breaks the naive code and gains no more than it may from ours."""

from fractions import Fraction

import pytest

import lastbit as lb
from lastbit.audit import law
from lastbit.audit.attacks import retry_timing
from lastbit.audit.attacks.attack import all_attacks

ATTACKS = list(all_attacks())


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_naive_code_breaks_and_ours_does_not(attack):
    assert attack.succeeds
    assert attack.fails_on_ours
    assert f"advantage {float(attack.naive_advantage):.6g} against the naive" in str(attack)


def test_every_attack_is_there():
    assert "retry timing" in {attack.name for attack in ATTACKS}


def test_tries_follow_the_total():
    for total in (Fraction(256), Fraction(257), Fraction(5, 2)):
        hit = retry_timing.one_try(total)
        found = law(lambda draw, total=total: retry_timing.tries(draw, total), "1e-6")
        assert all(found[n][0] == hit * (1 - hit) ** (n - 1) for n in found)
    assert retry_timing.one_try(Fraction(5, 2)) == Fraction(5, 8)


@pytest.mark.parametrize("weights", [(1, 2), (1, 1, 1), (3, 5, 7, 1), (4, 4)])
def test_the_words_that_need_a_second_one_are_counted_exactly(weights):
    """On tapes: the words at and around every border, and no others, read on."""
    exact = [Fraction(weight) for weight in weights]
    total, expected = sum(weights), round((1 - retry_timing.one_word(exact)) * 2**64)
    edges = {sum(weights[:i]) * 2**64 // total for i in range(1, len(weights))}
    long = 0
    for word in {edge + by for edge in edges for by in (-1, 0, 1)} | {0, 2**64 - 1}:
        tape = lb.Tape([word, 7, 7])
        lb.Sampler(tape).index(weights)
        long += tape.consumed > 1
    assert long == expected
