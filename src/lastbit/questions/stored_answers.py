"""Published answers as JSON: those of a command, and those of a publication."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.report import Report


class StoredAnswer(NamedTuple):
    """What a comparison needs of an answer."""

    title: str
    columns: Mapping[str, list[Any]]
    labels: list[str]
    level: Any
    is_positive: bool
    """Whether the true numbers cannot be below 0."""


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
    lowest = find_lowest(document.get("bounds"))
    return StoredAnswer(
        str(document["title"]), {**groups, **columns}, [*groups], document["level"], is_at_least_zero(lowest)
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
    lowest = find_lowest(options.get("bounds"))
    labels = Report(title, {}, frame=columns).label_names
    return StoredAnswer(title, columns, labels, options.get("level", "0.95"), is_at_least_zero(lowest))


def find_lowest(bounds: Any) -> Any:
    """Return the lower bound of numbers: of several columns, that of the first that may be below 0. People have 0.

    >>> find_lowest([-5, 9]), find_lowest({"cost": ["0", "9"], "change": ["-1", "1"]}), find_lowest([[0, 9], [-2, 3]])
    (-5, '-1', -2)
    """
    pairs = list(bounds.values()) if isinstance(bounds, Mapping) else bounds or [0]
    ends = [pair[0] for pair in pairs] if isinstance(pairs[0], list) else [pairs[0]]
    return next((end for end in ends if not is_at_least_zero(end)), ends[0])


def is_at_least_zero(lowest: Any) -> bool:
    """Return whether numbers with this lower bound cannot be below 0. Bounds of dates are those of counts.

    >>> is_at_least_zero(-1), is_at_least_zero("0"), is_at_least_zero("2024-01")
    (False, True, True)
    """
    from lastbit.exact.numbers import number

    try:
        return number(lowest, "bounds") >= 0
    except ParameterError:  # a date: people are counted
        return True
