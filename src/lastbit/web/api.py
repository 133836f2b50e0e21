"""The same as the pages, as JSON. `openapi.py` describes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from lastbit.data.ranges import range_of
from lastbit.errors import LastbitError, ParameterError
from lastbit.output.plain import json_text
from lastbit.questions.answering import COUNTED
from lastbit.questions.kinds import KINDS, Built
from lastbit.questions.showing import account_data
from lastbit.questions.texts import as_command, as_python
from lastbit.web import planning
from lastbit.web.audits import verdict_of
from lastbit.web.jobs import as_data, told
from lastbit.web.openapi import described
from lastbit.web.results import Result, result_of
from lastbit.web.tokens import may
from lastbit.web.visit import NotThere, Visit, as_json

_SERVER: Final = frozenset(
    (
        "source", "unit", "table", "sql", "day", "week", "month", "year", "bin", "read_as", "separator", "encoding",
        "decimal_comma", "ledger", "dataset", "note", "as_json", "plot", "html", "dry_run", "reuse", "counts",
        "sensitivity", "monotone",
    )
)  # fmt: skip
"""Options that whoever starts the server decides, and nobody who asks."""
_LONGEST_LINE: Final = 1 << 16
_WAIT: Final = 30.0


def _options(kind: str) -> dict[str, Any]:
    return {each.name: each for each in KINDS[kind].options if each.name not in _SERVER}


def table(visit: Visit) -> Response:
    """What can be asked of: columns, public lists, the unit, the account."""
    desk = visit.desk
    return as_json(
        {
            "tables": list(desk.tables), "columns": desk.columns, "unit": desk.rows.get("unit"),
            "lists": {name: list(items) for name, items in desk.lists.items()}, "dataset": desk.dataset,
        }
    )  # fmt: skip


def questions(visit: Visit) -> Response:
    """The kinds of questions, and the options of each with their help."""
    found = {}
    for name, kind in KINDS.items():
        options = {
            each.name: {"help": each.annotation.__metadata__[0].help, "needed": each.default is each.empty}
            for each in _options(name).values()
        }
        found[name] = {"about": (kind.function.__doc__ or "").split("\n")[0], "options": options}
    return as_json({"questions": found})


def plan(visit: Visit) -> Response:
    """What a release costs and how accurate it is. Nothing is read and nothing is spent."""
    found = _plan(visit, visit.json)
    return as_json({**_planned(found), "sample": found.sample().data})


def _plan(visit: Visit, asked: Mapping[str, Any]) -> planning.Plan:
    units = planning.units_of(str(asked.get("units", "")))
    within = asked.get("within")
    if within is None:
        return planning.planned(visit.desk, _built(visit, asked, {}), "", units)
    epsilon = planning.least(lambda each: _built(visit, asked, {"epsilon": each}), str(within), units)
    return planning.planned(visit.desk, _built(visit, asked, {"epsilon": epsilon}), epsilon, units)


def _built(visit: Visit, asked: Mapping[str, Any], cost: Mapping[str, str]) -> Built:
    kind, given = str(asked.get("question", "")), asked.get("options", {})
    if kind not in KINDS or not isinstance(given, dict):
        raise ParameterError(f"question must be one of {', '.join(KINDS)}, and options an object.")
    known = _options(kind)
    if unknown := sorted(given.keys() - known.keys()):
        raise ParameterError(f"there is no option {unknown[0]} for {kind} here. Use one of {', '.join(known)}.")
    options = {name: _typed(name, each) for name, each in given.items()}
    return visit.desk.ask(kind, {**options, **cost}, str(asked.get("table", "")), str(asked.get("note", "")))


def _typed(name: str, value: Any) -> Any:
    """An option as a person would have typed it. A text of a domain is a range, and never the name of a file."""
    if name == "by":
        return [str(each) for each in (value if isinstance(value, list) else [value])]
    if name == "domain":
        if not isinstance(value, list) or not value:
            raise ParameterError("domain must be a list of items, or a list with the items of each column.")
        if not any(isinstance(each, list) for each in value):
            value = [value]
        return [_items(each) for each in value]
    if name == "bounds":
        if not isinstance(value, list) or len(value) != 2:
            raise ParameterError("bounds must be a list of two numbers.")
        return tuple(str(each) for each in value)
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise ParameterError(f"{name} must be below 2^63. Choose a smaller number.")
    return value if isinstance(value, int | None) else str(value)


def _items(value: Any) -> Any:
    if isinstance(value, str):
        if range_of(value) is None:
            raise ParameterError("domain must be a list of items, or a range such as 1..12.")
        return value
    items = tuple(str(each) for each in value)
    return items[0] if len(items) == 1 and range_of(items[0]) is not None else items


def _planned(found: planning.Plan) -> dict[str, Any]:
    question, account = found.built.question, found.account
    return {
        "mechanism": question.mechanism.name, "parameters": question.mechanism.parameters,
        "cost": question.mechanism.cost.text, "within": found.within, "counts_in": question.counts_in,
        "promise": question.promise, "allowed": not found.refusal, "refusal": found.refusal,
        "left": account.left, "left_after": None if found.after is None else found.after.left,
        "charged": None if found.refusal else account.price(question.mechanism.cost, COUNTED),
        "answered_by": None if found.answered is None else found.answered.id,
        "command": as_command(found.built.spending), "python": as_python(found.built.spending),
    }  # fmt: skip


def confirmations(visit: Visit) -> Response:
    """A key that pays once for this question."""
    found = _plan(visit, visit.json)
    key = visit.desk.wait_for({"built": found.built})
    return as_json({"key": key, **_planned(found)}, 201)


def releases(visit: Visit) -> Response:
    """Spend and release with a key. The same key again gives the same release, and spends nothing."""
    asked = visit.json
    key = str(asked.get("key", ""))
    entry = visit.desk.ledger.charged(key) if key else None
    if entry is not None:
        return _result(result_of(visit.desk, entry.id))
    waiting = visit.desk.waiting(key)
    if waiting is None:
        raise NotThere("this key is not known here: POST the question to /api/confirmations first. Nothing was done.")
    built = waiting["built"] if "built" in waiting else planning.plan_of(visit.desk, waiting).built
    job = visit.desk.release(key, built)
    job.wait(_WAIT)
    if job.state == "done" and job.entry is not None:
        return _result(result_of(visit.desk, job.entry), 201)
    return as_json({**as_data(job), "error": job.message}, 409) if job.over else as_json(as_data(job), 202)


def _result(found: Result, status: int = 200) -> Response:
    entry = found.entry
    data = {"entry": entry.id, "dataset": entry.dataset, "cost": entry.cost, "finished": found.told is not None}
    if found.told is not None:
        data |= {"release": found.told.data, "texts": dict(found.texts)}
    return as_json(data, status)


def release(visit: Visit) -> Response:
    """A release again, for nothing."""
    text = visit.part("entry")
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise NotThere("there is no such release.")
    return _result(result_of(visit.desk, int(text)))


def work(visit: Visit) -> Response:
    """How far a release is; DELETE cancels it unless it is charged."""
    job = visit.desk.jobs.find(visit.part("key"))
    if job is None:
        raise NotThere("there is no such work.")
    if visit.request.method == "DELETE":
        visit.need("release")
        job.cancel()
        job.wait(2)
    return as_json(as_data(job))


def accounts(visit: Visit) -> Response:
    """Every account."""
    return as_json({"accounts": [account_data(each) for each in visit.desk.ledger.accounts()]})


def account(visit: Visit) -> Response:
    """One account and its history."""
    books, name = visit.desk.ledger, visit.part("dataset")
    history = [
        {
            "id": each.id, "time": each.time.isoformat(), "kind": each.kind, "mechanism": each.mechanism,
            "parameters": dict(each.parameters), "cost": each.cost, "amount": each.amount, "about": each.about,
            "note": each.note, "done": each.done, "published": each.recorded, "digest": each.digest,
        }
        for each in books.history(name)
    ]  # fmt: skip
    return as_json({**account_data(books.account(name)), "history": history})


def limit(visit: Visit) -> Response:
    """A higher limit, in the account's own currency."""
    asked, name = visit.json, visit.part("dataset")
    given = {each: str(asked[each]) for each in ("epsilon", "rho") if asked.get(each) is not None}
    if len(given) != 1:
        raise ParameterError("give one of epsilon and rho: the new limit.")
    return as_json(account_data(visit.desk.ledger.raise_limit(name, **given, note=str(asked.get("note", "")))))


