"""Questions as the books keep them: public words only, so that two can be compared and no private value takes part."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lastbit.errors import ParameterError
from lastbit.ledger import published
from lastbit.ledger.refusals import text_of
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.counts import Counts
from lastbit.values.known import Known
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
        facts.append([repr(each), str(each.resolution), items, size])
    return json.dumps({"query": query, "values": facts} if facts else {"query": query})


def _digest(items: Any) -> str:
    """The SHA-256 of public items; "" where they are of types that cannot be written down."""
    text = published.text_of(items if isinstance(items, range) else list(items))
    return "" if text is None else hashlib.sha256(text.encode("ascii")).hexdigest()


def check_reuse(mechanism: Mechanism[Any], query: str | None, options: Mapping[str, Any]) -> None:
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
    others = [name for name, each in options.items() if name != "values" and not isinstance(each, Known)]
    if others:
        raise ParameterError(
            f"reuse=True compares the query and public items only, not {', '.join(others)}=. Pass Counts with these "
            "items, or leave reuse out. Nothing was drawn and nothing was charged."
        )
