"""The page of commands: the help of every command, as the command prints it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer

from lastbit.cli.app import make_app

WIDTH = 100


def helps() -> dict[str, str]:
    """The help of every command, by its name: `lastbit top`, `lastbit budget create`."""
    return dict(_walk(typer.main.get_command(make_app()), "lastbit", None))


def _walk(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = command.make_context(
        name, [], parent=parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    context.info_name = name if parent is None else name.rpartition(" ")[2]
    yield name, command.get_help(context)
    for inner, value in getattr(command, "commands", {}).items():
        if not value.hidden:
            yield from _walk(value, f"{name} {inner}", context)


def commands() -> str:
    """The page."""
    parts = ["# Commands", "Each command prints this text with `--help`.", ""]
    for name, text in helps().items():
        parts += [f"## {name}", "", "```text", text.rstrip(), "```", ""]
    return "\n".join(parts)
