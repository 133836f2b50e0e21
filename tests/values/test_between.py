"""Values between steps: the compiled steps and parts are those of fractions, on every kind of grid."""

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from lastbit import ExponentialMechanism, Reference, Sampler, Tape
from lastbit.values.between import Between
from lastbit.values.grid import Grid

LIMIT = 1 << 61
"""So many steps a value may lie from zero."""

WORD = 1 << 64
GRIDS = [1, "1/10", "1/1024", "1/3", 3, "7/10", 1 << 61, Fraction(1, LIMIT), Fraction(1, LIMIT - 1), "1/4294967297"]
GRIDS += [Fraction(LIMIT - 1, LIMIT), Fraction(5, 1 << 40), Fraction(1, 1 << 1030), 1 << 200]


def floats() -> list[float]:
    """Floats of every exponent, round and odd ones, around the limit of every grid, of both signs."""
    random = Random(5)
    found = [math.ldexp(m, e) for e in range(-1074, 1024, 13) for m in (1, 1.5, 1 + 2**-52, 2 - 2**-52) if e + 1 < 1024]
    found += [random.uniform(-1, 1) * 2.0 ** random.randrange(-70, 70) for _ in range(400)]
    for grid in GRIDS:
        edge = Fraction(LIMIT) / Grid(grid).denominator
        if edge > Fraction(1, 1 << 1000):
            near = float(edge)
            found += [near, math.nextafter(near, 0), math.nextafter(near, math.inf), near / 2, near * 2]
    found += [0.0, 5e-324, 2**-1022, math.inf, math.nan, 1 / 3, 1e-300]
    return [sign * value for value in found for sign in (1, -1)]


@pytest.mark.parametrize("resolution", GRIDS, ids=str)
def test_steps_and_parts_are_those_of_fractions(resolution: object) -> None:
    grid, values = Grid(resolution), floats()
    between = Between.of(grid, np.array(values), -LIMIT, LIMIT)
    assert between.steps.tolist() == [grid.step(value) for value in values]
    parts = [grid.beyond(value, step) for value, step in zip(values, between.steps.tolist(), strict=True)]
    assert between.leading.tolist() == [(part.numerator << 64) // part.denominator for part in parts]
    assert [between.exact(i) for i in range(len(values))] == parts
    for value, step, part in zip(values, between.steps.tolist(), parts, strict=True):
        scaled = Fraction(value) * grid.denominator if math.isfinite(value) else Fraction(LIMIT)
        if abs(scaled) < LIMIT:
            assert (step + part) * grid.resolution == Fraction(value)


@pytest.mark.parametrize("resolution", GRIDS, ids=str)
def test_arrays_lists_and_whole_numbers_are_read_alike(resolution: object) -> None:
    grid, whole = Grid(resolution), [0, 1, -1, 5, -7, 2**61 - 1, 2**61, -(2**61), 2**63 - 1, -(2**63), 12345]
    for values in (whole, [0.25, -0.25, 1e18], [0.25, 3, Fraction(1, 3)]):
        listed = Between.of(grid, values, -9, 9)
        slow = Between.of(grid, [Fraction(value) for value in values], -9, 9)
        array = Between.of(grid, np.array(values, object if Fraction(1, 3) in values else None), -9, 9)
        for each in (listed, array):
            assert each.steps.tolist() == slow.steps.tolist()
            assert each.leading.tolist() == slow.leading.tolist()


def test_words_on_the_edge_of_a_part_are_settled_by_further_words() -> None:
    values = [0.5, 0.25, 0.75, 0.0, 1 / 3, 2.0**-70, -(2.0**-70), 7.0, 0.1, 1.0, math.nan]
    between = Between.of(Grid(1), np.array(values), 0, 1)
    for move in (-1, 0, 1):
        for further in (0, WORD - 1, WORD // 2):
            words = [min(max(WORD - 1 - part + move, 0), WORD - 1) for part in between.leading.tolist()]
            tapes = [Tape(words + [further] * 20) for _ in range(2)]
            fast, slow = Sampler(tapes[0]).rises(between), Reference(tapes[1]).rises(between)
            assert fast.tolist() == slow.tolist()
            assert tapes[0].consumed == tapes[1].consumed
            # Less than 1 - part is down, more is up. What is not known after one word is not known exactly either way.
            for i, word in enumerate(words):
                edge = (1 - between.exact(i)) * WORD
                if word + 1 <= edge or word >= edge:
                    assert fast[i] == (word >= edge)
    # A third lies between two words: one word more is read, and no more.
    third = Between.of(Grid(1), [Fraction(1, 3)], 0, 1)
    edge = 2 * WORD // 3
    for second, up in ((0, 0), (WORD - 1, 1)):
        tape = Tape([edge, second, 5])
        assert Sampler(tape).rises(third).tolist() == [up]
        assert tape.consumed == 2


def test_a_release_takes_a_word_a_score_whatever_the_scores_are() -> None:
    mechanism = ExponentialMechanism(epsilon=1, rounding="randomized", bounds=(0, 1), resolution="1/10")
    for scores in (np.linspace(0, 1, 9000), np.zeros(9000), np.full(9000, np.nan), np.full(9000, 1e300)):
        tape = Tape(range(1 << 50, 1 << 63, (1 << 63) // 9100))
        mechanism.release(scores, Sampler(tape))
        assert tape.consumed == 9001
