"""The application: which address is answered by what."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files

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
from lastbit.web.workers import Workers

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
    Route("/plan", make_endpoint(question_pages.plan, hard=True)),
    Route("/plan/numbers", make_endpoint(question_pages.numbers, hard=True)),
    Route("/confirm", make_endpoint(question_pages.confirm, need="release", hard=True), methods=["POST"]),
    Route("/confirm/{key}", make_endpoint(question_pages.confirmation, hard=True, first=question_pages.find_paid)),
    Route("/confirm/{key}", make_endpoint(question_pages.release, need="release"), methods=["POST"]),
    Route("/work/{key}", make_endpoint(question_pages.work)),
    Route("/work/{key}/part", make_endpoint(question_pages.working)),
    Route("/work/{key}/cancel", make_endpoint(question_pages.cancel, need="release"), methods=["POST"]),
    Route("/results/{entry}", make_endpoint(question_pages.result)),
    Route("/budget", make_endpoint(budget_pages.accounts)),
    Route("/budget/raise", make_endpoint(budget_pages.raise_limit, need="raise"), methods=["POST"]),
    Route("/budget/export.{form}", make_endpoint(budget_pages.export)),
    Route("/audit", make_endpoint(audit_pages.audit, hard=True)),
    Route("/audit/gallery", make_endpoint(audit_pages.gallery)),
    Route("/audit/gallery/{number}", make_endpoint(audit_pages.case, hard=True)),
    Route("/static/{name}", _static),
    Route("/api", make_endpoint(api.page)),
    Route("/api/openapi.json", make_endpoint(api.openapi)),
    Route("/api/table", make_endpoint(api.table)),
    Route("/api/questions", make_endpoint(api.questions)),
    Route("/api/plan", make_endpoint(api.plan, hard=True), methods=["POST"]),
    Route("/api/confirmations", make_endpoint(api.confirmations, need="release", hard=True), methods=["POST"]),
    Route("/api/releases", make_endpoint(api.releases, need="release"), methods=["POST"]),
    Route("/api/releases/{entry}", make_endpoint(api.release)),
    Route("/api/work/{key}", make_endpoint(api.work), methods=["GET", "DELETE"]),
    Route("/api/accounts", make_endpoint(api.accounts)),
    Route("/api/accounts/{dataset:path}/limit", make_endpoint(api.limit, need="raise"), methods=["POST"]),
    Route("/api/accounts/{dataset:path}", make_endpoint(api.account)),
    Route("/api/audit", make_endpoint(api.audit, hard=True)),
]


def application(
    desk: Desk,
    tokens: Tokens,
    hosts: frozenset[str],
    *,
    secure: bool,
    home: str | None = None,
    cookie: str = "lastbit",
    workers: Workers | None = None,
) -> Guard:
    """Return the application behind its guard. Without workers, plans and audits run here, and nothing ends them."""

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        if workers is not None:
            workers.start()
        yield
        if workers is not None:
            await workers.close()
        desk.jobs.close()

    app = Starlette(routes=[*PAGES], lifespan=living, exception_handlers={404: _missing, 405: _missing})
    app.state.desk, app.state.workers = desk, workers
    return Guard(app, tokens, hosts, secure, cookie, home)