def audit(visit: Visit) -> Response:
    """The exact verdict on a mechanism and two small inputs."""
    return as_json(verdict_of(visit.query)["verdict"])


def runs(visit: Visit) -> Response:
    """Start a run."""
    return as_json(visit.desk.runs.start(visit.desk, visit.json).data, 201)


def run(visit: Visit) -> Response:
    """How far a run is."""
    return as_json(_held(visit.desk, visit.part("id")).data)


def ask(visit: Visit) -> Response:
    """Ask a run one query, or several."""
    held, asked = _held(visit.desk, visit.part("id")), visit.json
    queries = asked.get("queries", [asked["query"]] if "query" in asked else None)
    if not isinstance(queries, list) or not queries or len(queries) > 10_000:
        raise ParameterError("give query, or queries: a list of numbers or conditions, at most 10,000.")
    answers = []
    for query in queries:
        answers.append(held.ask(query))
        if held.run.exhausted:
            break
    return as_json({"answers": answers, "over": held.run.exhausted})


def _held(desk: Any, name: str) -> Any:
    held = desk.runs.find(name)
    if held is None:
        raise NotThere("there is no such run here: runs end with the server. What was paid stays paid.")
    return held


async def stream(request: Request) -> Response:
    """Answers to a stream, as they come: lines in, server-sent events out."""
    if not may(request.state.role, "release"):
        return as_json({"error": "your token may not release. Nothing was done."}, 403)
    try:
        held = _held(request.app.state.desk, request.path_params["id"])
    except NotThere as error:
        return as_json({"error": str(error)}, 404)

    async def events() -> AsyncIterator[bytes]:
        end: dict[str, Any] = {}
        try:
            async for line in _lines(request):
                yield _event("answer", await run_in_threadpool(held.ask, line))
                if held.run.exhausted:
                    break
        except Exception as error:
            end = {"error": told(error) if isinstance(error, LastbitError) else "the stream was cut short."}
        yield _event("end", {**held.data, **end})

    return _Events(events())


