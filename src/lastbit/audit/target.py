"""The target of an audit, by name: a mechanism of lastbit with parameters as text, or a program in a user's file."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any, Final

from lastbit import mechanisms
from lastbit.audit.laws import Law, law, parse_tolerance, render_outcome
from lastbit.audit.losses import Loss, loss_between
from lastbit.audit.own_programs import run_on, takes_values
from lastbit.audit.progress import TimeBudget
from lastbit.audit.selections import SelectionOnValues
from lastbit.audit.verdict import Verdict, Verdicts, check_all, judge
from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import number, whole
from lastbit.mechanisms.mechanism import Mechanism, Program
from lastbit.mechanisms.private_selection import PrivateSelection
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta

_FUNCTIONS: Final = ("candidates", "fit_score")
"""Parameters that are functions."""
_LIKE: Final = {"bounds": "LOW,HIGH", "epsilon": "1"}
"""How a parameter is written, where it is no single number."""


@dataclass(frozen=True)
class Target:
    """A mechanism, or a user's function that takes a Draw, or values and a Draw."""

    mechanism: Mechanism[Any] | None
    module: ModuleType | None
    function: Callable[..., Hashable] | None
    cost: Cost | None

    @classmethod
    def find(cls, text: str, settings: list[str], cost: Cost | None) -> Target:
        """Find the target that a person named.

        >>> Target.find("DiscreteLaplace", ["epsilon=1"], None).cost
        Cost(epsilon=Fraction(1, 1))
        """
        if ":" not in text and not text.endswith(".py"):
            mechanism = _mechanism(text, settings)
            return cls(mechanism, None, None, mechanism.cost if cost is None else cost)
        if settings:
            raise ParameterError("--set is for mechanisms of lastbit: your program has its parameters already.")
        module, named = _load_target(text)
        if isinstance(named, Mechanism):
            return cls(named, None, None, named.cost if cost is None else cost)
        return cls(None, module, named, cost)

    def program(self, values: str | None) -> Program:
        """Return the program on these values."""
        if self.mechanism is not None:
            if values is None:
                raise ParameterError(f"{self.mechanism.name} needs --values, such as --values 3,1,2.")
            return self.mechanism.program(numbers(values))
        function = self.function
        if function is None:
            raise ParameterError("a target must have a mechanism or a program: got neither.")
        return run_on(function, None if values is None else list(numbers(values)))

    def neighbour(self, text: str) -> Program:
        """Return the program on neighbouring values, or another program from the same file."""
        if self.module is None or self.function is None or takes_values(self.function):
            return self.program(text)
        if re.match(r"[-+.\d]", text):  # no name begins so
            return self.program(text)
        return run_on(_callable(self.module, text), None)

    def check(self, values: str | None, neighbour: str | None, tolerance: str) -> None:
        """Refuse values, a neighbour or a tolerance that no run can take. No branch is followed."""
        parse_tolerance(tolerance)
        self.program(values)
        if neighbour is not None:
            self.neighbour(neighbour)

    def laws(self, values: str | None, neighbour: str | None, tolerance: str, budget: TimeBudget) -> list[Law]:
        """Return the law of the program, and the law of the neighbour when
        one is given: they leave time to compare them.
        """
        programs = [self.program(values)] + ([] if neighbour is None else [self.neighbour(neighbour)])
        parts = 1 if neighbour is None else 3
        return [law(program, tolerance, seconds=budget.share(parts - i)) for i, program in enumerate(programs)]

    def judge(self, one: Law, other: Law, tolerance: str, budget: TimeBudget) -> Verdict | Loss:
        """Return the verdict on two laws; their loss where no cost was claimed."""
        exact = parse_tolerance(tolerance)
        if self.cost is None:
            return loss_between(one, other, exact)
        return judge(self.cost, one, other, exact, seconds=budget.share(1))

    def check_all(self, values: str | None, tolerance: str, seconds: float | None) -> Verdicts:
        """Return the verdicts on every neighbour of these values. Only a mechanism knows its neighbours."""
        if self.mechanism is None or values is None:
            raise ParameterError("--all needs a mechanism, of lastbit or your own, and --values.")
        return check_all(self.mechanism, numbers(values), tolerance, cost=self.cost, seconds=seconds)


def numbers(text: str) -> Sequence[Fraction | int]:
    """Return values as exact numbers: whole numbers where all of them are.

    >>> numbers("3,0.5,1/3"), numbers("3,1")
    ([Fraction(3, 1), Fraction(1, 2), Fraction(1, 3)], [3, 1])
    """
    values = [number(part, "a value") for part in text.split(",")]
    return [int(value) for value in values] if all(value.denominator == 1 for value in values) else values


def all_mechanisms() -> Iterator[type[Mechanism[Any]]]:
    """Return every mechanism, in the order of names, without the base classes that mechanisms share."""
    for module in walk_packages(mechanisms.__path__, f"{mechanisms.__name__}."):
        if not module.name.endswith(".spark"):  # heavy, and no mechanism
            import_module(module.name)
    classes: dict[str, type[Mechanism[Any]]] = {}
    open_classes: list[type[Any]] = [Mechanism]
    while open_classes:
        candidate = open_classes.pop()
        narrower = [sub for sub in candidate.__subclasses__() if sub.__module__.startswith(f"{mechanisms.__name__}.")]
        open_classes += narrower
        if not inspect.isabstract(candidate) and (not narrower or "Cost:" in (candidate.__doc__ or "")):
            classes[candidate.__name__] = candidate
    return iter(classes[name] for name in sorted(classes))


