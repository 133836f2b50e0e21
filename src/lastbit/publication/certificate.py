"""The certificate of a publication: what was asked, at what cost, what the books say of it, and which files there are.

`release.json` holds it in canonical form, so that one changed byte shows. It carries no row and no path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import lastbit
from lastbit.ledger import chain
from lastbit.publication.signature import sign
from lastbit.questions.request import Request

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lastbit.ledger import Ledger
    from lastbit.publication.pricing import Priced
    from lastbit.publication.publication import Publication
    from lastbit.publication.run import PublishedAnswers

SCHEMA: Final = "lastbit-publication-1"
_PLACES: Final = frozenset(("source", "table", "read_as", "separator", "encoding", "decimal_comma", "columns"))
"""Options that say where and how the rows are stored. They change no cost."""


def canonical_bytes(document: Any) -> bytes:
    """Return a document as the only bytes that stand for it here.

    >>> canonical_bytes({"b": 1, "a": "é"})
    b'{\\n "a": "\\\\u00e9",\\n "b": 1\\n}\\n'
    """
    text = json.dumps(document, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False)
    return f"{text}\n".encode("ascii")


def build_certificate(
    answers: PublishedAnswers, files: Mapping[str, str], key: Ed25519PrivateKey | None
) -> dict[str, Any]:
    """Return the certificate of these answers; `files` are the digests of all other files of the folder."""
    publication = answers.publication
    ledger = publication.ledger
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "lastbit": lastbit.__version__,
        "study": {name: str(text) for name, text in publication.study.words.items()},
        "plan": {
            "hash": publication.hash,
            "edition": str(publication.study.words.get("edition", "")),
            "unit": str(publication.study.data.get("unit", "")),
            "dataset": publication.dataset,
            "budget": {
                name: str(lastbit_number(publication.study.budget[name]))
                for name in ("epsilon", "rho", "delta")
                if name in publication.study.budget
            },
            "cost": publication.mechanism.cost.text,
            "questions": [describe_question(question) for question in publication.questions],
        },
        "answers": {
            name: {"title": view.report.title, "published": answers.parts[name].published_text}
            for name, view in answers.views.items()
        },
        "books": {} if ledger is None else _describe_books(ledger, publication, answers),
        "files": dict(sorted(files.items())),
    }
    signature = None if key is None else sign(key, canonical_bytes(document))
    return {**document, "signature": signature}


def lastbit_number(value: Any) -> Fraction:
    """Return the exact number that a file declares: a float is the decimal that it prints as."""
    from lastbit.exact.numbers import number

    return number(value, "a number")


def describe_question(question: Priced) -> dict[str, Any]:
    """Return a question with everything that decides its mechanism, and the mechanism that this gives."""
    mechanism = question.request.question.mechanism
    return {
        "name": question.name,
        "ask": question.request.kind.name,
        "options": describe_options(question.request),
        "mechanism": mechanism.name,
        "parameters": dict(mechanism.parameters),
        "cost": mechanism.cost.text,
    }


def describe_options(request: Request) -> dict[str, Any]:
    """Return the options of a request as JSON, without the places where rows are stored."""
    return {
        option.name: _plain(option.type.plain(value))
        for option, value in request.explicit_options
        if option.part in ("table", "question", "cost") and option.name not in _PLACES
    } | {"level": request.level}


def _plain(value: Any) -> Any:
    """Return a value that JSON holds exactly: what it does not know is written as text."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, str | bool | int) else str(value)


def _describe_books(ledger: Ledger, publication: Publication, answers: PublishedAnswers) -> dict[str, Any]:
    """Return the entries of this publication as the books have them; of all others between them the digests alone."""
    own = {answers.charge.id, *(entry.id for entry in answers.parts.values())}
    first, last = min(own), max(own)
    _, entries = ledger.export(publication.dataset)
    before, lines = "", []
    for entry in entries:
        if entry["id"] < first:
            before = entry["digest"]
        elif entry["id"] <= last:
            if entry["id"] in own:
                known = {name: entry[name] for name in chain.FIELDS}
                lines.append({**known, "digest": entry["digest"], "published_digest": entry["published_digest"]})
            else:
                lines.append({"digest": entry["digest"]})
    return {"before": before, "entries": lines}
