"""A request as handlers see it, and the pages that they answer with."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
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
from lastbit.web.desk import Desk
from lastbit.web.guard import MOST_BYTES, refuse
from lastbit.web.jobs import describe_error
from lastbit.web.tokens import may

_MOST_FIELDS: Final = 200


class NotAllowed(LastbitError):
    """A token that may not do this."""


class NotThere(LastbitError):
    """There is no such page."""


@dataclass(frozen=True)
class Visit:
    """One request: who asks, what was sent, and the desk that answers."""

    request: Request
    desk: Desk
    role: str
    body: bytes

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
        """A part of the path."""
        return str(self.request.path_params[name])

    def number(self, name: str) -> int:
        """A part of the path that is the number of a release."""
        return parse_number(self.part(name))

    def need(self, role: str) -> None:
        """Refuse whoever may not do what needs this role."""
        if not may(self.role, role):
            words = {"release": "release", "raise": "raise limits"}[role]
            raise NotAllowed(f"your token may not {words}. Nothing was done. Ask for the token of that role.")

    def page(self, name: str, *, status: int = 200, here: str = "", **more: Any) -> Response:
        """A page of a template."""
        text = _templates().get_template(name).render(role=self.role, here=here, **more)
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
    return f"{path}?{urlencode({name: value for name, value in values.items() if value})}"


def redirect(path: str) -> Response:
    """Go on to another page: a reload there sends nothing again."""
    return RedirectResponse(path, 303)


def safe(svg: str) -> Markup:
    """A chart, which is HTML already."""
    return Markup(svg)  # noqa: S704 # drawn by lastbit.output.chart, which escapes every text


def as_json(data: object, status: int = 200, **headers: str) -> Response:
    """Data as JSON, with exact fractions beside the numbers."""
    return Response(json_text(data, ascii_only=True), status, headers, "application/json")


def make_endpoint(work: Callable[[Visit], Response], *, need: str = "look") -> Callable[[Request], Any]:
    """Return an endpoint: it reads the body within its limit, works in a thread, and answers every error in words."""

    async def endpoint(request: Request) -> Response:
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BYTES:
                    return refuse(request.scope, 413, f"The request is too large: at most {MOST_BYTES:,} bytes.")
        except ClientDisconnect:
            return Response(status_code=400)
        visit = Visit(request, request.app.state.desk, request.state.role, body)
        return await run_in_threadpool(_answer, visit, work, need)

    return endpoint


def _answer(visit: Visit, work: Callable[[Visit], Response], need: str) -> Response:
    try:
        if need != "look":
            visit.need(need)
        return work(visit)
    except Exception as error:
        # Only lastbit's own messages are shown: those of others may quote a row.
        status = status_of(error)
        message = describe_error(error)
        if status == 500:
            _complain(error)
        if visit.request.url.path.startswith("/api"):
            return as_json({"error": message}, status)
        heading = {403: "Not allowed", 404: "Not there", 409: "Refused", 500: "Something went wrong"}.get(
            status, "That does not work"
        )
        return visit.page("refused.html", status=status, heading=heading, message=message)


def _complain(error: BaseException) -> None:
    """Tell whoever runs the server where an error comes from, without its message, which may quote a row."""
    calls = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{call.filename.rpartition('/')[2]}:{call.lineno}" for call in reversed(calls[-4:]))
    print(f"lastbit: unexpected {type(error).__name__} at {where}", file=sys.stderr, flush=True)


def status_of(error: Exception) -> int:
    """The status of an answer to a request that ended in this error."""
    if isinstance(error, NotAllowed):
        return 403
    if isinstance(error, NotThere | LedgerNotFound | AccountNotFound | EntryNotFound):
        return 404
    if isinstance(error, LedgerError):
        return 409
    return 400 if isinstance(error, LastbitError) else 500


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("lastbit.web"), autoescape=select_autoescape(("html",)), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
