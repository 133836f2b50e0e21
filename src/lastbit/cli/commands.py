"""Commands made of options: what a person types becomes a request, and nothing is decided here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from lastbit.cli.grammar import GrammarCommand
from lastbit.errors import ParameterError
from lastbit.questions.kind import Kind
from lastbit.questions.option import Option


def make_command(
    options: Sequence[Option], run: Callable[[dict[str, Any]], None], name: str, help_text: str
) -> Callable[..., None]:
    """Return a command with these options, which calls `run` with what was typed, by name."""

    def command(**arguments: Any) -> None:
        # An option that takes a list is an empty one where it is not given, and a flag is False.
        values = {key: value for key, value in arguments.items() if value not in (None, False, [], ())}
        _refuse_flags(options, values)
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

    def run(values: dict[str, Any]) -> None:
        from lastbit.cli.release import run_request

        run_request(kind.parse(values, "command"))

    options = [option for option in kind.options if "command" in option.faces]
    return make_command(options, run, kind.name, kind.help)


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


def _refuse_flags(options: Sequence[Option], values: dict[str, Any]) -> None:
    """Refuse the name of an option where the value of another one belongs, as in `--epsilon --domain items.txt`."""
    flags = {option.flag for option in options}
    flag_of = {option.name: option.flag for option in options}
    for name, value in values.items():
        for word in value if isinstance(value, list | tuple) else [value]:
            if word in flags:
                raise ParameterError(f"{flag_of[name]} needs a value: got the option {word}. Nothing was read.")
