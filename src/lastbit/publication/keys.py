"""Which key of a study file a refusal is about. The options say what is wrong in the words of a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lastbit.publication.study import Problem, Study

_SPELLINGS: Final = {"row_noun": "row", "source": "files"}
"""The keys of options that a file calls by another name."""
_FACT: Final = re.compile(r"^--columns: (columns\.\S+?)[ :,]")
"""How a message names a fact of [columns] that cannot be."""
_CONTRADICTION: Final = re.compile(r"what --columns says of .+?: its (\w+)")
_LET: Final = re.compile(r"--let (\w+)")
"""How a message names a column of [let]."""
_COLUMN: Final = re.compile(r"no column '(.+?)'")


def locate_problem(study: Study, place: int, message: str) -> Problem:
    """Return the problem of the question at this place, with the key that its message is about.

    The key is the question's own where the message names one of its options, or a column that it names; else that of
    [data] or [output]; else the whole question.

    >>> question = '[[question]]\\nask = "mean"\\nbounds = [9, 1]'
    >>> study = Study.parse(f'[data]\\nfiles = "a.csv"\\n[budget]\\nepsilon = 1\\n{question}\\n')
    >>> print(locate_problem(study, 1, "bounds must rise: got lower 9 and upper 1."))
    question[1].bounds (line 7): bounds must rise: got lower 9 and upper 1.
    """
    own, key = study.questions[place - 1], f"question[{place}]"
    if fact := _FACT.match(message):
        return study.problem(fact[1], message.removeprefix("--columns: "))
    if contradiction := _CONTRADICTION.search(message):
        name = "domain" if contradiction[1] == "values" else contradiction[1]
        return study.problem(f"{key}.{name}" if name in own else key, message)
    if (let := _LET.match(message)) and let[1] in study.let and let[1] not in (own.get("let") or ()):
        return study.problem(f"let.{let[1]}", message)
    sections = ((key, own), ("data", study.data), ("output", study.output), ("let", study.let))
    for prefix, typed in sections:
        for name in (*_names_in(message), *_names_of_column(message, typed)):
            if name in typed:
                return study.problem(f"{prefix}.{name}", message)
    if "unit" in _names_in(message):  # nobody has said whose the rows are
        return study.problem("data.unit", message)
    if any(source in message for source in study.sources):
        return study.problem("data.files", message)
    return study.problem(key, message)


def remove_repeats(problems: list[Problem]) -> list[Problem]:
    """Return each problem once: one in [data] is met by every question.

    >>> len(remove_repeats([Problem("data.unit", "no column"), Problem("data.unit", "no column")]))
    1
    """
    return list(dict.fromkeys(problems))


def _names_in(message: str) -> Iterator[str]:
    """Yield the options that a message names, first those that it begins with."""
    for word in re.findall(r"^(\w+) must\b|--([a-z][a-z-]*)", message):
        name = (word[0] or word[1]).replace("-", "_")
        yield _SPELLINGS.get(name, name)
    if message.startswith("the query is refused"):
        yield "where"


def _names_of_column(message: str, typed: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys whose value names the column that a message misses."""
    missing = _COLUMN.search(message)
    if missing is None:
        return
    word = re.compile(rf"(?<!\w){re.escape(missing[1])}(?!\w)")
    exact = [name for name, value in typed.items() if value == missing[1]]
    yield from exact
    yield from (name for name, value in typed.items() if name not in exact and word.search(str(value)))
