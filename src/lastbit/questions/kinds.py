"""The kinds of questions, and how a question is built from the options that a person gives by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, Final, get_type_hints

from lastbit.errors import ParameterError
from lastbit.questions import binning, counting, quantiles, releases, sums
from lastbit.questions.options import Groups, Items, Spending, Table
from lastbit.questions.question import Question

_GROUPS: Final = (Table, Items, Groups, Spending)
_COSTS: Final = frozenset(field.name for field in fields(Spending))


@dataclass(frozen=True)
class Built:
    """A question, with the options that it was built from."""

    question: Question
    spending: Spending


@dataclass(frozen=True)
class Kind:
    """A kind of question: a function of options and of groups of options that returns a `Question`."""

    function: Callable[..., Question]

    @cached_property
    def _own(self) -> Mapping[str, inspect.Parameter]:
        return inspect.signature(self.function, eval_str=True).parameters

    @cached_property
    def _groups(self) -> dict[str, Any]:
        """The groups of options, by the names of their parameters."""
        return {name: each.annotation for name, each in self._own.items() if each.annotation in _GROUPS}

    @cached_property
    def _alone(self) -> set[str]:
        """The options that the kind has itself. They take the place of options of groups by the same name."""
        return self._own.keys() - self._groups.keys()

    @cached_property
    def options(self) -> tuple[inspect.Parameter, ...]:
        """All options, each with its type, its help and its default."""
        found = []
        for name, each in self._own.items():
            if name not in self._groups:
                found.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
                continue
            hints = get_type_hints(self._groups[name], include_extras=True)
            for field in fields(self._groups[name]):
                if field.name in self._alone:
                    continue
                default = inspect.Parameter.empty if field.default is MISSING else field.default
                found.append(
                    inspect.Parameter(
                        field.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[field.name], default=default
                    )
                )
        return tuple(found)

    def build(self, **given: Any) -> Built:
        """The question with these options; an option that is not given has its default. No row is read."""
        options = {each.name: each.default for each in self.options}
        if unknown := sorted(given.keys() - options.keys()):
            raise ParameterError(
                f"there is no option {unknown[0]} for this question. Use some of {', '.join(sorted(options))}."
            )
        options |= given
        for name, value in options.items():
            if value is inspect.Parameter.empty:
                raise ParameterError(f"this question needs {name.replace('_', ' ')}. Nothing was read.")
        if len(options["source"]) == 1:
            options["source"] = options["source"][0]  # one file is asked for as it always was
        asked = {"command": self.function.__name__.rstrip("_")} | {
            name: value for name, value in options.items() if name not in _COSTS
        }
        built = {
            name: group(
                **{field.name: options.pop(field.name) for field in fields(group) if field.name not in self._alone}
            )
            for name, group in self._groups.items()
        }
        for each in built.values():
            if isinstance(each, Spending):
                object.__setattr__(each, "asked", asked)
            if isinstance(each, Table):
                each.check()
        for each in built.values():
            if isinstance(each, Items):
                each.check(asked)
        spending: Spending = built["spending"]
        return Built(self.function(**built, **options), spending)


KINDS: Final[dict[str, Kind]] = {
    "top": Kind(releases.top),
    "above": Kind(releases.above),
    "choose": Kind(releases.choose),
    "measure": Kind(releases.measure),
    "histogram": Kind(binning.histogram),
    "count": Kind(counting.count),
    "sum": Kind(sums.sum_),
    "mean": Kind(sums.mean),
    "median": Kind(quantiles.median),
    "quantile": Kind(quantiles.quantile),
}
"""Every question that a command of its name asks."""
