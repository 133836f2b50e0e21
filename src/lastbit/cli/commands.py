"""Commands made of questions: the options of a kind of question, and the spending."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from lastbit.questions.kinds import Kind


def command_of(kind: Kind) -> Callable[..., None]:
    """The command that asks this kind of question: it has its options, builds it, and spends."""

    def command(**given: Any) -> None:
        from lastbit.cli.spending import spend

        built = kind.build(**given)
        spend(built.spending, built.question)

    command.__name__, command.__doc__ = kind.function.__name__, kind.function.__doc__
    command.__annotations__ = {each.name: each.annotation for each in kind.options}
    command.__signature__ = inspect.Signature(kind.options)  # type: ignore[attr-defined]
    return command
