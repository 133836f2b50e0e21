"""Choose the parameters of a model from a grid, as a grid search does, and pay for a few fits only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np

from lastbit.chance.draw import Draw
from lastbit.errors import ParameterError
from lastbit.exact.numbers import Number
from lastbit.mechanisms.candidates import Candidate, wrong_signature
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.private_selection import PrivateSelection, Winner
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.release import Release

Parameters = Mapping[str, Any]
FitScore = Callable[[dict[str, Any], Draw], tuple[Any, Any]]
"""Takes parameters and a Draw and returns (model, score), both private at the candidate's cost together."""


@dataclass(frozen=True, eq=False, repr=False)
class FoundModel(Release):
    """The best fit: its parameters, the model and its private score; all None when no fit succeeded.

    `best_params_`, `best_estimator_` and `best_score_` are the names that scikit-learn's searches have for them.

    >>> import lastbit as lb
    >>> def fit_score(parameters, draw):  # private on its own: it looks at no data
    ...     return f"model {parameters['alpha']}", draw.integer(10)
    >>> search = lb.PrivateSearch(grid={"alpha": [1]}, fit_score=fit_score, candidate_cost="1/10", most=5)
    >>> found = search.release()
    >>> found.best_params_, found.best_estimator_
    ({'alpha': 1}, 'model 1')
    """

    place: int | None
    """The number of the parameters in the grid."""
    pairs: tuple[tuple[str, Any], ...] | None = field(hash=False)
    """The parameters as the search keeps them: change none of them. `parameters` hands out copies."""
    model: Any
    score: Fraction | float | None
    """The score of the fit, by the rules of `Winner.score`."""

    @property
    def parameters(self) -> dict[str, Any] | None:
        """The parameters as the grid had them when the search was built, in copies of your own."""
        return None if self.pairs is None else deepcopy(dict(self.pairs))

    best_params_ = parameters

    @property
    def best_estimator_(self) -> Any:
        """The model that won."""
        return self.model

    @property
    def best_score_(self) -> Fraction | float | None:
        """The private score of the model that won."""
        return self.score

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return one row, or none: the score, and each parameter in a
        column such as `param_alpha`, as in scikit-learn.
        """
        if (parameters := self.parameters) is None:
            return {"score": []}
        return {**{f"param_{name}": [value] for name, value in parameters.items()}, "score": [self.score]}


@dataclass(frozen=True, kw_only=True)
class PrivateSearch(Mechanism[FoundModel]):
    """Fit a model with parameters drawn from a grid, a random number of times; publish the best fit only.

    Paper:    none; it is PrivateSelection with one candidate for each point of the grid.
    Law:      that of PrivateSelection. A grid that maps names to lists stands for all combinations: names in
              alphabetical order, the last name changes first, as in scikit-learn's ParameterGrid; a list of such grids
              stands for one after the other.
    Cost:     that of PrivateSelection: three times candidate_cost with the default law, whatever the grid's size.
    Assumes:  fit_score(parameters, draw) is private by itself: model and score together cost candidate_cost, for every
              point of the grid. Plain training on private data is not private, and neither is plain
              cross-validation: this search adds no noise to either. All of its chance comes from `draw`. The model is a
              new object each time, which no later fit changes. Every fit starts afresh: it keeps nothing from an
              earlier fit, as a warm start, a cache or an incremental fit does. Each fit gets its own copy of the
              parameters. The grid is public. A fit that raises counts as the
              lowest score, unseen: try fit_score on made-up data first.
    Checked:  tests/mechanisms/test_private_search.py: the law is that of PrivateSelection, exactly.
    Speed:    that of PrivateSelection: as many fits as it draws rounds, or `most` with `constant`.

    >>> import lastbit as lb
    >>> def fit_score(parameters, draw):
    ...     return f"model with alpha {parameters['alpha']}", draw.integer(10)
    >>> search = lb.PrivateSearch(grid={"alpha": [0.1, 1, 10]}, fit_score=fit_score, candidate_cost="1/10", most=20)
    >>> search.cost, len(search.points), search.release().parameters["alpha"] in (0.1, 1, 10)
    (Cost(epsilon=Fraction(3, 10)), 3, True)
    """

    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]
    fit_score: FitScore
    candidate_cost: Number | Eta
    most: int
    law: str | Number = "uniform"
    stop: Number | None = None
    threshold: Number | None = None
    constant: bool = False
    _points: tuple[dict[str, Any], ...] = field(init=False, repr=False, compare=False)
    """The points that no fit sees: every fit and every reader gets copies."""
    selection: PrivateSelection = field(init=False, repr=False, compare=False)
    cost: Cost = field(init=False, repr=False, compare=False)
    parameters_identify: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not callable(self.fit_score):
            raise ParameterError(
                f"fit_score must be a function of parameters and a Draw: got {type(self.fit_score).__name__}."
            )
        if (signature := wrong_signature(self.fit_score, 2)) is not None:
            raise ParameterError(
                f"fit_score must take two arguments, the parameters and a Draw: it takes {signature}. Write def "
                "fit_score(parameters, draw), and bind other arguments first, for example with functools.partial."
            )
        points = _copy_points(expand_grid(self.grid))
        selection = PrivateSelection(
            candidates=[_candidate(self.fit_score, point) for point in points],
            candidate_cost=self.candidate_cost,
            most=self.most,
            law=self.law,
            stop=self.stop,
            threshold=self.threshold,
            constant=self.constant,
        )
        names = ("candidate_cost", "most", "law", "stop", "threshold", "constant")
        settings = {name: getattr(selection, name) for name in names}
        self._derive(_points=points, selection=selection, cost=selection.cost, **settings)

    @property
    def points(self) -> tuple[dict[str, Any], ...]:
        """The parameters of each candidate, in their order."""
        return deepcopy(self._points)

    @property
    def parameters(self) -> dict[str, str]:
        """The public parameters as text, for a ledger: of the grid its size, and no code."""
        texts = {name: text for name, text in super().parameters.items() if name != "fit_score"}
        return {**texts, "grid": f"{len(self._points)} points"}

    def ready(self, values: None = None) -> Callable[[Draw], FoundModel]:
        """Return this search, ready: all that is left is chance."""
        select = self.selection.ready(values)
        return lambda draw: self._publish(select(draw))

    def _publish(self, winner: Winner) -> FoundModel:
        place = winner.candidate
        pairs = None if place is None else tuple(self._points[place].items())
        return FoundModel(self.name, self.cost, place, pairs, winner.output, winner.score)


def _candidate(fit_score: FitScore, point: dict[str, Any]) -> Candidate:
    # A deep copy for every run: a fit that changes its parameters, or fits one of them, changes no other fit.
    return lambda draw: fit_score(deepcopy(point), draw)


def _copy_points(points: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
    try:
        return deepcopy(points)
    except Exception as error:
        raise ParameterError(
            "grid must have values that copy.deepcopy can copy, because every fit gets its own copy: got "
            f"{type(error).__name__}. Pass the name of such a value, and let fit_score make it."
        ) from None


def expand_grid(grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return all points of a grid, in the order of scikit-learn's ParameterGrid.

    A mapping stands for all combinations of its lists. In a list every mapping whose values are all lists or tuples is
    such a grid, and every other mapping is a point.

    >>> expand_grid({"depth": [2, 3], "alpha": [0.1, 1]})[:3]
    ({'alpha': 0.1, 'depth': 2}, {'alpha': 0.1, 'depth': 3}, {'alpha': 1, 'depth': 2})
    >>> expand_grid([{"alpha": 0.1}, {"alpha": 1, "depth": 3}])
    ({'alpha': 0.1}, {'alpha': 1, 'depth': 3})
    """
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if not _is_list(values):
                raise ParameterError(
                    f"grid must map each name to a list: got {type(values).__name__} for {name!r}. Write "
                    f"{{{name!r}: [...]}}, or pass a list of parameters."
                )
        names = sorted(grid)
        points = tuple(dict(zip(names, values, strict=True)) for values in product(*(grid[name] for name in names)))
    elif isinstance(grid, Sequence) and not isinstance(grid, str) and all(isinstance(part, Mapping) for part in grid):
        points = tuple(
            point
            for part in grid
            for point in (expand_grid(part) if part and all(map(_is_list, part.values())) else (dict(part),))
        )
    else:
        raise ParameterError(
            f"grid must map names to lists, or be a list of parameters: got {type(grid).__name__}. Write "
            "grid={'alpha': [0.1, 1, 10]}."
        )
    if not points:
        raise ParameterError("grid must have at least one point: got an empty list.")
    return points


def _is_list(values: object) -> bool:
    """Return whether the values are a list, a tuple or an array of several."""
    return isinstance(values, list | tuple | range) or (isinstance(values, np.ndarray) and values.ndim == 1)
