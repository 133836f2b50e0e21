"""A private logistic regression, a candidate of a selection, in small: a whole training run is private, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

import lastbit as lb

RECORDS = np.array([[1.0, 1.0], [1.0, -1.0], [1.0, 0.5]])
LABELS = np.array([1, 0, 1])


def train(rows: int, noise: lb.DiscreteLaplace):
    """One private gradient step on the first rows, each gradient clamped and floored to a grid of 1."""
    records, labels = RECORDS[:rows], LABELS[:rows]

    def program(draw):
        # At coefficients of zero every prediction is a half.
        each = (0.5 - labels)[:, None] * records
        total = np.floor(np.clip(each, -1, 1)).astype(np.int64).sum(axis=0)
        return tuple(noise.release(total, draw=draw).values)

    return program


def test_a_training_step_holds_and_is_tight():
    # Floored to whole steps a person adds -1 or 0 in each of two places.
    noise = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 2), sensitivity=2)
    tolerance = Fraction(1, 10**4)
    two, three = (lb.audit.law(train(rows, noise), tolerance) for rows in (2, 3))
    verdict = lb.audit.judge(noise.cost, two, three, tolerance)
    assert verdict.holds
    assert verdict.loss.lower > 0.99 * float(noise.cost.amount)
