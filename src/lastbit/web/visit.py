"""A request as handlers see it, and the pages that they answer with."""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast
from urllib.parse import parse_qsl, urlencode
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import ClientDisconnect
from starlette.requests import Request as WebRequest
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lastbit.errors import (
    AccountNotFound,
    EntryNotFound,
    LastbitError,
    LedgerError,
    LedgerNotFound,
    ParameterError,
)
from lastbit.output.json_values import json_text
from lastbit.questions.kinds import KINDS
from lastbit.questions.spelling import spell_options
from lastbit.web.desk import Desk
from lastbit.web.guard import MOST_BYTES, refuse
from lastbit.web.jobs import Job, TooManyJobs, describe_error
from lastbit.web.tasks import WorkerTask
from lastbit.web.tokens import may
from lastbit.web.workers import Overloaded, Workers

if TYPE_CHECKING:
    from lastbit.questions.option import Option

_MOST_FIELDS: Final = 200
_THREADS: Final = 8
_LIMITERS: WeakKeyDictionary[asyncio.AbstractEventLoop, CapacityLimiter] = WeakKeyDictionary()


class NotAllowed(LastbitError):
    """A token that may not do this."""


class NotThere(LastbitError):
    """There is no such page."""


@dataclass(frozen=True)
class Visit:
    """One request: who asks, what was sent, and the desk that answers."""

    request: WebRequest
    desk: Desk
    role: str
    body: bytes
    asker: str = ""
    """The name of the token."""

    @property
    def query(self) -> dict[str, str]:
        """The fields in the address; of a field that is there twice, the last one."""
        return dict(self.request.query_params)

    @property
    def form(self) -> dict[str, str]:
        """The fields of a form that was sent."""
        text = self.body.decode("utf-8", "replace")
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))

    @property
    def json(self) -> dict[str, Any]:
        """The object that was sent, with exact numbers; an empty body is an empty object."""
        try:
            body = json.loads(self.body or b"{}", parse_float=Decimal, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise ParameterError("the body must be a JSON object, and its numbers must have at most 4,300 digits.")
        return body

    def part(self, name: str) -> str:
        """Return a part of the path."""
        return str(self.request.path_params[name])

    def number(self, name: str) -> int:
        """Return a part of the path that is the number of a release."""
        return parse_number(self.part(name))

    def need(self, role: str) -> None:
        """Refuse whoever may not do what needs this role."""
        if not may(self.role, role):
            words = {"release": "release", "raise": "raise limits"}[role]
            raise NotAllowed(f"your token may not {words}. Nothing was done. Ask for the token of that role.")

    def page(self, name: str, *, status: int = 200, here: str = "", **more: Any) -> Response:
        """Return a page of a template."""
        text = _templates().get_template(name).render(role=self.role, asker=self.asker, here=here, **more)
        # Half a character of an item is no text for anyone else: its number is shown.
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status)


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def parse_number(text: str) -> int:
    """Return the number of a release in an address."""
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise NotThere("there is no such release.")
    return int(text)


def make_address(path: str, values: Mapping[str, str]) -> str:
    """Return a path with fields behind it."""
    fields = urlencode({name: value for name, value in values.items() if value})
    return f"{path}?{fields}" if fields else path


def redirect(path: str) -> Response:
    """Go on to another page: a reload there sends nothing again."""
    return RedirectResponse(path, 303)


def safe(svg: str) -> Markup:
    """Return a chart, which is HTML already."""
    return Markup(svg)  # noqa: S704 # drawn by lastbit.output.chart, which escapes every text


def as_json(data: object, status: int = 200, **headers: str) -> Response:
    """Return data as JSON, with exact fractions beside the numbers."""
    return Response(json_text(data, ascii_only=True), status, headers, "application/json")


@dataclass(frozen=True)
class Pending:
    """An answer that waits for a piece of work, and holds no thread meanwhile."""

    job: Job
    seconds: float
    finish: Callable[[Visit], Response]


Work = Callable[[Visit], Response | Pending]


