"""The question that a command asks: its public arguments, by which the ledger knows the same question again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import fields
from typing import Any, Final

from lastbit.questions.options import Items, Spending, Table, domain_of

_SECRETS: Final = ("password", "passfile", "sslpassword", "sslkey", "sslcert")


def question_of(spending: Spending) -> str:
    """The command and its arguments but for the cost, the account and the output. No row of the table takes part.

    The cost is in the parameters of the mechanism, which are compared too. A domain file counts by its items, and the
    table by its path: the books keep the name that was typed, and a digest of the whole path.
    """
    given = {name: value for name, value in spending.asked.items() if value is not None and value is not False}
    asked = {name: value for name, value in given.items() if not _is_usual(name, value)}
    if "weights" in asked and "missing" in given:
        asked["missing"] = given["missing"]  # in older books a missing weight counts as the lower bound
    if "source" in asked:
        source = asked["source"]
        asked["source"] = without_secrets(source) if isinstance(source, str) else [*map(without_secrets, source)]
        paths = [*map(path_digest, [source] if isinstance(source, str) else source)]
        if any(paths):
            asked["paths"] = paths
    if asked.get("domain"):
        asked["domain"] = [digest_of(text) for text in asked["domain"]]
    return json.dumps(asked, sort_keys=True)


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


def as_older(question: str) -> str:
    """The question as older books have it, where a file is known only by the name that was typed."""
    return json.dumps({name: value for name, value in json.loads(question).items() if name != "paths"}, sort_keys=True)


def by_paths(question: str) -> dict[str, Any]:
    """A question in which every file is named by the digest of its path: the same file has one name."""
    asked: dict[str, Any] = json.loads(question)
    if "paths" in asked:
        typed = asked["source"] if isinstance(asked["source"], list) else [asked["source"]]
        asked["source"] = [path or name for path, name in zip(asked["paths"], typed, strict=True)]
    return asked


def _is_usual(name: str, value: object) -> bool:
    """Whether an option of the table or of its items has its default.

    Older books do not know newer options: without the defaults, the same question is in the same words there.
    """
    return any(field.name == name and field.default == value for group in (Table, Items) for field in fields(group))


def digest_of(domain: Any) -> str:
    """A domain as the books know it: a short range as its text, and otherwise the digest of its items."""
    if isinstance(domain, str) and re.fullmatch(r"-?\d+\.\.-?\d+", domain):
        return domain
    items: Any = [str(item) for item in domain_of(domain)]
    return "sha256:" + hashlib.sha256(json.dumps(items).encode("ascii")).hexdigest()


def without_secrets(source: str) -> str:
    """A file's name as it was given; of an address all that its driver reads in it, but for passwords and keys.

    >>> without_secrets("postgresql://anna:hunter2@host/clinic?options=-csearch_path%3Dyear2025")
    'postgresql {"dbname": "clinic", "host": "host", "options": "-csearch_path=year2025", "user": "anna"}'
    """
    if "://" not in source:
        return source
    try:
        from psycopg.conninfo import conninfo_to_dict

        parts = {name: str(value) for name, value in conninfo_to_dict(source).items() if name not in _SECRETS}
    except Exception:
        # Without the driver nobody connects, and an address that it does not read is refused when the table is opened.
        return "an address that cannot be read"
    parts.setdefault("dbname", parts.get("user", ""))
    return f"postgresql {json.dumps(parts, sort_keys=True)}"
