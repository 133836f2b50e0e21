"""The certificate of a publication: what was asked, at what cost, what the books say of it, and which files there are.

`release.json` holds it in canonical form, so that one changed byte shows. It carries no row and no path.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import lastbit
from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.ledger import chain
from lastbit.output.data_files import plain_columns
from lastbit.publication.rates import PublicRate
from lastbit.publication.signature import is_signed
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.column_facts import ColumnFacts
from lastbit.questions.group_types import group_columns
from lastbit.questions.kinds import find_kind
from lastbit.questions.option import Option
from lastbit.questions.rendering import render_answer
from lastbit.questions.request import Request
from lastbit.questions.row_units import ROW, insist_on_rows, settle_unit
from lastbit.questions.titles import title_of

if TYPE_CHECKING:
    from lastbit.ledger import Ledger
    from lastbit.publication.pricing import Priced
    from lastbit.publication.publication import Publication
    from lastbit.publication.run import PublishedAnswers

CERTIFICATE: Final = "release.json"
SCHEMA: Final = "lastbit-publication-1"
_PLACES: Final = frozenset(("source", "table", "read_as", "separator", "encoding", "decimal_comma", "columns"))
"""Options that say where and how the rows are stored. They change no cost."""
SHOWN_OPTIONS: Final = frozenset(
    ("title", "together", "hide_below", "hide_wider", "non_negative", "round", "sort", "first")
)
"""Options that say how a published answer is shown. They change no cost."""
_TEXTS: Final = SHOWN_OPTIONS | {"noun", "row_noun"}


def canonical_bytes(document: Any) -> bytes:
    """Return a document as the only bytes that stand for it here.

    >>> canonical_bytes({"b": 1, "a": "é"})
    b'{\\n "a": "\\\\u00e9",\\n "b": 1\\n}\\n'
    """
    text = json.dumps(document, sort_keys=True, indent=1, ensure_ascii=True, allow_nan=False)
    return f"{text}\n".encode("ascii")


def digest_certificate(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of all that a certificate says but this digest and the signature."""
    said = {name: part for name, part in document.items() if name not in ("digest", "signature")}
    return hashlib.sha256(canonical_bytes(said)).hexdigest()


def read_document(content: bytes) -> tuple[dict[str, Any] | None, list[str]]:
    """Return the certificate that these bytes are, and what shows that they were changed; None where they are none.

    The digest of an unsigned certificate shows every accident. Whoever changes it on purpose changes the digest too:
    against that there are signatures.
    """
    try:
        document = json.loads(content, parse_constant=_refuse_constant)
        if not isinstance(document, dict) or document.get("schema") != SCHEMA:
            raise ValueError
        is_canonical, fits = (
            canonical_bytes(document) == content,
            document.get("digest") == digest_certificate(document),
        )
    except (ValueError, RecursionError):
        return None, [f"{CERTIFICATE} is no certificate of a publication that this lastbit reads."]
    problems = [] if is_canonical else [f"{CERTIFICATE} was changed: its bytes are not in canonical form."]
    problems += [] if fits else [f"{CERTIFICATE} was changed: its digest does not fit."]
    if document.get("signature") is not None and not is_signed(document["signature"], signed_bytes(document)):
        problems.append(f"the signature in {CERTIFICATE} does not fit: the certificate was changed.")
    return document, problems


def signed_bytes(document: Mapping[str, Any]) -> bytes:
    """Return what a signature is of: the whole certificate but itself."""
    return canonical_bytes({name: part for name, part in document.items() if name != "signature"})


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")


def describe_publication(publication: Publication) -> dict[str, Any]:
    """Return what was declared before a row was read: the texts, and the plan with every cost."""
    study = publication.study
    return {
        "schema": SCHEMA,
        "lastbit": lastbit.__version__,
        "study": {**{name: str(text) for name, text in study.words.items()}, "title": study.title},
        "nouns": list(publication.words),
        "plan": {
            "hash": publication.hash,
            "edition": str(study.words.get("edition", "")),
            "dataset": publication.dataset,
            "where": str(study.data.get("where", "")),
            "budget": {
                name: str(number(study.budget[name], name))
                for name in ("epsilon", "rho", "delta")
                if name in study.budget
            },
            "cost": publication.mechanism.cost.text,
            "questions": [describe_question(question) for question in publication.questions],
        },
    }


def build_certificate(answers: PublishedAnswers) -> dict[str, Any]:
    """Return the certificate, still without the digests of the files and the signature."""
    publication = answers.publication
    ledger = publication.ledger
    return {
        **describe_publication(publication),
        "answers": {
            name: {
                "title": view.title,
                "columns": answer_columns(view),
                "published": answers.parts[name].published_text,
            }
            for name, view in answers.views.items()
        },
        "comparisons": [
            {**comparison.to_dict(), "columns": answer_columns(answers.comparisons[comparison.name])}
            for comparison in publication.comparisons
        ],
        "books": {} if ledger is None else _describe_books(ledger, publication, answers),
    }


