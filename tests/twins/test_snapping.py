"""A snapped value reads the words of its two draws at once on Sampler, and draw by draw on Reference."""

from fractions import Fraction
from random import Random

import gmpy2
import pytest

from lastbit import Sampler, Snapping, Tape
from lastbit.mechanisms.snapping import _draw_uniform, _power_of_two
from tests.twins.pair import WORD, agree

FIRST = [[], [0], [0, 0], [0, 1], [1], [2], [3], [WORD // 2 - 1], [WORD // 2], [WORD - 1]]


@pytest.mark.parametrize("further", [1, 62, 63, 64, 125, 126, 127, 128, 200])
def test_the_same_exponent_and_bits(further: int) -> None:
    random = Random(further)
    for first in FIRST:
        words = [*first, *(random.getrandbits(64) for _ in range(8))]
        for length in range(len(words) + 1):
            agree(words[:length], lambda draw: _draw_uniform(further, draw), lambda draw: draw.integer(6))


@pytest.mark.parametrize("bounds", [(0, 100), (-1, 10**40)])
def test_the_same_value(bounds: tuple[int, int]) -> None:
    random, mechanism = Random(1), Snapping(epsilon=1, bounds=bounds)
    for first in FIRST:
        words = [*first, *(random.getrandbits(64) for _ in range(8))]
        agree(words, lambda draw: mechanism.release(42.5, draw).value)


def test_the_context_of_a_program_changes_nothing() -> None:
    def values() -> list[Fraction]:
        _power_of_two.cache_clear()
        mechanisms = [Snapping(epsilon=epsilon, bounds=(0, 100)) for epsilon in ("1", "1e-9")]
        tapes = [[first, 5, 7, 9] for first in (3, WORD - 1)]
        return [mechanism.release(42.5, Sampler(Tape(words))).value for mechanism in mechanisms for words in tapes]

    alone = values()
    # Contexts with few exponents, as that of short floats: numbers beyond them are rounded, or trapped.
    for trap in (False, True):
        traps = {"trap_overflow": trap, "trap_underflow": trap}
        with gmpy2.context(precision=5, emin=-20, emax=20, round=gmpy2.RoundUp, **traps):
            assert values() == alone
