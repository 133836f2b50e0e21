"""Words of the grammar that have several forms, in the one form that options and the library of commands have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from lastbit.errors import ParameterError
from lastbit.questions.edge_types import NUMBERS
from lastbit.questions.group_types import READINGS
from lastbit.questions.output_types import PRINTED

_GROUPING: Final = ("--by", *(f"--{name}" for name in READINGS))
"""Options that name columns of groups."""


def spell_plainly(words: Sequence[str], *, names_json: bool) -> list[str]:
    """Return the words of a command with options of one word or two, or of one or none, each in one form.

    names_json: whether --json may name a file.
    """
    words = complete_discover(join_bounds(join_edges(words)))
    return complete_json(words) if names_json else words


def join_bounds(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command in which the bounds of all named columns stand behind one --bounds.

    >>> join_bounds(["--bounds", "cost=0,5000", "--epsilon", "1", "--bounds", "stay=0,60"])
    ['--epsilon', '1', '--bounds', 'cost=0,5000;stay=0,60', '']
    >>> join_bounds(["--bounds", "0", "1000"])
    ['--bounds', '0', '1000']
    """
    places = [place for place, (flag, word) in enumerate(pairwise(arguments)) if flag == "--bounds" and "=" in word]
    if not places:
        return list(arguments)
    if len(places) != arguments.count("--bounds"):
        raise ParameterError(
            "--bounds must name its column every time, or be given once for all columns. Write --bounds cost=0,5000."
        )
    left = {place + step for place in places for step in (0, 1)}
    words = [word for place, word in enumerate(arguments) if place not in left]
    return [*words, "--bounds", ";".join(arguments[place + 1] for place in places), ""]


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


def complete_json(arguments: Sequence[str]) -> list[str]:
    """Return the words of a command in which --json has a word behind it: a file of this ending, or - to print.

    No table has this ending, so that it is never taken for the file.

    >>> complete_json(["--json", "visits.csv"]), complete_json(["visits.csv", "--json", "answer.json"])
    (['--json', '-', 'visits.csv'], ['visits.csv', '--json', 'answer.json'])
    """
    words: list[str] = []
    for place, word in enumerate(arguments):
        words.append(word)
        if word == "--json" and not any(after.lower().endswith(".json") for after in arguments[place + 1 : place + 2]):
            words.append(PRINTED)
    return words
