"""Commands made of options: what a person types becomes a request, and nothing is decided here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

import typer

from lastbit.cli.plain_words import ask, list_options, refuse_flags
from lastbit.cli.words import GrammarCommand
from lastbit.questions.kind import Kind
from lastbit.questions.option import Option


def make_command(
    options: Sequence[Option], run: Callable[[dict[str, Any]], None], name: str, help_text: str
) -> Callable[..., None]:
    """Return a command with these options, which calls `run` with what was typed, by name."""

    def command(**arguments: Any) -> None:
        # An option that takes a list is an empty one where it is not given, and a flag is False.
        values = {key: value for key, value in arguments.items() if value not in (None, False, [], ())}
        refuse_flags(options, values)
        run(values)

    parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_annotation(option),
            default=False if option.type.words == 0 else None,
        )
        for option in options
    ]
    command.__name__, command.__doc__ = name, help_text
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.typer_class = GrammarCommand  # type: ignore[attr-defined]
    return command


def question_command(kind: Kind) -> Callable[..., None]:
    """Return the command that asks this kind of question: it has its options, builds it, and releases."""
    return make_command(list_options(kind), partial(ask, kind), kind.name, kind.help)


def _annotation(option: Option) -> Any:
    """Return the type of an option as Typer takes it. Every word stays text: the option itself reads it."""
    kind: Any = str | None
    if option.type.words == 0:
        kind = bool
    elif option.type.repeats:
        kind = list[str] | None
    elif option.type.words == 2:
        kind = tuple[str, str] | None
    shared: dict[str, Any] = {"help": _help(option), "show_default": False}
    if option.positional:
        return Annotated[kind, typer.Argument(metavar=option.type.metavar, **shared)]
    return Annotated[kind, typer.Option(option.flag, metavar=option.type.metavar or None, **shared)]


def _help(option: Option) -> str:
    if option.required:
        return f"{option.help}  [required]"
    if option.default in (None, False, "", ()):
        return option.help
    return f"{option.help}  [default: {option.default}]"
