"""Options in the words of a face. A sentence names an option as the command spells it: each face shows it its way.

The command has flags, Python keywords, the service the keys of JSON, the page the labels of its form. Advice about an
option that is not open to a face is left out there. A report goes to readers, who ask nothing: no option is open to
them. So facts and advice are two sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal

from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.group_types import TIMES
from lastbit.questions.labels import label_of
from lastbit.questions.option import OWNER, Face, Option
from lastbit.questions.value_types import quote_literal

if TYPE_CHECKING:
    from collections.abc import Callable

Reader = Face | Literal["report"]
"""Whom a sentence is for: who asks at a face, or who reads a report and cannot ask."""

_FLAG: Final = re.compile(r"(?<![\w-])--?[a-z][a-z-]*(?![\w-])")
_VALUE: Final = r"'[^']*'|\"[^\"]*\"|-?\d[\w%-]*(?:[.,:/]+[\w%-]+)*|[\w-]+(?:\.\.|[=,])[\w=,.-]*\w|[A-Z][A-Z,.]*\b"
"""A quoted text, a number, a range or a list, or the name of a value in capitals."""
_QUOTED: Final = re.compile(r"(?<!\w)'[^']*'(?!\w)")
"""What somebody typed, as a refusal shows it."""
_COMMAND: Final = re.compile(r"\blastbit [a-z]+ ")
"""A whole command, which stays as it is, to the end of the note."""
_SENTENCES: Final = re.compile(r"(?<=[.!?]) (?=[A-Z“(-])")


def spell_options(text: str, options: Iterable[Option], face: Face) -> str:
    """Return a text in which every option that it names is named in the words of the face.

    >>> from lastbit.questions.kinds import KINDS
    >>> text = "About 3 may miss. --together gives intervals that all hold, --bounds 0 100 or --per total others."
    >>> spell_options(text, KINDS["mean"].options, "python")
    'About 3 may miss. together=True gives intervals that all hold, bounds=[0, 100] or per="total" others.'
    >>> spell_options(text, KINDS["mean"].options, "page")
    'About 3 may miss. “Intervals that hold together” gives intervals that all hold, “Lowest number” and “Highest \
number”: 0 100 or “A person with several rows counts with”: total others.'
    """
    if face == "command" or "-" not in text:
        return text
    known = {option.flag: option for option in options}
    spell = _SPELLINGS[face]
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    quoted += [(match.start(), len(text)) for match in _COMMAND.finditer(text)]
    pieces, place = [], 0
    for match in _FLAG.finditer(text):
        option = known.get(match[0])
        if option is None or match.start() < place or any(start < match.start() < end for start, end in quoted):
            continue
        words = _find_words(option, text[match.end() :])
        pieces += [text[place : match.start()], spell(option, words)]
        place = match.end() + len(words)
    return "".join([*pieces, text[place:]])


@contextmanager
def spell_errors(options: Iterable[Option], face: Face) -> Iterator[None]:
    """Say what is refused inside in the words of a face."""
    try:
        yield
    except LastbitError as error:
        error.args = (spell_options(str(error), options, face), *error.args[1:])
        raise


def spell_notes(notes: Sequence[str], options: Iterable[Option], reader: Reader) -> list[str]:
    """Return notes in the words of the reader's face, without sentences about options that are not open to it.

    >>> from lastbit.questions.kinds import KINDS
    >>> notes = ["About 3 may miss. --together gives intervals that all hold.", "--json prints all of them."]
    >>> spell_notes(notes, KINDS["mean"].options, "report")
    ['About 3 may miss.']
    """
    known = {option.flag: option for option in options}
    spelled = []
    for note in notes:
        sentences = [
            text if reader == "report" else spell_options(text, known.values(), reader)
            for text in _split(note)
            if _is_for(reader, text, known)
        ]
        spelled += [" ".join(sentences)] if sentences else []
    return spelled


def _split(note: str) -> list[str]:
    """Return the sentences of a note. A command has no sentences in it."""
    command = _COMMAND.search(note)
    starts = [0, *(match.end() for match in _SENTENCES.finditer(note)), len(note)]
    if command is not None:
        starts = [*(start for start in starts if start <= command.start()), len(note)]
    return [note[start:end].rstrip() for start, end in pairwise(starts) if note[start:end].strip()]


def _is_for(reader: Reader, text: str, known: Mapping[str, Option]) -> bool:
    """Return whether a reader can do what a sentence advises: its options are open to the face, and so is a command."""
    if _COMMAND.search(text):
        return reader in OWNER
    return all(reader in known[flag[0]].faces for flag in _FLAG.finditer(text) if flag[0] in known)


def _find_words(option: Option, text: str) -> str:
    """Return the value that stands behind a flag, with the blanks before it; "" where the next word is none."""
    kind = option.type
    choices = [*getattr(kind, "choices", ()), *getattr(kind, "rules", ()), *("all", "auto", "row")]
    value = rf"(?:(?:{'|'.join(choices)})(?![\w-])|{_VALUE})"
    names = kind.metavar.split()
    if option.name in TIMES:
        value = r"(?!reads?\b|and\b|or\b|must\b)\w+"
    elif len(names) > 1:  # a column and its edges, or two ends
        value = rf"(?:[\w-]+|{_VALUE}) (?:{_VALUE})" if names[0] == "COLUMN" else rf"(?:{value} {value}|auto(?![\w-]))"
    match = re.match(rf" {value}", text) if kind.words else None
    return match[0] if match else ""


def _parse(option: Option, words: str) -> Any:
    """Return the value as Python and JSON write it; text stays text where it is a name of a value, such as COLUMN."""
    text = words.strip()
    text = text[1:-1] if text[:1] in "'\"" else text
    if text.isupper() or "=" in text:
        return text
    parts: Any = text.split(" ") if option.type.words == 2 or option.name == "edges" else text
    parts = {parts[0]: parts[1]} if option.name == "edges" and len(parts) == 2 else parts
    try:
        plain = option.type.plain(option.type.parse(parts, option.flag, "python"))
    except ParameterError:
        return text
    return text if plain is None else _read_numbers(plain)


def _read_numbers(value: Any) -> Any:
    """Return a plain value with whole numbers in the place of their texts."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,15}", value):
        return int(value)
    if isinstance(value, list | tuple):
        return [*map(_read_numbers, value)]
    return {name: _read_numbers(part) for name, part in value.items()} if isinstance(value, dict) else value


def _in_python(option: Option, words: str) -> str:
    if "python" not in option.faces:
        return option.flag + words
    if not words:
        return f"{option.name}=True" if option.type.words == 0 else option.name
    if words.strip().isupper():  # the name of a value, as N
        return f"{option.name}={words.strip()}"
    return f"{option.name}={quote_literal(_parse(option, words))}"


def _in_json(option: Option, words: str) -> str:
    if "service" not in option.faces:
        return f"the server's {option.flag}{words}"
    if not words:
        return f'"{option.name}": true' if option.type.words == 0 else f'"{option.name}"'
    if words.strip().isupper():
        return f'"{option.name}": {words.strip()}'
    return f'"{option.name}": {json.dumps(_parse(option, words), ensure_ascii=False)}'


def _on_the_page(option: Option, words: str) -> str:
    if "page" not in option.faces:
        return f"the server's {option.flag}{words}"
    return f"{' and '.join(f'“{label}”' for label in label_of(option))}{f':{words}' if words else ''}"


_SPELLINGS: Final[dict[str, Callable[[Option, str], str]]] = {
    "python": _in_python,
    "service": _in_json,
    "page": _on_the_page,
}