class _Events(Response):
    """Answers that are sent while the request is still coming. Starlette's own streams would read the request too."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes]) -> None:
        super().__init__()
        del self.headers["content-length"]
        self._events = events

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send each event as it comes."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async for event in self._events:
            await send({"type": "http.response.body", "body": event, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _lines(request: Request) -> AsyncIterator[str]:
    """The lines of a body as they come. A line that is too long is no number."""
    left, long = b"", False
    async for chunk in request.stream():
        *whole, left = (left + chunk).split(b"\n")
        for line in whole:
            yield "" if long or len(line) > _LONGEST_LINE else line.decode("utf-8", "replace").strip()
            long = False
        if len(left) > _LONGEST_LINE:
            left, long = b"", True
    if left.strip() or long:
        yield "" if long else left.decode("utf-8", "replace").strip()


def _event(name: str, data: object) -> bytes:
    return f"event: {name}\ndata: {json_text(data, ascii_only=True)}\n\n".encode("ascii")


def openapi(visit: Visit) -> Response:
    """The description, for programs."""
    return as_json(described())


def page(visit: Visit) -> Response:
    """The description, for people."""
    operations = [
        (path, method, {"x-example": "", **each})
        for path, methods in described()["paths"].items()
        for method, each in methods.items()
    ]
    return visit.page("api.html", here="/api", operations=operations)