def _mechanism(name: str, settings: list[str]) -> Mechanism[Any]:
    classes = {mechanism.__name__: mechanism for mechanism in all_mechanisms()}
    if name not in classes:
        raise ParameterError(f"there is no mechanism named {name}. Use one of {', '.join(classes)}.")
    parameters = inspect.signature(classes[name]).parameters
    arguments: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in parameters:
            raise ParameterError(
                f"--set must be NAME=VALUE: got {setting}. {name} has the parameters {', '.join(parameters)}."
            )
        arguments[key] = _setting(key, value)
    if name == PrivateSelection.__name__:
        candidates = arguments.pop("candidates", None)
        _check_complete(name, parameters, {**arguments, "candidates": ()})
        return SelectionOnValues(arguments, None if candidates is None else _load_target(candidates)[1])
    _check_complete(name, parameters, arguments)
    return classes[name](**arguments)


def _check_complete(name: str, parameters: Mapping[str, inspect.Parameter], arguments: Mapping[str, Any]) -> None:
    """Refuse to build a mechanism without all of its parameters, and say which are missing."""
    missing = [key for key in parameters if _is_required(parameters[key]) and key not in arguments]
    costs = [key for key in ("epsilon", "eta", "rho") if key in parameters]
    if costs and not any(key in arguments for key in costs):
        missing.append("epsilon")
    functions = [key for key in missing if key in _FUNCTIONS]
    if functions:
        raise ParameterError(
            f"{name} needs {' and '.join(functions)}, which no option can state. Write a program that builds and runs "
            "it, and audit FILE.py:PROGRAM."
        )
    if missing:
        options = " ".join(f"--set {key}={_LIKE.get(key, 'NUMBER')}" for key in missing)
        raise ParameterError(f"{name} needs {_join_names(missing)}: add {options}.")


def _join_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _setting(key: str, text: str) -> object:
    plain = {"true": True, "false": False, "none": None}
    if text.lower() in plain:
        return plain[text.lower()]
    if key == "eta":
        parts = [whole(part, "eta") for part in text.split(",")]
        if len(parts) != 3:
            raise ParameterError(f"eta must be X,Y,Z: got {text[:40]}.")
        return Eta(*parts)
    if "," in text:
        return tuple(text.split(","))
    # What is no short whole number stays text: the mechanism itself reads it, or refuses it.
    return int(text) if re.fullmatch(r"-?[0-9]{1,1000}", text) else text


def _load_target(text: str) -> tuple[ModuleType, Any]:
    """Run a file FILE.py, and return its module and the program or mechanism that FILE.py:NAME names."""
    path, _, name = text.rpartition(":")
    if not path or not name:
        raise ParameterError(f"a program must be given as FILE.py:PROGRAM: got {text}.")
    module = _module(path)
    return module, _callable(module, name)


def _module(path: str) -> ModuleType:
    if not os.path.isfile(path):  # a Path raises where a name is too long
        raise ParameterError(f"there is no file {path}.")
    module = ModuleType(f"audited {Path(path).stem}")
    module.__file__ = path
    # As in a script: dataclasses look up their module, and modules beside the file can be imported.
    sys.modules[module.__name__] = module
    folder = str(Path(path).resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        exec(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), module.__dict__)  # noqa: S102 - the user's own
    except Exception as error:
        raise LastbitError(f"{path} does not run: {type(error).__name__}: {error}") from None
    return module


def _callable(module: ModuleType, name: str) -> Any:
    target = getattr(module, name, None)
    if not callable(target) and not isinstance(target, Mechanism):
        raise ParameterError(f"there is no program named {name} in {module.__file__}.")
    return target


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty


def plot_laws(laws: list[Law], path: str) -> None:
    """Draw the likeliest outcomes of the laws side by side into a picture. Needs matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LastbitError("--plot needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
    outcomes = dict.fromkeys(outcome for output_law in laws for outcome in output_law)
    likely = sorted(outcomes, key=lambda outcome: -max(output_law[outcome][0] for output_law in laws))[:40]
    # Numbers are drawn in their order.
    labels = [render_outcome(outcome) for outcome in likely]
    order = sorted(range(len(labels)), key=lambda i: (_numeric(labels[i]), labels[i]))
    figure = Figure(figsize=(8, 4), layout="constrained")
    axes = figure.subplots()
    width = 0.8 / len(laws)
    for shift, (output_law, name) in enumerate(zip(laws, ("program", "neighbour"), strict=False)):
        heights = [float(output_law[likely[i]][0]) for i in order]
        axes.bar([x + shift * width for x in range(len(order))], heights, width, label=name)
    axes.set_xticks([x + width * (len(laws) - 1) / 2 for x in range(len(order))], [labels[i] for i in order])
    axes.tick_params(axis="x", rotation=90, labelsize=7)
    axes.set(ylabel="probability", title=f"the {len(order)} likeliest outcomes")
    axes.legend()
    figure.savefig(path)


def _numeric(label: str) -> float:
    try:
        return float(Fraction(label.rpartition("=")[2]))
    except (ValueError, ZeroDivisionError):
        return 0.0
