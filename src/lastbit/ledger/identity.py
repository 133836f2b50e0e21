"""`Identity`: a question as the books know it: the facts that make it this question, and how people read it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lastbit.errors import ParameterError
from lastbit.ledger.validation import check_text


def name_combination(columns: Iterable[str]) -> str:
    """Return the columns whose combination is protected as the books write them: the same text for the same columns.

    >>> name_combination(["user", "day"]), name_combination(["a and b", "c"])
    ('day and user', "'a and b' and c")
    """
    return " and ".join(name if re.fullmatch(r"\w+", name) else repr(name) for name in sorted(columns))


@dataclass(frozen=True)
class Identity:
    """A question by its public facts. Two questions are the same where all facts are equal.

    `facts` is what JSON can hold, by name; its "version" says by which rules the facts were collected, so that facts of
    other rules are never taken for the same. Whoever asks collects them: the ledger compares and keeps them. `about` is
    the question as people read it, and never compared. `protects` says whether it protects a person with all rows, a
    single row, or each combination of several columns (`name_combination`): an account adds up one of these.

    >>> question = Identity({"version": 1, "command": "top", "by": ["diagnosis"], "k": 3})
    >>> question.text
    '{"by":["diagnosis"],"command":"top","k":3,"version":1}'
    >>> question.text == Identity({"k": 3, "by": ("diagnosis",), "command": "top", "version": 1}, "the top three").text
    True
    """

    facts: Mapping[str, Any] = field(repr=False, compare=False)
    about: str = ""
    protects: str = ""
    text: str = field(init=False)
    """The facts as JSON, the same text for the same facts."""

    def __post_init__(self) -> None:
        version = self.facts.get("version")
        if type(version) is not int or version < 1:
            raise ParameterError(
                "the facts of a question must have a version, a whole number of at least 1. Nothing was charged."
            )
        if self.protects not in ("person", "row", "") and " and " not in self.protects:
            raise ParameterError(
                "protects must be person, row, empty, or columns such as 'day and user': got "
                f"{self.protects!r}. Nothing was charged."
            )
        object.__setattr__(self, "text", _write_facts(self.facts))
        object.__setattr__(self, "about", check_text(self.about or str(self.facts.get("query", "")), "about"))

    @property
    def digest(self) -> str:
        """The SHA-256 of the facts, by which the books find the question."""
        return digest_of(self.text)


def check_identity(question: Identity | None) -> Identity | None:
    """Return the question, or raise ParameterError where it is neither an Identity nor None."""
    if question is None or isinstance(question, Identity):
        return question
    raise ParameterError(
        "question must be an Identity, such as Identity({'version': 1, 'query': 'visits'}): got "
        f"{type(question).__name__}. Nothing was drawn and nothing was charged."
    )


def digest_of(text: str) -> str:
    """Return the digest by which the books find a question; "" where nobody said what was asked.

    >>> digest_of("")
    ''
    """
    return hashlib.sha256(text.encode("ascii")).hexdigest() if text else ""


def _write_facts(facts: Mapping[str, Any]) -> str:
    try:
        if all(isinstance(name, str) for name in facts):
            return json.dumps(dict(facts), sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        pass
    raise ParameterError(
        "the facts of a question must be what JSON can hold, by name: text, numbers, true, false, null, and lists and "
        "mappings of these. Nothing was charged."
    )
