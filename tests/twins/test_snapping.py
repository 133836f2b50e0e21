"""A snapped value reads the words of its two draws at once on Sampler, and draw by draw on Reference."""

from random import Random

import pytest

from lastbit import Snapping
from lastbit.mechanisms.snapping import _drawn
from tests.twins.pair import WORD, agree

FIRST = [[], [0], [0, 0], [0, 1], [1], [2], [3], [WORD // 2 - 1], [WORD // 2], [WORD - 1]]


@pytest.mark.parametrize("further", [1, 62, 63, 64, 125, 126, 127, 128, 200])
def test_the_same_exponent_and_bits(further: int) -> None:
    random = Random(further)
    for first in FIRST:
        words = [*first, *(random.getrandbits(64) for _ in range(8))]
        for length in range(len(words) + 1):
            agree(words[:length], lambda draw: _drawn(further, draw), lambda draw: draw.integer(6))


@pytest.mark.parametrize("bounds", [(0, 100), (-1, 10**40)])
def test_the_same_value(bounds: tuple[int, int]) -> None:
    random, mechanism = Random(1), Snapping(epsilon=1, bounds=bounds)
    for first in FIRST:
        words = [*first, *(random.getrandbits(64) for _ in range(8))]
        agree(words, lambda draw: mechanism.release(42.5, draw).value)
