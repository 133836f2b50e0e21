"""Refusals of mechanisms and of tables in the words of options: --at and --bounds, and no parameters of Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from lastbit.errors import ParameterError

_NAMES: Final = r"bounds|resolution|edges|bins|missing|weights|most_items|most_rows|sensitivity|threshold|limit|level|k"
_REPLACED: Final = (
    (r"Write [^()]*(?:\([^()]*\)[^()]*)*\(for the command: ([^()]*)\)", r"Write \1"),
    (r"\b(?:each of )?qs? must", "--at must"),
    (r"\bqs=\[[^\]]*\]", "--at 0.25,0.5,0.75"),
    (r"\bbounds=\(lower, upper\)", "--bounds LOWER UPPER"),
    (rf"\b({_NAMES})=\(([^(),]+), ([^(),]+)\)", r"--\1 \2 \3"),
    (rf"\b({_NAMES})='([^']+)'", r"--\1 \2"),
    (rf"\b({_NAMES})=(-?[\w/]+(?:\.\d+)?)", r"--\1 \2"),
    (rf"^({_NAMES}) must", r"--\1 must"),
)
"""What stands in a message for Python, and what the command says in its place."""


def respell(message: str) -> str:
    """Return a message about parameters of Python as one about the options of a command.

    >>> respell("bounds must rise: got lower 9 and upper 0. Write bounds=(lower, upper).")
    '--bounds must rise: got lower 9 and upper 0. Write --bounds LOWER UPPER.'
    >>> respell("resolution must divide bounds: got resolution 3/10 and bounds 1. Use resolution=1/10.")
    '--resolution must divide bounds: got resolution 3/10 and bounds 1. Use --resolution 1/10.'
    """
    for pattern, words in _REPLACED:
        message = re.sub(pattern, words, message)
    flags = re.sub(r"--\w+", lambda flag: flag[0].replace("_", "-"), message)
    return re.sub(r"--k\b", "-k", flags)


@contextmanager
def refuse_in_words_of_options() -> Iterator[None]:
    """Say what is refused inside in the words of options, which are the same from every face."""
    try:
        yield
    except ParameterError as error:
        text = respell(str(error))
        if text == str(error) or type(error) is not ParameterError:
            raise
        raise ParameterError(text) from None
