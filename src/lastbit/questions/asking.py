"""The question that a command asks: its public arguments, by which the ledger knows the same question again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.addresses import UNREADABLE, public_address
from lastbit.questions.options import Items, Spending, Table, domain_of

if TYPE_CHECKING:
    from lastbit.ledger import Identity

VERSION: Final = 1
"""The rules by which the facts of a question are collected."""


def question_of(spending: Spending) -> Identity:
    """The command and its arguments but for the cost, the account and the output. No row of the table takes part.

    The cost is in the parameters of the mechanism, which are compared too. A domain file counts by its items, and the
    table by its path: the facts have a digest of the whole path, and people read the name that was typed.
    """
    from lastbit.ledger.identity import Identity, render_question

    given = {name: value for name, value in spending.asked.items() if value is not None and value is not False}
    asked = {name: value for name, value in given.items() if not _is_usual(name, value)}
    if asked.get("domain"):
        asked["domain"] = [digest_of(text) for text in asked["domain"]]
    if "source" not in asked:
        return Identity({"version": VERSION, **asked})
    places = [asked["source"]] if isinstance(asked["source"], str) else asked["source"]
    return Identity(
        {"version": VERSION, **asked, "source": source_facts(places)},
        about=render_question({**asked, "source": [*map(public_address, places)]}),
        # In a file of counts a row is an item, and the sensitivity says how far one person moves it.
        protects="person" if asked.get("unit") or asked.get("counts") else "row",
    )


def source_facts(places: Sequence[str]) -> list[str]:
    """Where a table is, for the identity of a question: the digests of paths, and public addresses."""
    facts = [path_digest(place) or public_address(place) for place in places]
    if any(fact.endswith(UNREADABLE) for fact in facts):
        raise ParameterError(
            "an address must look like postgresql://user@host/database, with other characters written as %40 for @ and "
            "%2F for /. Nothing was read and nothing was charged."
        )
    return facts


def path_digest(source: str) -> str:
    """The digest of a file's path, the same from every folder and through every link; "" where there is no file.

    >>> path_digest("visits.csv") == path_digest("./visits.csv") != path_digest("other/visits.csv")
    True
    """
    if source == "-" or "://" in source:
        return ""
    try:
        path = os.fsencode(os.path.realpath(source))
    except ValueError:  # no file has such a name: whoever opens it says so
        return ""
    return "sha256:" + hashlib.sha256(path).hexdigest()


def _is_usual(name: str, value: object) -> bool:
    """Whether an option of the table or of its items has its default."""
    return any(field.name == name and field.default == value for group in (Table, Items) for field in fields(group))


def digest_of(domain: Any) -> str:
    """A domain as the books know it: a short range as its text, and otherwise the digest of its items."""
    if isinstance(domain, str) and re.fullmatch(r"-?\d+\.\.-?\d+", domain):
        return domain
    items: Any = [str(item) for item in domain_of(domain)]
    return "sha256:" + hashlib.sha256(json.dumps(items).encode("ascii")).hexdigest()
