"""The identity of a question: the facts by which the ledger knows the same question again, in one versioned mapping.

Two spellings of one question have one identity. The cost is not part of it: the ledger compares the parameters of the
mechanism too. No row of the table takes part.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.output.addresses import UNREADABLE, public_address
from lastbit.questions.join_types import read_joined

if TYPE_CHECKING:
    from lastbit.questions.domain import Domain
    from lastbit.questions.request import Request

VERSION: Final = 1
"""Changes whenever a fact changes its name or its form."""


def identity_of(request: Request) -> dict[str, Any]:
    """Return the facts of a question: its kind, its table, and its options.

    >>> from lastbit.questions.kinds import KINDS
    >>> median = KINDS["median"].parse({"source": "v.csv", "of": "cost", "bounds": [0, 10], "epsilon": 1})
    >>> half = {"source": "v.csv", "of": "cost", "bounds": ["0", "10.0"], "at": 0.5, "epsilon": "1"}
    >>> identity_of(median) == identity_of(KINDS["quantile"].parse(half))
    True
    >>> identity_of(median)["options"]
    {'per': 'mean', 'of': 'cost', 'bounds': ['0', '10'], 'at': ['1/2']}
    """
    request = request.canonical
    facts = {
        option.name: option.type.fact(value)
        for option, value in request.explicit_options
        if option.part in ("table", "question") and option.name != "source"
    }
    if facts.pop("one_each", False):
        facts["most_items"] = 1
    if request.typed_domains:
        facts["domain"] = {domain.column: domain.digest for domain in request.typed_domains}
    if "delta" in request.values and "by" in facts and request.items.unlisted_columns:
        facts["discover"] = list(request.items.unlisted_columns)
    name = request.kind.name
    if request.kind.canonicalize is not None:
        name, facts = request.kind.canonicalize(facts)
    joined = (read_joined(other).place for other in request.values.get("join") or ())
    table = [*map(_identify_source, (*request.values.get("source", ()), *joined))]
    return {"version": VERSION, "question": name, "table": table, "options": facts}


def parse_identity(text: str) -> dict[str, Any]:
    """Return the facts that the books keep of a question; none where somebody put it in words of their own.

    >>> parse_identity('{"version": 1, "question": "count", "table": [], "options": {"unit": "patient"}}')["options"]
    {'unit': 'patient'}
    >>> parse_identity('{"version": 1, "query": "how many?"}')
    {}
    """
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    known = isinstance(facts, dict) and facts.keys() == {"version", "question", "table", "options"}
    return facts if known and facts["version"] == VERSION and isinstance(facts["options"], dict) else {}


def list_sources(facts: Mapping[str, Any]) -> list[str]:
    """Return the files that hold the rows: in the facts of a question, those that are joined stand behind them.

    >>> list_sources({"table": ["visits", "regions"], "options": {"join": "regions.csv", "on": "zip"}})
    ['visits']
    """
    table: list[str] = facts["table"]
    joined = facts["options"].get("join", [])
    return table[: len(table) - (1 if isinstance(joined, str) else len(joined))]


def rebuild_request(
    text: str,
    source: Sequence[str],
    find_domain: Callable[[str], Domain | None],
    joined: Sequence[Any] = (),
    **values: Any,
) -> Request | None:
    """Return the request about this table that has this identity; None where there is none.

    The books keep digests of domains: `find_domain` returns the domain with a digest, where somebody still has it.
    They keep the names of tables that are joined, without their places: `joined` is where these lie.
    `values` are options that are no part of an identity.
    """
    from lastbit.questions.kinds import find_kind
    from lastbit.questions.row_units import insist_on_rows

    facts = parse_identity(text)
    if not facts or list_sources(facts) != [*map(_identify_source, source)]:
        return None
    options = dict(facts["options"])
    if "join" in options and joined:
        options["join"] = joined
    if {"epsilon", "rho"} & options.keys():  # as it was asked for, where the books have another form of the cost
        values = {name: value for name, value in values.items() if name not in ("epsilon", "rho")}
    if "domain" in options:
        domains = {column: find_domain(str(digest)) for column, digest in options["domain"].items()}
        options["domain"] = domains
        if any(domain is None for domain in domains.values()):
            return None
    try:
        request = find_kind(facts["question"]).parse({**options, "source": list(source), **values})
        request = insist_on_rows(request)
        return request if identity_of(request) == facts else None
    except LastbitError:
        return None


def _identify_source(source: str) -> str:
    """Return the digest of a file's path, the same from every folder and through every link; or a public address."""
    if source == "-" or "://" in source:
        address = public_address(source)
        if address.endswith(UNREADABLE):
            raise ParameterError(
                "an address must look like postgresql://user@host/database, with other characters written as %40 for @ "
                "and %2F for /. Nothing was read and nothing was charged."
            )
        return address
    try:
        path = os.fsencode(os.path.realpath(source))
    except ValueError:  # no file has such a name: whoever opens it says so
        return source
    import hashlib

    return f"sha256:{hashlib.sha256(path).hexdigest()}"
