"""Post-processing: how accurate a release is. No function here looks at private values, so none costs anything."""

from lastbit.estimate.accuracy import gaussian_accuracy, laplace_accuracy, least_epsilon
from lastbit.estimate.blue import blue, error_bounds, variance_left
from lastbit.estimate.gap_laws import LaplaceGapNoise, OneSidedGapNoise
from lastbit.estimate.gaps import Estimate, GapNoise, LowerBound, measured, variance_weighted
from lastbit.estimate.selection_plan import Option, SelectionPlan, selection_plan
from lastbit.estimate.tempered import tempered

__all__ = [
    "Estimate",
    "GapNoise",
    "LaplaceGapNoise",
    "LowerBound",
    "OneSidedGapNoise",
    "Option",
    "SelectionPlan",
    "blue",
    "error_bounds",
    "gaussian_accuracy",
    "laplace_accuracy",
    "least_epsilon",
    "measured",
    "selection_plan",
    "tempered",
    "variance_left",
    "variance_weighted",
]