def answer_columns(view: AnswerView) -> dict[str, list[Any]]:
    """Return the answer as columns of whole numbers, floats and text: those of `to_frame`."""
    return plain_columns(view.data_columns)


def describe_question(question: Priced) -> dict[str, Any]:
    """Return a question with everything that decides its mechanism, and the mechanism that this gives."""
    mechanism = question.request.question.mechanism
    return {
        "name": question.name,
        "ask": question.request.kind.name,
        "options": describe_options(question.request),
        "rate": None if question.wish.rate is None else question.wish.rate.to_dict(),
        "mechanism": mechanism.name,
        "parameters": dict(mechanism.parameters),
        "cost": mechanism.cost.text,
    }


def describe_options(request: Request) -> dict[str, Any]:
    """Return the options of a request as JSON, without the places where rows are stored."""
    return {
        option.name: _describe_value(request, option, value)
        for option, value in request.explicit_options
        if (option.part in ("table", "question", "cost") and option.name not in _PLACES) or option.name in _TEXTS
    } | {"level": request.level, **({"columns": request.facts.display} if request.facts.display else {})}


def _describe_value(request: Request, option: Option, value: Any) -> Any:
    if option.name == "domain":
        return _list_items(request)
    # Of a file that is joined, its name without the place.
    return _plain(option.type.fact(value) if option.name == "join" else option.type.plain(value))


def _list_items(request: Request) -> Any:
    """Return the items of each column, in the order of the columns: whoever verifies has no file that names them.

    By the names of their columns, where some columns need no list.
    """
    if request.items.combinations is not None:
        pairs = request.items.combinations
        return [dict(zip(pairs.columns, _plain(list(item)), strict=True)) for item in pairs.items]
    domains = {domain.column: _plain(list(domain.items)) for domain in request.typed_domains}
    return list(domains.values()) if len(domains) == len(group_columns(request.values)) else domains


def rebuild_request(kind: str, options: Mapping[str, Any]) -> Request:
    """Return the request that a certificate describes. It names no file, so that none of the reader's is opened.

    >>> rebuild_request("count", {"unit": "patient", "by": "ward", "domain": [["a", "b"]], "epsilon": "1"}).cost
    {'epsilon': '1'}
    >>> rebuild_request("count", {"unit": "patient", "by": "ward", "domain": "/etc/hosts", "epsilon": "1"})
    Traceback (most recent call last):
    lastbit.errors.ParameterError: the domain of a certificate must be a list of items for each column.
    """
    domains = options.get("domain", [])
    lists = list(domains.values()) if isinstance(domains, dict) else domains
    if not isinstance(lists, list) or not all(isinstance(items, list | dict) for items in lists):
        raise ParameterError("the domain of a certificate must be a list of items for each column.")
    known = find_kind(kind)
    allowed = {option.name for option in known.options if option.part in ("table", "question", "cost", "output")}
    columns = options.get("columns", {})
    if not isinstance(columns, dict) or ColumnFacts.parse(columns).display != columns:
        raise ParameterError("the columns of a certificate must be the labels of values, and nothing else.")
    unknown = sorted((options.keys() - allowed) | (options.keys() & (_PLACES - {"columns"})))
    if unknown:
        raise ParameterError(f"the certificate has options that no question of it can have: {', '.join(unknown)}.")
    request = known.parse({**options, "source": ["-"]}, "python")
    return settle_unit(request, lambda: [ROW]) if "unit" in options else insist_on_rows(request)


def render_part(request: Request, rate: PublicRate | None, where: str, published: Any) -> AnswerView:
    """Return an answer with all that is said about it, as the run and whoever verifies make it.

    `where` is the condition of the whole study, which its titles do not repeat.
    """
    view = render_answer(replace(request, face="report"), None, published)
    view = view if rate is None else rate.apply(view)
    if not where or request.values.get("title") is not None:
        return view
    title = view.title.replace(title_of(request, published), title_without(request, where, published), 1)
    return replace(view, report=replace(view.report, title=title))


def title_without(request: Request, where: str, published: Any = None) -> str:
    """Return the title of a question without the condition of the whole study.

    >>> options = {"unit": "patient", "where": "(day > 3) and (ill)", "epsilon": "1"}
    >>> title_without(rebuild_request("count", options), "day > 3")
    'People, with at least one row where ill'
    """
    own = request.values.get("where")
    if own is not None and where:
        rest = own.removeprefix(f"({where}) and (")
        own = None if own == where else rest.removesuffix(")") if rest != own else own
        request = request.change(where=own)
    return title_of(request, published)


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
