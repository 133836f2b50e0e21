"""Questions whose words are plain: they are parsed here, because the library of commands takes a tenth of a question.

What is not plain - a call for help, an unknown option, a value that is missing, an option that comes twice - is left to
that library, which reads all words again and says what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.summaries import SUMMARIES

if TYPE_CHECKING:
    from lastbit.questions.kind import Kind
    from lastbit.questions.option import Option

COMPLETION: Final = "_LASTBIT_COMPLETE"
"""A shell that wants words for the Tab key sets this variable and runs the command."""


def expand_arguments(arguments: list[str]) -> list[str]:
    """Return the words of a command in full: `plan` without a question plans `top`.

    >>> expand_arguments(["plan", "-k", "3"]), expand_arguments(["plan", "count"])
    (['plan', 'top', '-k', '3'], ['plan', 'count'])
    >>> expand_arguments(["sum", "--bounds", "auto"])
    ['sum', '--bounds', 'auto', 'auto']
    """
    if arguments[:1] == ["plan"] and len(arguments) > 1 and arguments[1].startswith("-") and arguments[1] != "--help":
        arguments = ["plan", "top", *arguments[1:]]
    words: list[str] = []
    for word in arguments:
        # --bounds takes two words: the one of automatic bounds stands for both.
        words += [word, word] if words[-1:] == ["--bounds"] and word == "auto" else [word]
    return words


def find_plain_question(arguments: Sequence[str]) -> Callable[[], None] | None:
    """Return what asks the question that these words are; None where they are none, or are not plain."""
    if len(arguments) < 2 or arguments[0] not in SUMMARIES or arguments[0] == "watch" or COMPLETION in os.environ:
        return None
    from lastbit.cli.grammar import spell_plainly
    from lastbit.questions.kinds import KINDS

    kind = KINDS[arguments[0]]
    options = list_options(kind)
    values = parse_plain_words(options, spell_plainly(arguments[1:], names_json=True))
    if values is None:
        return None
    refuse_flags(options, values)
    return partial(ask, kind, values)


def list_options(kind: Kind) -> list[Option]:
    """Return the options of a question that the command has."""
    return [option for option in kind.options if "command" in option.faces]


def ask(kind: Kind, values: dict[str, Any]) -> None:
    """Ask a question with these options, and show its answer."""
    from lastbit.cli.release import run_request

    run_request(kind.parse(values, "command"))


def parse_plain_words(options: Sequence[Option], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the values of the options that are given, by their names; None where the words are not plain.

    >>> from lastbit.questions.kinds import KINDS
    >>> parse_plain_words(list_options(KINDS["sum"]), ["v.csv", "--of", "cost", "--bounds", "0", "9", "--sd"])
    {'source': ['v.csv'], 'of': ['cost'], 'bounds': ('0', '9'), 'sd': True}
    >>> parse_plain_words(list_options(KINDS["sum"]), ["v.csv", "--help"])
    """
    by_flag = {option.flag: option for option in options if not option.positional}
    (place,) = [option.name for option in options if option.positional]
    values: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        option = by_flag.get(word)
        if option is None:
            if word.startswith("-") and word != "-":
                return None
            values.setdefault(place, []).append(word)
            continue
        own = tuple(islice(left, option.type.words))
        if len(own) < option.type.words or (option.name in values and not option.type.repeats):
            return None
        if option.type.repeats:
            values.setdefault(option.name, []).extend(own)
        else:
            values[option.name] = own if len(own) > 1 else own[0] if own else True
    return values


def refuse_flags(options: Sequence[Option], values: dict[str, Any]) -> None:
    """Refuse the name of an option where the value of another one belongs, as in `--epsilon --domain items.txt`."""
    flags = {option.flag for option in options}
    flag_of = {option.name: option.flag for option in options}
    for name, value in values.items():
        for word in value if isinstance(value, list | tuple) else [value]:
            if word in flags:
                raise ParameterError(f"{flag_of[name]} needs a value: got the option {word}. Nothing was read.")
