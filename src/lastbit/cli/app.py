"""The app that runs a command. The command that is named loads; a list of commands loads none of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any

import typer

from lastbit.cli.catalog import COMMANDS, GROUPS, Command
from lastbit.cli.plain_words import COMPLETION
from lastbit.cli.words import TextGroup
from lastbit.questions.grammar import list_grammar

_DEBUG = "--debug, anywhere, shows where an error comes from. It never shows data."
_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,  # plain help comes in half the time
    "pretty_exceptions_enable": False,
}


def _print_version(show: bool) -> None:
    if show:
        from lastbit import __version__

        print(f"lastbit {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def make_app(commands: Iterable[Command] = COMMANDS, *, load: bool = True) -> typer.Typer:
    """Return an app of these commands. Where they are not loaded, it can only list them.

    >>> [command.name for command in make_app(COMMANDS[:2], load=False).registered_commands]
    ['describe', 'top']
    """
    app = typer.Typer(
        name="lastbit",
        cls=TextGroup,
        help="Differential privacy that holds to the last bit: from a table to a release in one command.",
        epilog=f"\b\nThe grammar: lastbit WHAT TABLE [OPTIONS]\n{list_grammar()}\n\n{_DEBUG}",
        **_SETTINGS,
    )
    app.callback()(_options)
    parents: dict[tuple[str, ...], typer.Typer] = {(): app}
    for command in commands:
        group = command.words[:-1]
        if group not in parents:
            parents[group] = typer.Typer(**GROUPS[group[0]], **_SETTINGS)
            app.add_typer(parents[group], name=group[0])
        function, epilog = command.load() if load else (_list_only, "")
        parents[group].command(
            command.words[-1],
            cls=getattr(function, "typer_class", None),
            short_help=command.summary,
            epilog=epilog,
        )(function)
    return app


def _list_only() -> None:
    raise NotImplementedError("a command that is only listed was run")


def command_for(arguments: list[str]) -> Any:
    """Return the app of the command that these words name, or of a list of commands: to load all takes longer.

    >>> list(command_for(["top", "visits.csv"]).commands)
    ['top']
    """
    if COMPLETION in os.environ:
        return typer.main.get_command(make_app())
    if chosen := tuple(command for command in COMMANDS if tuple(arguments[: len(command.words)]) == command.words):
        return _make_once(chosen)
    names = arguments[:1] if arguments[:1] and arguments[0] in GROUPS else []
    return typer.main.get_command(make_app(load=arguments[len(names) :] not in ([], ["--help"], ["--version"])))


@cache
def _make_once(commands: tuple[Command, ...]) -> Any:
    """Return an app of these commands: to make one of fifty options takes longer than to parse its words."""
    return typer.main.get_command(make_app(commands))
