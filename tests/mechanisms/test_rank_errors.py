"""The classes of answers for a quantile are those of the definition, point by point."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from lastbit.mechanisms.quantiles.rank_error import RankError
from lastbit.privacy.rate import Rate

LOW, HIGH = -2, 2


def error_of(point: int, values: tuple[int, ...], q: Fraction) -> int:
    """b times the distance from rank q·n to the ranks that a point takes."""
    a, b, n = q.numerator, q.denominator, len(values)
    below, equal = (sum(value < point for value in values), sum(value == point for value in values))
    return max(0, b * below - a * n, a * n - b * (below + equal))


@pytest.mark.parametrize("q", ["0", "1/4", "1/2", "2/3", "1"])
@pytest.mark.parametrize("n", range(5))
def test_classes_are_the_points_of_the_grid_in_order(q: str, n: int) -> None:
    rule = RankError(Fraction(q), Rate(1, 1))
    for values in combinations_with_replacement(range(LOW, HIGH + 1), n):
        sizes, errors = rule.classes(np.array(values, np.int64), LOW, HIGH)
        assert len(sizes) == len(errors) == 2 * n + 1
        classes = [error for size, error in zip(sizes.tolist(), errors.tolist(), strict=True) for _ in range(size)]
        assert classes == [error_of(point, values, Fraction(q)) for point in range(LOW, HIGH + 1)]


def test_values_that_are_not_in_one_piece_are_read_in_their_order() -> None:
    rule, every = RankError(Fraction(1, 2), Rate(1, 1)), np.array([-2, 9, 0, 9, 1, 9])
    spread, together = rule.classes(every[::2], LOW, HIGH), rule.classes(np.array([-2, 0, 1]), LOW, HIGH)
    assert all((one == other).all() for one, other in zip(spread, together, strict=True))
