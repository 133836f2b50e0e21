"""A weight is floored to a step and clipped to the bounds, whether 64 bits hold its decimals or not."""

import numpy as np
import pytest

from lastbit.data.weights import Weights

NUMBERS = [-(10**6), -51, -50, -1, 0, 1, 49, 50, 51, 74, 75, 76, 10**6]
"""Tenths."""


@pytest.mark.parametrize("scale", [1, 6, 12, 30])
@pytest.mark.parametrize(("bounds", "resolution"), [((0, 5), "1/2"), ((-5, 0), 1), ((-5, 7), "1/4"), ((2, 5), 1)])
def test_a_step_is_within_the_bounds_at_every_scale(scale: int, bounds: tuple[int, int], resolution: object) -> None:
    weights = Weights.of(bounds, resolution)  # type: ignore[arg-type]
    values = [tenths * 10 ** (scale - 1) for tenths in NUMBERS]
    column = np.array(values, object if scale == 30 else np.int64)
    assert weights.fits(scale) == (scale < 30)
    step = weights.grid.resolution
    expected = [
        max(weights.low, min(weights.high, tenths * step.denominator // (10 * step.numerator))) for tenths in NUMBERS
    ]
    assert weights.steps_of(column, None, scale).tolist() == expected
    missing = np.arange(len(values)) == 3
    assert weights.steps_of(column, missing, scale)[3] == weights.low
