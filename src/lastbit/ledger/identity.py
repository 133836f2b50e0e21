"""`Identity`: a question as the books know it: the facts that make it this question, and how people read it."""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lastbit.errors import ParameterError
from lastbit.ledger.refusals import text_of

Protects = Literal["person", "row", ""]


@dataclass(frozen=True)
class Identity:
    """A question by its public facts. Two questions are the same where all facts are equal.

    `facts` is what JSON can hold, by name; its "version" says by which rules the facts were collected, so that facts of
    other rules are never taken for the same. Whoever asks collects them: the ledger compares and keeps them. `about` is
    the question as people read it, and `protects` says whether it protects a person with all rows, or a single row:
    both are shown and never compared.

    >>> asked = Identity({"version": 1, "command": "top", "by": ["diagnosis"], "k": 3})
    >>> asked.text
    '{"by":["diagnosis"],"command":"top","k":3,"version":1}'
    >>> asked.about
    'top --by diagnosis -k 3'
    >>> asked.text == Identity({"k": 3, "by": ("diagnosis",), "command": "top", "version": 1}, "the top three").text
    True
    """

    facts: Mapping[str, Any] = field(repr=False, compare=False)
    about: str = ""
    protects: Protects = ""
    text: str = field(init=False)
    """The facts as JSON, the same text for the same facts."""

    def __post_init__(self) -> None:
        version = self.facts.get("version")
        if type(version) is not int or version < 1:
            raise ParameterError(
                "the facts of a question must have a version, a whole number of at least 1. Nothing was charged."
            )
        if self.protects not in ("person", "row", ""):
            raise ParameterError(f"protects must be person, row or empty: got {self.protects!r}. Nothing was charged.")
        object.__setattr__(self, "text", _written(self.facts))
        object.__setattr__(self, "about", text_of(self.about or render_question(self.facts), "about"))

    @property
    def digest(self) -> str:
        """The SHA-256 of the facts, by which the books find the question."""
        return digest_of(self.text)


def check_identity(question: Identity | None) -> Identity | None:
    """The question, refused unless it is an Identity or nobody said what is asked."""
    if question is None or isinstance(question, Identity):
        return question
    raise ParameterError(
        "question must be an Identity, such as Identity({'version': 1, 'query': 'visits'}): got "
        f"{type(question).__name__}. Nothing was drawn and nothing was charged."
    )


def digest_of(text: str) -> str:
    """The digest by which the books find a question; "" where nobody said what was asked.

    >>> digest_of("")
    ''
    """
    return hashlib.sha256(text.encode("ascii")).hexdigest() if text else ""


def _written(facts: Mapping[str, Any]) -> str:
    try:
        if all(isinstance(name, str) for name in facts):
            return json.dumps(dict(facts), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        pass
    raise ParameterError(
        "the facts of a question must be what JSON can hold, by name: text, numbers, true, false, null, and lists and "
        "mappings of these. Nothing was charged."
    )


_FIRST: Final = ("source", "table", "by", "of", "unit")
"""What comes first in the text of a question. Other facts follow by their names."""
_PAIRS: Final = ("bounds", "bin")
"""Facts of several words. Other lists are options that were given several times."""


def render_question(facts: Mapping[str, Any]) -> str:
    """The facts as text that a person could have typed: a command with its arguments, or the words of a query.

    >>> render_question({"command": "mean", "source": ["a b.csv"], "of": "cost", "bounds": ["0", "9"], "k": 2})
    "mean 'a b.csv' --of cost --bounds 0 9 -k 2"
    """
    if "command" not in facts:
        return str(facts.get("query", ""))
    words = [str(facts["command"])]
    for name in sorted(facts, key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)):
        if name not in ("command", "version"):
            words += _option(name, facts[name])
    return " ".join(words)


def _option(name: str, value: Any) -> list[str]:
    if value is None or value is False or value == []:
        return []
    flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    values = list(value) if isinstance(value, list | tuple) and name not in _PAIRS else [value]
    words = [[_word(part) for part in (item if isinstance(item, list | tuple) else [item])] for item in values]
    return [text for item in words for text in (item if name == "source" else [flag, *item])]


def _word(value: object) -> str:
    """A text as it is; of the digest of a list only the beginning."""
    text = str(value)
    return shlex.quote(f"{text[:15]}…" if text.startswith("sha256:") else text)
