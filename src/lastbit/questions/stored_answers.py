"""Published answers as JSON: those of a command, and those of a publication."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.report import Report


class StoredAnswer(NamedTuple):
    """What a comparison needs of an answer."""

    title: str
    columns: Mapping[str, list[Any]]
    labels: list[str]
    level: Any
    is_positive: bool
    """Whether the true numbers cannot be below 0."""
    people: str = "people"
    """What the people are called."""


def read_document(answer: Any, of: str | None) -> StoredAnswer:
    """Return the answer of a JSON document: a path, or what `json` makes of it; `of` names a part of a publication."""
    document = _load(answer) if isinstance(answer, str | os.PathLike) else answer
    if not isinstance(document, Mapping):
        raise ParameterError(f"compare takes releases of ask, or their JSON: got a {type(document).__name__}.")
    try:
        return _read_part(document, of) if "answers" in document else _read_answer(document, of)
    except (KeyError, TypeError, AttributeError, IndexError):
        raise ParameterError(
            "compare takes the JSON of an answer with numbers and intervals, as --json prints it, or release.json of a "
            "publication. Nothing was compared."
        ) from None


def _load(path: str | os.PathLike[str]) -> Any:
    try:
        return json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is no JSON"
        raise LastbitError(f"{path} cannot be read: {problem}. Name the JSON of an answer.") from None


def _read_answer(document: Mapping[str, Any], of: str | None) -> StoredAnswer:
    if of is not None:
        raise ParameterError(f"--of names a question of a publication, and this is one answer: got {of}. Leave it out.")
    exact = document.get("exact", {})
    groups = document.get("groups", {})
    columns = {name: exact.get(name) or document[name] for name in ("value", "low", "high")}
    # A fraction as text, where a float was rounded.
    return StoredAnswer(
        str(document["title"]),
        {**groups, **columns},
        [*groups],
        document["level"],
        bool(document.get("never_negative", False)),
        str(document.get("noun", "people")),
    )


def _read_part(document: Mapping[str, Any], of: str | None) -> StoredAnswer:
    answers = document["answers"]
    if of is None or of not in answers:
        raise ParameterError(
            f"--of must name a question of the publication: got {of}. Use one of {', '.join(answers)}."
        )
    columns = answers[of]["columns"]
    title = str(answers[of]["title"])
    (question,) = [part for part in document["plan"]["questions"] if part["name"] == of]
    options = question.get("options", {})
    is_positive = is_never_negative(question["ask"], options)
    labels = Report(title, {}, frame=columns).label_names
    return StoredAnswer(title, columns, labels, options.get("level", "0.95"), is_positive, str(document["nouns"][1]))


_OF_PEOPLE: Final = ("count", "histogram", "share", "tables")
"""Kinds of questions whose bounds, where they have some, say which people count."""


def is_never_negative(kind: str, options: Mapping[str, Any]) -> bool:
    """Return whether the true numbers of an answer cannot be below 0: people, and numbers whose bounds say so.

    >>> is_never_negative("mean", {"of": "cost", "bounds": ["0", "9"]}), is_never_negative("count", {})
    (True, True)
    >>> [is_never_negative("sum", {"of": "cost", "bounds": bounds}) for bounds in ("auto", [-1, 1])]
    [False, False]
    """
    if options.get("weights") is None and (kind in _OF_PEOPLE or options.get("of") is None):
        return True
    bounds = options.get("bounds")
    pairs = list(bounds.values()) if isinstance(bounds, Mapping) else getattr(bounds, "pairs", bounds)
    if pairs is None or isinstance(pairs, str):  # nobody has said it
        return False
    several = [pair[1] if hasattr(bounds, "pairs") else pair for pair in pairs] if _has_pairs(pairs) else [pairs]
    return all(not isinstance(pair, str) and number(pair[0], "bounds") >= 0 for pair in several)


def _has_pairs(bounds: Any) -> bool:
    return isinstance(bounds[0], list | tuple) or bounds[0] == "auto"
