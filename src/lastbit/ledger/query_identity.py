"""What `Ledger.release` asks: the identity of a query, by its words and the public facts about its values."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from lastbit.errors import ParameterError
from lastbit.ledger import codec
from lastbit.ledger.identity import Identity
from lastbit.ledger.validation import check_text
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.counts import Counts
from lastbit.values.known import Known
from lastbit.values.spark_counts import SparkCounts
from lastbit.values.statistic import Statistic

VERSION: Final = 1
"""The rules by which the facts below are collected. Other facts need another number."""

_PUBLIC: Final = ("sensitivity", "resolution", "monotone", "adjacency", "most_items", "bounds", "floored")
"""What values may say of themselves in public. None of it is computed from a private value."""


def find_known(values: Iterable[Any]) -> list[Known]:
    """Return the values that say something of themselves, also those of the parts of a release."""
    known: list[Known] = []
    for value in values:
        if isinstance(value, Mapping):
            known += find_known(value.values())
        elif isinstance(value, Known):
            known.append(value)
    return known


def identify_query(query: str, values: tuple[Any, ...], options: Mapping[str, Any]) -> Identity | None:
    """Return the question that a query asks of values, by the query's text and the public facts about the values.

    Values about which nothing is known add nothing: they may be private. None where the items cannot be written down:
    such a question is like no other.

    >>> import lastbit as lb
    >>> counts = lb.Counts(items=["flu", "cold"], values=[120, 80], monotone=True)
    >>> other = lb.Counts(items=["flu", "cold"], values=[119, 80], monotone=True)
    >>> identify_query("by diagnosis", (counts,), {}) == identify_query("by diagnosis", (other,), {})
    True
    """
    if not check_text(query, "query").strip():
        raise ParameterError("query must say what is asked, such as 'visits by diagnosis': got no words.")
    facts = [_facts(value) for value in find_known((*values, *options.values()))]
    if any(value.get("items") == "" for value in facts):
        return None
    return Identity({"version": VERSION, "query": query, "values": facts}, about=query)


def _facts(value: Known) -> dict[str, Any]:
    facts = {"kind": type(value).__name__} | {name: _plain(getattr(value, name, None)) for name in _PUBLIC}
    if isinstance(value, Counts):
        facts["items"] = _digest(value.items)
    if isinstance(value, Statistic):
        # How many numbers there are is public: the bins of a histogram.
        facts["size"] = int(np.size(np.asarray(value.values, object)))
    return facts


def _plain(value: Any) -> Any:
    """Return a fact as JSON holds it: exact numbers as text."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return value if isinstance(value, str | bool | None) else str(value)


def _digest(items: Any) -> str:
    """Return the SHA-256 of public items; "" where they are of types that cannot be written down."""
    text = codec.encode_value(items if isinstance(items, range) else list(items))
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
    if not mechanism.parameters_identify:
        raise ParameterError(
            f"reuse=True cannot tell two {mechanism.name} apart: the books do not know their functions. Leave reuse "
            "out, or show the release again with published(id). Nothing was drawn and nothing was charged."
        )
    if any(isinstance(value, SparkCounts) for value in (*values, *options.values())):
        raise ParameterError(
            "reuse=True cannot compare items that stay in Spark. Pass counts.collect(), or leave reuse out. Nothing "
            "was drawn and nothing was charged."
        )
    others = [name for name, value in options.items() if name != "values" and not isinstance(value, Known)]
    if others:
        raise ParameterError(
            f"reuse=True compares the query and public items only, not {', '.join(others)}=. Pass Counts with these "
            "items, or leave reuse out. Nothing was drawn and nothing was charged."
        )