def make_endpoint(
    work: Work, *, need: str = "look", hard: bool = False, first: Callable[[Visit], Response | None] | None = None
) -> Callable[[WebRequest], Any]:
    """Return an endpoint: it reads the body within its limit, works in a thread, and answers every error in words.

    `hard` work depends on parameters that may take long: a worker does it. It knows of no work that is under way, so
    `first` may give an answer before.
    """

    async def endpoint(request: WebRequest) -> Response:
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    return refuse(request.scope, 413, f"The request is too large: at most {MOST_BYTES:,} bytes.")
        except ClientDisconnect:
            return Response(status_code=400)
        token, workers = request.state.token, request.app.state.workers
        visit = Visit(request, request.app.state.desk, token.role, body, token.name)
        response: Response | Pending | None = None
        if first is not None:
            response = await _in_thread(answer, visit, first, need)
        if response is None and hard and workers is not None:
            return await _ask_worker(visit, work, need, workers)
        if response is None:
            response = await _in_thread(answer, visit, work, need)
        if isinstance(response, Pending):
            if response.job.future is not None:
                await asyncio.wait([asyncio.wrap_future(response.job.future)], timeout=response.seconds)
            response = await _in_thread(answer, visit, response.finish, need)
        return cast("Response", response)

    return endpoint


async def _in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in one of a few threads: each keeps memory for itself."""
    return await to_thread.run_sync(work, *arguments, limiter=_threads())


def _threads() -> CapacityLimiter:
    """Return the limit of threads of the loop that runs."""
    loop = asyncio.get_running_loop()
    if loop not in _LIMITERS:
        _LIMITERS[loop] = CapacityLimiter(_THREADS)
    return _LIMITERS[loop]


async def _ask_worker(visit: Visit, work: Work, need: str, workers: Workers) -> Response:
    """Let a worker answer, and take over the confirmations that it has made."""
    request = visit.request
    scope = {name: request.scope[name] for name in ("method", "path", "query_string", "path_params")}
    confirmation = visit.desk.find_waiting(request.path_params.get("key", ""))
    waiting = {} if confirmation is None else {request.path_params["key"]: confirmation}
    task = WorkerTask(work, need, scope, visit.body, visit.role, visit.asker, waiting)
    try:
        reply = await workers.run(task, visit.asker, request.state.source, lambda: _wait_for_end(request))
    except LastbitError as error:
        return show_error(visit, error)
    visit.desk.put_waiting(reply.waiting)
    response = Response(reply.body, reply.status)
    response.raw_headers = reply.headers
    return response


async def _wait_for_end(request: WebRequest) -> None:
    """Return when whoever asked is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def answer(visit: Visit, work: Callable[[Visit], Any], need: str) -> Any:
    """Return the answer of a page or of the service; every error becomes an answer in words."""
    try:
        if need != "look":
            visit.need(need)
        return work(visit)
    except Exception as error:
        return show_error(visit, error)


def show_error(visit: Visit, error: Exception) -> Response:
    """Return an error as an answer. Only lastbit's own messages are shown: those of others may quote a row."""
    status = status_of(error)
    is_service = visit.request.url.path.startswith("/api")
    message = spell_options(describe_error(error), _list_options(), "service" if is_service else "page")
    if status == 500:
        _complain(error)
    if is_service:
        return as_json({"error": message}, status)
    heading = {403: "Not allowed", 404: "Not there", 409: "Refused", 500: "Something went wrong", 503: "Busy"}.get(
        status, "That does not work"
    )
    return visit.page("refused.html", status=status, heading=heading, message=message)


def _complain(error: BaseException) -> None:
    """Tell whoever runs the server where an error comes from, without its message, which may quote a row."""
    calls = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{call.filename.rpartition('/')[2]}:{call.lineno}" for call in reversed(calls[-4:]))
    print(f"lastbit: unexpected {type(error).__name__} at {where}", file=sys.stderr, flush=True)


def status_of(error: Exception) -> int:
    """Return the status of an answer to a request that ended in this error."""
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, NotThere | LedgerNotFound | AccountNotFound | EntryNotFound):
        return 404
    if isinstance(error, Overloaded | TooManyJobs):
        return 503
    if isinstance(error, LedgerError):
        return 409
    return 400 if isinstance(error, LastbitError) else 500


@cache
def _list_options() -> tuple[Option, ...]:
    """Return the options of all questions."""
    return tuple(option for kind in KINDS.values() for option in kind.options)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lastbit.web"), autoescape=select_autoescape(("html",)), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
