"""The application: which address is answered by what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lastbit.output.page import style
from lastbit.web import api, asking, audits, budgets
from lastbit.web.desk import Desk
from lastbit.web.guard import Guard, refused
from lastbit.web.tokens import Tokens
from lastbit.web.visit import handler

_STATIC = {
    "page.css": "text/css; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx.LICENSE": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "report.css":
        return Response(style(), media_type="text/css; charset=utf-8")
    if name not in _STATIC:
        return refused(request.scope, 404, "There is no such file.")
    return Response(files("lastbit.web").joinpath("static", name).read_bytes(), media_type=_STATIC[name])


async def _missing(request: Request, error: Exception) -> Response:
    return refused(request.scope, getattr(error, "status_code", 404), "There is no such page.")


PAGES = [
    Route("/", handler(asking.ask)),
    Route("/ask/{topic}", handler(asking.topic)),
    Route("/plan", handler(asking.plan)),
    Route("/plan/numbers", handler(asking.numbers)),
    Route("/confirm", handler(asking.confirm, need="release"), methods=["POST"]),
    Route("/confirm/{key}", handler(asking.confirmation)),
    Route("/confirm/{key}", handler(asking.release, need="release"), methods=["POST"]),
    Route("/work/{key}", handler(asking.work)),
    Route("/work/{key}/part", handler(asking.working)),
    Route("/work/{key}/cancel", handler(asking.cancel, need="release"), methods=["POST"]),
    Route("/results/{entry}", handler(asking.result)),
    Route("/budget", handler(budgets.accounts)),
    Route("/budget/{dataset}", handler(budgets.account)),
    Route("/budget/{dataset}/raise", handler(budgets.raise_limit, need="raise"), methods=["POST"]),
    Route("/budget/{dataset}/export.{form}", handler(budgets.export)),
    Route("/audit", handler(audits.audit)),
    Route("/audit/gallery", handler(audits.gallery)),
    Route("/audit/gallery/{number}", handler(audits.case)),
    Route("/static/{name}", _static),
    Route("/api", handler(api.page)),
    Route("/api/openapi.json", handler(api.openapi)),
    Route("/api/table", handler(api.table)),
    Route("/api/questions", handler(api.questions)),
    Route("/api/plan", handler(api.plan), methods=["POST"]),
    Route("/api/confirmations", handler(api.confirmations, need="release"), methods=["POST"]),
    Route("/api/releases", handler(api.releases, need="release"), methods=["POST"]),
    Route("/api/releases/{entry}", handler(api.release)),
    Route("/api/work/{key}", handler(api.work), methods=["GET", "DELETE"]),
    Route("/api/accounts", handler(api.accounts)),
    Route("/api/accounts/{dataset}", handler(api.account)),
    Route("/api/accounts/{dataset}/limit", handler(api.limit, need="raise"), methods=["POST"]),
    Route("/api/audit", handler(api.audit)),
    Route("/api/runs", handler(api.runs, need="release"), methods=["POST"]),
    Route("/api/runs/{id}", handler(api.run)),
    Route("/api/runs/{id}/ask", handler(api.ask, need="release"), methods=["POST"]),
    Route("/api/runs/{id}/stream", api.stream, methods=["POST"]),
]


def application(desk: Desk, tokens: Tokens, hosts: frozenset[str], *, secure: bool, cookie: str = "lastbit") -> Any:
    """The application behind its guard."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        yield
        desk.jobs.close()

    app = Starlette(routes=[*PAGES], lifespan=living, exception_handlers={404: _missing, 405: _missing})
    app.state.desk = desk
    return Guard(app, tokens, hosts, secure, cookie)
