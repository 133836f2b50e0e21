"""The description of the service in OpenAPI 3.1: one line for each operation."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_TOP: Final = {
    "question": "top",
    "options": {"by": "diagnosis", "domain": ["flu", "cold", "gout"], "k": 2, "epsilon": "1/2"},
}
_RUN: Final = {"about": "table", "threshold": "100", "limit": 3, "epsilon": "1/2"}

OPERATIONS: Final[tuple[tuple[str, str, str, str, dict[str, Any] | None], ...]] = (
    ("/api/table", "get", "look", "What can be asked of: columns, public lists, the unit, the account.", None),
    ("/api/questions", "get", "look", "The kinds of questions, and the options of each.", None),
    (
        "/api/plan", "post", "look",
        "What a release costs and how accurate it is, with a sample on made-up values. Give within instead of a cost, "
        "and the least epsilon follows. Nothing is read and nothing is spent.",
        {**_TOP, "units": 1000},
    ),
    ("/api/confirmations", "post", "release", "A key that pays once for a question. Nothing is spent yet.", _TOP),
    (
        "/api/releases", "post", "release",
        "Spend and release with a key. The same key again gives the same release and spends nothing. 202 means that "
        "the release is under way.",
        {"key": "…"},
    ),
    ("/api/releases/{entry}", "get", "look", "A release again, for nothing.", None),
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
    (
        "/api/runs", "post", "release",
        "Start a sparse-vector run, at its full cost. About the table, its queries are conditions, and the server "
        "counts the people who have a row for which one is true. About numbers, you send them, with a sensitivity.",
        _RUN,
    ),
    ("/api/runs/{id}", "get", "look", "How far a run is.", None),
    (
        "/api/runs/{id}/ask", "post", "release", "Ask a run.",
        {"queries": ["cost >= 500", "diagnosis = 'flu'"]},
    ),
    (
        "/api/runs/{id}/stream", "post", "release",
        "Answers to a stream: one query a line in the body, one server-sent event for each as it comes.", None,
    ),
)  # fmt: skip
"""Path, method, the role that it needs, what it does, and an example of its body."""


@cache
def described() -> dict[str, Any]:
    """The whole description.

    >>> sorted(described()["paths"]["/api/work/{key}"])
    ['delete', 'get']
    """
    import json

    from lastbit import __version__

    paths: dict[str, Any] = {}
    for path, method, role, summary, body in OPERATIONS:
        parts = [part[1:-1] for part in path.split("/") if part.startswith("{")]
        operation: dict[str, Any] = {
            "summary": summary,
            "x-role": role,
            "parameters": [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in parts
            ],
            "responses": {
                "default": {"description": "JSON; an error is an object with the key error.", "content": {
                    "text/event-stream" if path.endswith("/stream") else "application/json": {}}},
            },
        }  # fmt: skip
        if body is not None:
            schema = {"type": "object"}
            operation["requestBody"] = {"content": {"application/json": {"schema": schema, "example": body}}}
            operation["x-example"] = json.dumps(body, ensure_ascii=False)
        elif path.endswith("/stream"):
            operation["requestBody"] = {"content": {"text/plain": {"schema": {"type": "string"}}}}
        paths.setdefault(path, {})[method] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "lastbit", "version": __version__, "description": "Numbers are exact under the key exact."},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{"token": []}],
        "paths": paths,
    }
