"""The description of the service in OpenAPI 3.1: one line for each operation, and the options of each question."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from lastbit.questions.kind import Kind
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Option

_TOP: Final = {
    "question": "top",
    "options": {"by": "diagnosis", "domain": ["flu", "cold", "gout"], "k": 2, "epsilon": "1/2"},
}

OPERATIONS: Final[tuple[tuple[str, str, str, str, dict[str, Any] | None], ...]] = (
    ("/api/table", "get", "look", "What can be asked of: columns, public lists, the unit, the account.", None),
    ("/api/questions", "get", "look", "The kinds of questions, and the options of each.", None),
    (
        "/api/plan", "post", "look",
        "What a release costs and how accurate it is, with a sample on made-up values. Nothing is read or spent.",
        _TOP,
    ),
    ("/api/confirmations", "post", "release", "A key that pays once for a question. Nothing is spent yet.", _TOP),
    (
        "/api/releases", "post", "release",
        "Spend and release with a key. The same key again gives the same release and spends nothing. 202 means that "
        "the release is under way.",
        {"key": "…"},
    ),
    (
        "/api/releases/{entry}", "get", "look",
        "A release again, for nothing. Fields of the address say how presented shows it: round, hide_below, sort.",
        None,
    ),
    ("/api/work/{key}", "get", "look", "How far a release is.", None),
    ("/api/work/{key}", "delete", "release", "Cancel a release that is not charged yet.", None),
    ("/api/accounts", "get", "look", "Every account.", None),
    ("/api/accounts/{dataset}", "get", "look", "One account and its history.", None),
    (
        "/api/accounts/{dataset}/limit", "post", "raise", "A higher limit, with its reason.",
        {"epsilon": "4", "note": "agreed in May"},
    ),
    (
        "/api/audit", "get", "look",
        "The exact verdict on a mechanism: mechanism, settings, values and neighbour are fields of the address.", None,
    ),
)  # fmt: skip
"""Path, method, the role that it needs, what it does, and an example of its body."""


def describe_kind(kind: Kind) -> dict[str, Any]:
    """Return what a kind of question finds, and the options that whoever asks may choose.

    >>> describe_kind(KINDS["top"])["options"]["k"]
    {'help': 'How many items.', 'schema': {'type': 'integer', 'minimum': 1, 'default': 10}, 'required': False}
    """
    options = {
        option.name: {"help": kind.explain(option, "service"), "schema": _schema(option), "required": option.required}
        for option in kind.options
        if "service" in option.faces
    }
    return {"about": kind.summary, "options": options}


def _schema(option: Option) -> dict[str, Any]:
    if option.default is None or option.required:
        return option.type.schema
    return {**option.type.schema, "default": option.type.plain(option.default)}


def _describe_question(kind: Kind) -> dict[str, Any]:
    """Return the schema of a body that asks this kind of question."""
    options = describe_kind(kind)["options"]
    properties = {name: {**option["schema"], "description": option["help"]} for name, option in options.items()}
    required = [name for name, option in options.items() if option["required"]]
    return {
        "type": "object",
        "description": kind.summary,
        "required": ["question", *(["options"] if required else [])],
        "additionalProperties": False,
        "properties": {
            "question": {"const": kind.name},
            "options": {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": False,
            },
            "table": {"type": "string", "description": "The table, where the server offers several."},
            "note": {"type": "string", "description": "A note for the ledger's history."},
        },
    }


@cache
def describe_service() -> dict[str, Any]:
    """Return the whole description.

    >>> sorted(describe_service()["paths"]["/api/work/{key}"])
    ['delete', 'get']
    """
    from lastbit import __version__

    paths: dict[str, Any] = {}
    for path, method, role, summary, example in OPERATIONS:
        parts = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        operation: dict[str, Any] = {
            "summary": summary,
            "x-role": role,
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in parts
            ],
            "responses": {
                "default": {
                    "description": "JSON; an error is an object with the key error.",
                    "content": {"application/json": {}},
                },
            },
        }
        if example is not None:
            schema = {"$ref": "#/components/schemas/question"} if "question" in example else {"type": "object"}
            operation["requestBody"] = {"content": {"application/json": {"schema": schema, "example": example}}}
            operation["x-example"] = json.dumps(example, ensure_ascii=False)
        paths.setdefault(path, {})[method] = operation
    schemas = {f"question-{kind.name}": _describe_question(kind) for kind in KINDS.values()}
    any_question = {"oneOf": [{"$ref": f"#/components/schemas/{name}"} for name in schemas]}
    return {
        "openapi": "3.1.0",
        "info": {"title": "lastbit", "version": __version__, "description": "Numbers are exact under the key exact."},
        "components": {
            "schemas": {"question": any_question, **schemas},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
        "paths": paths,
    }
