"""Post-processing: how accurate a release is. No function here looks at private values, so none costs anything."""

from lastbit.estimate.accuracy import laplace_accuracy, least_epsilon
from lastbit.estimate.blue import blue, error_bounds, variance_left
from lastbit.estimate.gaps import Estimate, GapNoise, LowerBound, measured, variance_weighted
from lastbit.estimate.selection_plan import Option, SelectionPlan, selection_plan

__all__ = [
    "Estimate",
    "GapNoise",
    "LowerBound",
    "Option",
    "SelectionPlan",
    "blue",
    "error_bounds",
    "laplace_accuracy",
    "least_epsilon",
    "measured",
    "selection_plan",
    "variance_left",
    "variance_weighted",
]
