"""Commands made of questions: the options of a kind of question, and the spending."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lastbit.errors import ParameterError
from lastbit.questions.kinds import Kind


def check_values(given: dict[str, Any]) -> None:
    """Refuse the name of an option where the value of another one belongs, as in `--epsilon --domain items.txt`."""
    options = {f"--{name.replace('_', '-')}" for name in given}
    for name, value in given.items():
        if isinstance(value, str) and value in options:
            raise ParameterError(f"--{name.replace('_', '-')} needs a value: got the option {value}. Nothing was read.")


def command_of(kind: Kind) -> Callable[..., None]:
    """The command that asks this kind of question: it has its options, builds it, and spends."""

    def command(**given: Any) -> None:
        from lastbit.cli.spending import spend

        check_values(given)
        built = kind.build(**given)
        spend(built.spending, built.question)

    command.__name__, command.__doc__ = kind.function.__name__, kind.function.__doc__
    command.__annotations__ = {each.name: each.annotation for each in kind.options}
    command.__signature__ = inspect.Signature(kind.options)  # type: ignore[attr-defined]
    return command
