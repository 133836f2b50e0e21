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

from lastbit.output.page import style_sheet
from lastbit.web import api, audit_pages, budget_pages, question_pages
from lastbit.web.desk import Desk
from lastbit.web.guard import Guard, refuse
from lastbit.web.tokens import Tokens
from lastbit.web.visit import make_endpoint

_STATIC = {
    "page.css": "text/css; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "htmx.LICENSE": "text/plain; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "report.css":
        return Response(style_sheet(), media_type="text/css; charset=utf-8")
    if name not in _STATIC:
        return refuse(request.scope, 404, "There is no such file.")
    return Response(files("lastbit.web").joinpath("static", name).read_bytes(), media_type=_STATIC[name])


async def _missing(request: Request, error: Exception) -> Response:
    return refuse(request.scope, getattr(error, "status_code", 404), "There is no such page.")


PAGES = [
    Route("/", make_endpoint(question_pages.ask)),
    Route("/ask/{topic}", make_endpoint(question_pages.topic)),
    Route("/plan", make_endpoint(question_pages.plan)),
    Route("/plan/numbers", make_endpoint(question_pages.numbers)),
    Route("/confirm", make_endpoint(question_pages.confirm, need="release"), methods=["POST"]),
    Route("/confirm/{key}", make_endpoint(question_pages.confirmation)),
    Route("/confirm/{key}", make_endpoint(question_pages.release, need="release"), methods=["POST"]),
    Route("/work/{key}", make_endpoint(question_pages.work)),
    Route("/work/{key}/part", make_endpoint(question_pages.working)),
    Route("/work/{key}/cancel", make_endpoint(question_pages.cancel, need="release"), methods=["POST"]),
    Route("/results/{entry}", make_endpoint(question_pages.result)),
    Route("/budget", make_endpoint(budget_pages.accounts)),
    Route("/budget/{dataset}", make_endpoint(budget_pages.account)),
    Route("/budget/{dataset}/raise", make_endpoint(budget_pages.raise_limit, need="raise"), methods=["POST"]),
    Route("/budget/{dataset}/export.{form}", make_endpoint(budget_pages.export)),
    Route("/audit", make_endpoint(audit_pages.audit)),
    Route("/audit/gallery", make_endpoint(audit_pages.gallery)),
    Route("/audit/gallery/{number}", make_endpoint(audit_pages.case)),
    Route("/static/{name}", _static),
    Route("/api", make_endpoint(api.page)),
    Route("/api/openapi.json", make_endpoint(api.openapi)),
    Route("/api/table", make_endpoint(api.table)),
    Route("/api/questions", make_endpoint(api.questions)),
    Route("/api/plan", make_endpoint(api.plan), methods=["POST"]),
    Route("/api/confirmations", make_endpoint(api.confirmations, need="release"), methods=["POST"]),
    Route("/api/releases", make_endpoint(api.releases, need="release"), methods=["POST"]),
    Route("/api/releases/{entry}", make_endpoint(api.release)),
    Route("/api/work/{key}", make_endpoint(api.work), methods=["GET", "DELETE"]),
    Route("/api/accounts", make_endpoint(api.accounts)),
    Route("/api/accounts/{dataset}", make_endpoint(api.account)),
    Route("/api/accounts/{dataset}/limit", make_endpoint(api.limit, need="raise"), methods=["POST"]),
    Route("/api/audit", make_endpoint(api.audit)),
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
