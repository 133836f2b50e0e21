"""The same as the pages, as JSON. `openapi.py` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from lastbit.errors import ParameterError
from lastbit.questions.kinds import KINDS, find_kind
from lastbit.questions.option import Option, parse_options
from lastbit.questions.plan import Plan, describe_plan, plan_accuracy
from lastbit.questions.report import account_data, entry_data
from lastbit.questions.shared_options import LEDGER, PRICE
from lastbit.questions.spelling import spell_errors
from lastbit.questions.value_types import Text, describe
from lastbit.web.audit_pages import find_verdict
from lastbit.web.desk import Confirmation
from lastbit.web.display import display_texts, without_presentation
from lastbit.web.jobs import Job, describe_job
from lastbit.web.openapi import describe_kind, describe_service
from lastbit.web.results import Result, find_result
from lastbit.web.visit import NotThere, Pending, Visit, as_json

_QUESTION: Final = ("question", "options", "table", "note")
"""What the body of a question may have."""
_KEY: Final = (Option("key", Text("KEY"), "The key of a confirmation.", "", spelling="key"),)
_LIMIT: Final = (*PRICE, *(option for option in LEDGER if option.name == "note"))
_WAIT: Final = 30.0


def table(visit: Visit) -> Response:
    """Return what can be asked of: columns, public lists, the unit, the account."""
    desk = visit.desk
    lists = {name: list(domain.items) for name, domain in desk.lists.items()}
    return as_json(
        {
            "tables": list(desk.tables),
            "columns": desk.columns,
            "unit": None if not desk.unit else desk.unit[0] if len(desk.unit) == 1 else list(desk.unit),
            "lists": lists,
            "dataset": desk.dataset,
        }
    )


def questions(visit: Visit) -> Response:
    """Return the kinds of questions, and the options of each."""
    return as_json({"questions": {kind.name: describe_kind(kind) for kind in KINDS.values()}})


def plan(visit: Visit) -> Response:
    """Return what a release costs and how accurate it is. Nothing is read and nothing is spent."""
    planned = _make_plan(visit)
    return as_json({**describe_plan(planned), "sample": planned.sample().data})


def _make_plan(visit: Visit) -> Plan:
    body = visit.json
    if unknown := [name for name in body if name not in _QUESTION]:
        raise ParameterError(f"there is no {describe(unknown[0])} here. Use some of {', '.join(_QUESTION)}.")
    options = body.get("options")
    if not isinstance(options, dict | None):
        raise ParameterError(f"options must be an object, from names to values: got {describe(options)}.")
    kind = find_kind(body.get("question"))
    with spell_errors(kind.options, "service"):
        note, table = body.get("note"), body.get("table")
        request = visit.desk.parse(kind.name, options or {}, "service", table=table, note=note)
        return plan_accuracy(request, visit.desk.ledger)


def confirmations(visit: Visit) -> Response:
    """Return a key that pays once for this question."""
    planned = _make_plan(visit)
    key = visit.desk.wait_for(Confirmation(planned.request, planned.units))
    return as_json({"key": key, **describe_plan(planned)}, 201)


def releases(visit: Visit) -> Response | Pending:
    """Spend and release with a key. The same key again gives the same release, and spends nothing."""
    key = parse_options(_KEY, visit.json, "service", "a release")["key"]
    entry = visit.desk.ledger.charged(key) if key else None
    confirmation = visit.desk.find_waiting(key)
    if entry is not None:
        return _show(visit, entry.id, {} if confirmation is None else display_texts(confirmation.request))
    if confirmation is None:
        raise NotThere("this key is not known here: POST the question to /api/confirmations first. Nothing was done.")
    job = visit.desk.release(key, confirmation.request, visit.asker)
    shown = display_texts(confirmation.request)
    return Pending(job, _WAIT, lambda visit: _show_release(visit, job, shown))


def _show_release(visit: Visit, job: Job, shown: Mapping[str, str]) -> Response:
    if job.state == "done" and job.entry is not None:
        return _show(visit, job.entry, shown, 201)
    return as_json({**describe_job(job), "error": job.message}, 409) if job.over else as_json(describe_job(job), 202)


def _show(visit: Visit, number: int, shown: Mapping[str, str], status: int = 200) -> Response:
    """Return a release as it was published; and, where that is asked for, as it is to be shown."""
    plain = without_presentation(shown)
    result = find_result(visit.desk, number, plain, "service")
    entry, answer = result.entry, result.answer
    data = {"entry": entry.id, "dataset": entry.dataset, "cost": entry.cost, "finished": answer is not None}
    if answer is not None:
        data |= {"release": answer.data, "texts": dict(answer.texts)}
    if answer is not None and answer.request is not None and plain != shown:
        data |= {"presented": _present(find_result(visit.desk, number, shown, "service"))}
    return as_json(data, status)


def _present(result: Result) -> dict[str, Any]:
    """Return a result as people read it, and its numbers for programs."""
    view: Any = result.answer
    columns, rows = view.printed_table
    return {"title": view.title, "columns": columns, "rows": rows, "notes": view.full_report.notes, "data": view.data}


def release(visit: Visit) -> Response:
    """Return a past release again, for nothing; the fields of the address say how it is shown."""
    return _show(visit, visit.number("entry"), visit.query)


def work(visit: Visit) -> Response:
    """Return how far a release is; DELETE cancels it unless it is charged."""
    job = visit.desk.jobs.find(visit.part("key"))
    if job is None:
        raise NotThere("there is no such work.")
    if visit.request.method == "DELETE":
        visit.need("release")
        job.cancel()
        job.wait(2)
    return as_json(describe_job(job))


def accounts(visit: Visit) -> Response:
    """Return every account."""
    return as_json({"accounts": [account_data(account) for account in visit.desk.ledger.accounts()]})


def account(visit: Visit) -> Response:
    """Return one account and its history."""
    books, name = visit.desk.ledger, visit.part("dataset")
    history = [{**entry_data(entry), "done": entry.done} for entry in books.history(name)]
    return as_json({**account_data(books.account(name)), "history": history})


def limit(visit: Visit) -> Response:
    """Raise the limit of an account, in the account's own currency."""
    values: dict[str, Any] = parse_options(_LIMIT, visit.json, "python", "a limit")
    limits = {name: values[name] for name in ("epsilon", "rho") if values[name] is not None}
    if len(limits) != 1:
        raise ParameterError("give one of epsilon and rho: the new limit.")
    books, name = visit.desk.ledger, visit.part("dataset")
    return as_json(account_data(books.raise_limit(name, **limits, note=values["note"], asker=visit.asker)))


def audit(visit: Visit) -> Response:
    """Return the exact verdict on a mechanism and two small inputs."""
    return as_json(find_verdict(visit.query)["verdict"])


def openapi(visit: Visit) -> Response:
    """Return the description of the service, for programs."""
    return as_json(describe_service())


def page(visit: Visit) -> Response:
    """Return the description of the service, for people."""
    operations = [
        (path, method, {"x-example": "", **operation})
        for path, methods in describe_service()["paths"].items()
        for method, operation in methods.items()
    ]
    kinds = [(kind.name, describe_kind(kind)) for kind in KINDS.values()]
    return visit.page("api.html", here="/api", operations=operations, kinds=kinds)
