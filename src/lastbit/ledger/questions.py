"""Questions as the books keep them: public words only, so that two can be compared and no private value takes part."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

import numpy as np

from lastbit.errors import ParameterError
from lastbit.ledger import published
from lastbit.ledger.refusals import text_of
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.counts import Counts
from lastbit.values.known import Known
from lastbit.values.spark_counts import SparkCounts
from lastbit.values.statistic import Statistic


def question_of(query: str, values: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    """The question that a query asks of values, by the query's text and the public facts about the values.

    Values about which nothing is known add nothing: they may be private. "" where the items cannot be written down:
    such a question is like no other.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
    >>> other = lb.Counts(items=["flu", "cold"], values=[119, 80], monotone=True)
    >>> question_of("by diagnosis", (counts,), {}) == question_of("by diagnosis", (other,), {})
    True
    """
    if not text_of(query, "query").strip():
        raise ParameterError("query must say what is asked, such as 'visits by diagnosis': got no words.")
    facts = []
    for each in (*values, *options.values()):
        if not isinstance(each, Known):
            continue
        # Only Counts have public items. The repr of values is public by design: it never shows a value.
        items = _digest(each.items) if isinstance(each, Counts) else None
        if items == "":
            return ""
        # How many numbers a Statistic has is public: the bins of a histogram. Its bounds are not known here.
        size = np.size(np.asarray(each.values, object)) if isinstance(each, Statistic) else None
        # Older books say "1 items": the words of a question stay as they are, or nobody finds its answer again.
        words = re.sub(r"\b1 item\b", "1 items", repr(each))
        facts.append([words, str(each.resolution), items, size])
    return json.dumps({"query": query, "values": facts} if facts else {"query": query})


def words_of(question: str) -> str:
    """A question as text that a person could have typed: a command with its arguments, or the words of a query.

    >>> words_of('{"command": "mean", "source": "a b.csv", "of": "cost", "bounds": ["0", "9"], "where": "age > 17"}')
    "mean 'a b.csv' --of cost --bounds 0 9 --where 'age > 17'"
    """
    asked = _asked(question)
    if "command" not in asked:
        return str(asked.get("query", ""))
    words = [str(asked["command"]).rstrip("_")]
    for name, value in sorted(asked.items(), key=lambda pair: _place(pair[0])):
        if name not in ("command", "paths"):  # a file has its name already
            words += _option(name, value)
    return " ".join(words)


def level_of(question: str) -> str:
    """What a command protects: "person" where it names a unit, otherwise "row"; "" for any other question.

    In a file of counts a row is an item, and the sensitivity says how far one person moves it.
    """
    asked = _asked(question)
    if "source" not in asked:
        return ""
    return "person" if asked.get("unit") or asked.get("counts") else "row"


_ORDER: Final = ("source", "table", "by", "of", "unit")
"""What comes first in a command. Other options follow by their names."""
_PAIRS: Final = ("bounds", "bin")
"""Options that take several words. Other lists are options that were given several times."""


def _place(name: str) -> tuple[int, str]:
    return (_ORDER.index(name) if name in _ORDER else len(_ORDER), name)


def _option(name: str, value: Any) -> list[str]:
    if value is None or value is False or value == []:
        return []
    if name == "source":
        return [shlex.quote(short(each)) for each in (value if isinstance(value, list) else [value])]
    flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
    if value is True:
        return [flag]
    given = value if isinstance(value, list) and name not in _PAIRS else [value]
    return [
        text
        for each in given
        for text in (flag, *(shlex.quote(short(part)) for part in (each if isinstance(each, list) else [each])))
    ]


def short(value: object) -> str:
    """A text as it is; the digest of a list of items by its beginning; the parts of an address as an address.

    >>> short('postgresql {"dbname": "clinic", "host": "db", "options": "-csearch_path=y", "user": "anna"}')
    'postgresql://anna@db/clinic?options=-csearch_path%3Dy'
    """
    text = str(value)
    if text.startswith("sha256:"):
        return f"{text[:15]}…"
    kind, _, inside = text.partition(" ")
    parts = _asked(inside) if kind == "postgresql" else {}
    if not parts:
        return text
    user, host, port, name = (quote(str(parts.pop(each, ""))) for each in ("user", "host", "port", "dbname"))
    where = f"{user}{'@' if user else ''}{host}{':' if port else ''}{port}"
    return f"postgresql://{where}/{name}{'?' if parts else ''}{urlencode(parts)}"


def _asked(question: str) -> dict[str, Any]:
    try:
        found = json.loads(question)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _digest(items: Any) -> str:
    """The SHA-256 of public items; "" where they are of types that cannot be written down."""
    text = published.text_of(items if isinstance(items, range) else list(items))
    return "" if text is None else hashlib.sha256(text.encode("ascii")).hexdigest()


def check_reuse(
    mechanism: Mechanism[Any], query: str | None, values: tuple[Any, ...], options: Mapping[str, Any]
) -> None:
    """Refuse to look for an answer where nobody can say what was asked."""
    if query is None:
        raise ParameterError(
            "reuse=True needs a query: the words by which the same question is known again, such as query='visits by "
            "diagnosis'. Nothing was drawn and nothing was charged."
        )
    if not mechanism.told_apart:
        raise ParameterError(
            f"reuse=True cannot tell two {mechanism.name} apart: the books do not know their functions. Leave reuse "
            "out, or show the release again with published(id). Nothing was drawn and nothing was charged."
        )
    if any(isinstance(each, SparkCounts) for each in (*values, *options.values())):
        raise ParameterError(
            "reuse=True cannot compare items that stay in Spark. Pass counts.collect(), or leave reuse out. Nothing "
            "was drawn and nothing was charged."
        )
    others = [name for name, each in options.items() if name != "values" and not isinstance(each, Known)]
    if others:
        raise ParameterError(
            f"reuse=True compares the query and public items only, not {', '.join(others)}=. Pass Counts with these "
            "items, or leave reuse out. Nothing was drawn and nothing was charged."
        )
