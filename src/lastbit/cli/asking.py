"""The question that a command asks: its public arguments, by which the ledger knows the same question again."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from lastbit.cli.options import Spending, domain_of


def question_of(spending: Spending) -> str:
    """The command and its arguments but for the cost, the account and the output. No row of the table takes part.

    The cost is in the parameters of the mechanism, which are compared too. A domain file counts by its items.
    """
    asked = {name: value for name, value in spending.asked.items() if value is not None}
    if "source" in asked:
        asked["source"] = _without_secrets(asked["source"])
    if asked.get("domain"):
        asked["domain"] = [_digest(text) for text in asked["domain"]]
    return json.dumps(asked, sort_keys=True)


def _digest(domain: str) -> str:
    if re.fullmatch(r"-?\d+\.\.-?\d+", domain):
        return domain
    items: Any = [str(item) for item in domain_of(domain)]
    return "sha256:" + hashlib.sha256(json.dumps(items).encode("ascii")).hexdigest()


def _without_secrets(source: str) -> str:
    """A file's name as it was given; an address without its user and password.

    >>> _without_secrets("postgresql://anna:hunter2@host:5432/clinic?sslmode=require&host=/run")
    'postgresql://host:5432/clinic?host=%2Frun'
    """
    if "://" not in source:
        return source
    parts = urlsplit(source)
    where = {name: value for name, value in parse_qs(parts.query).items() if name in ("host", "port", "dbname")}
    query = f"?{urlencode(where, doseq=True)}" if where else ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}{query}"
