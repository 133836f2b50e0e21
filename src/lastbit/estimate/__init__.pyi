# The public names: type checkers read them, and __init__.py loads from here what is used.

from lastbit.estimate.accuracy import gaussian_accuracy, laplace_accuracy, least_epsilon
from lastbit.estimate.blue import blue, error_bounds, variance_left
from lastbit.estimate.finding import Found, expected_found, zipf_counts
from lastbit.estimate.gap_laws import LaplaceGapNoise, OneSidedGapNoise
from lastbit.estimate.gaps import Estimate, GapNoise, LowerBound, measured, variance_weighted
from lastbit.estimate.selection_plan import SelectionOption, SelectionPlan, selection_plan
from lastbit.estimate.tempered import tempered

__all__ = [
    "Estimate",
    "Found",
    "GapNoise",
    "LaplaceGapNoise",
    "LowerBound",
    "OneSidedGapNoise",
    "SelectionOption",
    "SelectionPlan",
    "blue",
    "error_bounds",
    "expected_found",
    "gaussian_accuracy",
    "laplace_accuracy",
    "least_epsilon",
    "measured",
    "selection_plan",
    "tempered",
    "variance_left",
    "variance_weighted",
    "zipf_counts",
]
