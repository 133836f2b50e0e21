"""Programs that other people wrote: what they take, and their errors in words that help their author."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any

from lastbit.chance.draw import Draw
from lastbit.errors import LastbitError, ParameterError
from lastbit.mechanisms.mechanism import Program

Function = Callable[..., Any]
_FORMS = "program(draw), program(values, draw), or program(value) that returns a function of a draw"


def takes_values(function: Function) -> bool:
    """Return whether a program takes values and a Draw, and not a Draw alone."""
    return _count_arguments(function) == 2


def run_on(function: Function, values: list[Fraction | int] | None) -> Program:
    """Return the program on these values: a function of a Draw, of values and a Draw, or of a value alone.

    >>> run_on(lambda value: lambda draw: value + draw.integer(1), [3])(None)
    Traceback (most recent call last):
    lastbit.errors.LastbitError: your program raised AttributeError: 'NoneType' object has no attribute 'integer'...
    """
    name = getattr(function, "__name__", "program")
    required = _count_arguments(function)
    if required == 2:
        if values is None:
            raise ParameterError("this program takes values and a Draw: pass --values, such as --values 3,1,2.")
        return _explain_errors(lambda draw: function(values, draw))
    if required != 1:
        raise ParameterError(f"{name} must be {_FORMS}: got {required} arguments without a default.")
    if values is None:
        return _explain_errors(function)
    # A program of one argument that is given values makes a program of them.
    made: Any = _explain_errors(function)(values[0] if len(values) == 1 else values)
    if not callable(made):
        raise ParameterError(
            f"{name} must be {_FORMS}: with --values it returned a {type(made).__name__}, and no function of a draw."
        )
    return _explain_errors(made)


def list_draws() -> str:
    """Return the methods of a Draw, as a program calls them.

    >>> list_draws().split(", ")[:2]
    ['bernoulli(p)', 'integer(n)']
    """
    methods = (
        (name, inspect.signature(getattr(Draw, name)))
        for name in ("bernoulli", "integer", "index", "geometric", "truncated_geometric", "laplace", "gaussian",
                     "permutation", "subset")
    )  # fmt: skip
    return ", ".join(f"{name}({', '.join(_list_arguments(signature))})" for name, signature in methods)


def _list_arguments(signature: inspect.Signature) -> list[str]:
    return [
        name
        for name, parameter in signature.parameters.items()
        if name != "self" and parameter.default is parameter.empty
    ]


def _count_arguments(function: Function) -> int:
    return len(_list_arguments(inspect.signature(function)))


def _explain_errors(function: Function) -> Callable[[Any], Hashable]:
    """Return the program with its own errors shown: it is its author who reads them, and it reads no table."""

    def run(argument: Any) -> Hashable:
        try:
            result: Hashable = function(argument)
        except LastbitError:
            raise
        except Exception as error:
            place = error.__traceback__
            while place is not None and place.tb_next is not None:
                place = place.tb_next
            where = "" if place is None else f", line {place.tb_lineno} of {place.tb_frame.f_code.co_filename}"
            raise LastbitError(
                f"your program raised {type(error).__name__}: {error}{where}. A draw has {list_draws()}."
            ) from None
        return result

    return run
