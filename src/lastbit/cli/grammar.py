"""Words of the grammar that Typer has no types for, in a form that it has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from lastbit.cli.words import TextCommand
from lastbit.questions.edge_types import NUMBERS
from lastbit.questions.group_types import READINGS

_GROUPING: Final = ("--by", *(f"--{name}" for name in READINGS))
"""Options that name columns of groups."""


class GrammarCommand(TextCommand):
    """A command whose --edges takes two words, and whose --discover may stand alone: Typer has no types for these."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, in the form that Typer has types for."""
        return super().parse_args(ctx, complete_discover(join_edges(args)))


def join_edges(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command in which a column and its edges are one word.

    >>> join_edges(["--edges", "age", "0,18,65", "--epsilon", "1"])
    ['--edges', 'age=0,18,65', '--epsilon', '1']
    >>> join_edges(["--edges", "0,18,65"]), join_edges(["--edges", "age=0,18,65", "12"])
    (['--edges', '0,18,65'], ['--edges', 'age=0,18,65', '12'])
    """
    words = list(arguments)
    for place in reversed(range(len(words) - 2)):
        flag, column, edges = words[place : place + 3]
        joined = NUMBERS.fullmatch(column.rpartition("=")[2]) and "=" in column
        if flag == "--edges" and not joined and NUMBERS.fullmatch(edges):
            words[place + 1 : place + 3] = [f"{column}={edges}"]
    return words


def complete_discover(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command in which --discover has a word behind it: a column of --by, or an empty one.

    >>> complete_discover(["v.csv", "--by", "ward,code", "--discover", "code"])[-2:]
    ['--discover', 'code']
    >>> complete_discover(["--by", "code", "--discover", "v.csv"])[-3:]
    ['--discover', '', 'v.csv']
    """
    named = [word for flag, word in pairwise(arguments) if flag in _GROUPING]
    columns = {name.strip() for word in named for name in (word, *word.split(","), word.rpartition("=")[0])}
    words: list[str] = []
    for place, word in enumerate(arguments):
        words.append(word)
        if word == "--discover" and not set(arguments[place + 1 : place + 2]) & columns:
            words.append("")
    return words
