"""The text of a MeasuredTopK is made of whole numbers: it is, to the character, that of its public fractions."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.output.numbers import Multiples, format_column
from lastbit.output.table import MOST_ROWS, PEOPLE, format_cells, text_table

ITEMS = ["flu", "流感", "e\u0301", "\n", "", "\x1b[31m", 3, None, ("a", 1), "a, b"]


def text_of_fractions(release: Any) -> str:
    """The table from `columns` and `error_bars`, which are fractions."""
    columns = {name: column[:MOST_ROWS] for name, column in release.columns().items()}
    texts = format_cells(columns, release.error_bars(most=MOST_ROWS), whole=PEOPLE)
    names = [name.replace("_", " ") for name in columns]
    return text_table(names, [list(row) for row in zip(*texts, strict=True)])


RESOLUTIONS = ("1", "1/10", "1/7", "3", "2/3", "1/1000000000", "1000000000")
EPSILONS = ("1/1000", "1", "50")
SCALES = (1, 10**6, 1 << 62)
SIZES = ((1, 1), (1, 2), (3, 9), (4, 4), (10, 10), (39, 60), (40, 41), (41, 300), (100, 300))


@pytest.mark.parametrize("resolution", RESOLUTIONS)
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("scale", SCALES)
def test_the_text_is_that_of_the_fractions(resolution: str, epsilon: str, scale: int) -> None:
    chance = np.random.default_rng([scale % 1000, len(resolution), len(epsilon)])
    step = Fraction(resolution)
    sensitivity = step * max(1, step.denominator)
    # A third of the sizes each time: any size and any two of the others stand together somewhere.
    third = RESOLUTIONS.index(resolution) + EPSILONS.index(epsilon) + SCALES.index(scale)
    for k, n in SIZES[third % 3 :: 3]:
        mechanism = lb.SelectAndMeasure(k=k, epsilon=epsilon, resolution=resolution, sensitivity=sensitivity)
        for values in (chance.integers(-scale, scale, n), chance.uniform(-scale, scale, n), np.zeros(n, np.int64)):
            release = mechanism.release(values)
            lines = str(release).split("\n")
            expected = text_of_fractions(release)
            assert lines[1 : 2 + min(k, MOST_ROWS)] == expected.split("\n")
            assert (lines[-1] == f"… and {k - MOST_ROWS} more rows") == (k > MOST_ROWS + 1)
            assert ("more row" in str(release)) == (k > MOST_ROWS)


def test_items_of_any_text_are_shown_as_before() -> None:
    counts = lb.Counts(items=ITEMS, values=[50 * place for place in range(len(ITEMS))], monotone=True)
    for k in (2, len(ITEMS)):
        release = lb.SelectAndMeasure.of(counts, k=k, epsilon=1).release(counts)
        assert text_of_fractions(release) in str(release)
        assert release.to_html().count("<tr>") == k + 1


def test_multiples_are_written_as_their_fractions() -> None:
    random = Random(7)
    for _ in range(2000):
        below, ends_below = random.choice([1, 2, 3, 8, 10, 700, 10**9]), random.choice([1, 2, 10, 6, 10**7])
        size = 10 ** random.choice([0, 1, 3, 6, 12, 18, 30])
        steps = [random.randint(-size, size) for _ in range(random.randint(1, 6))]
        reach, ends = random.choice([0, 1, 3, 50, size]), random.random() < 0.7
        centres = [step * ends_below // below for step in steps] if ends else []
        lows, highs = ([centre + way * reach for centre in centres] for way in (-1, 1))
        fractions = [Fraction(step, below) for step in steps]
        bars = [(Fraction(low, ends_below), Fraction(high, ends_below)) for low, high in zip(lows, highs, strict=True)]
        assert Multiples(steps, below, lows, highs, ends_below).texts() == format_column(fractions, bars)
