"""The pages from a question to a result: ask, plan, confirm, wait, look."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from starlette.responses import Response

from lastbit.errors import LastbitError
from lastbit.output.chart import budget
from lastbit.questions.answering import COUNTED
from lastbit.questions.showing import account_line, percent, shown
from lastbit.questions.texts import as_command
from lastbit.web.desk import topics
from lastbit.web.fields import TOPICS, with_defaults
from lastbit.web.planning import STOPS, Plan, ladder, plan_of
from lastbit.web.results import result_of
from lastbit.web.tokens import may
from lastbit.web.visit import NotThere, Visit, address, safe, to


def ask(visit: Visit) -> Response:
    """What there is to find, and what is left to spend."""
    account = visit.desk.account
    return visit.page(
        "ask.html", here="/", topics=topics(), unit=visit.desk.rows.get("unit"), bar=bar_of(account),
        line=account_line(account),
    )  # fmt: skip


def topic(visit: Visit) -> Response:
    """The form of one topic."""
    values = visit.query
    if not values:
        # A column that has a public list is the likeliest one.
        values = dict.fromkeys(("by",), next(iter(visit.desk.lists), ""))
    return _form(visit, visit.part("topic"), values)


def _form(visit: Visit, name: str, values: dict[str, str], error: str = "") -> Response:
    if name not in TOPICS:
        raise NotThere("there is nothing to find by this name.")
    desk = visit.desk
    columns = desk.columns.get(values.get("table", ""), next(iter(desk.columns.values())))
    lists = [(column, len(items)) for column, items in desk.lists.items()]
    return visit.page(
        "topic.html", here="/", topic=TOPICS[name], values=values, columns=columns, tables=desk.tables, lists=lists,
        unit=desk.rows.get("unit"), error=error, status=400 if error else 200,
    )  # fmt: skip


def plan(visit: Visit) -> Response:
    """The plan of a form; the form again where it cannot be planned."""
    values = with_defaults(visit.query)
    try:
        found = plan_of(visit.desk, values)
    except LastbitError as error:
        return _form(visit, values.get("topic", ""), values, str(error))
    return visit.page("plan.html", here="/", **_shown(visit, values, found, swap=""))


def numbers(visit: Visit) -> Response:
    """The part of a plan that follows the slider."""
    values = with_defaults(visit.query)
    return visit.page("planned.html", **_shown(visit, values, plan_of(visit.desk, values), swap=values.get("from", "")))


def _shown(visit: Visit, values: dict[str, str], found: Plan, *, swap: str) -> dict[str, Any]:
    sample, question = found.sample(), found.built.question
    return {
        "topic": TOPICS[values["topic"]], "values": values, "plan": found, "swap": swap, "stops": len(STOPS),
        "ladder": ladder(found), "counts_in": question.counts_in, "level": percent(found.built.spending.level),
        "units_matter": question.within_of is not None, "sample": sample, "chart": safe(sample.chart),
        "back": address(f"/ask/{values['topic']}", values), "audit": _audit(found), **_account(found),
        "may_release": may(visit.role, "release"),
    }  # fmt: skip


def _account(found: Plan) -> dict[str, Any]:
    """The account before and after."""
    now = found.account.left
    after = {} if found.after is None else found.after.left
    left = [
        (name, shown(each, "down"), shown(after[name], "down") if name in after else "refused")
        for name, each in now.items()
    ]
    more = Fraction(0)
    if not found.refusal:
        more = found.account.price(found.built.question.mechanism.cost, COUNTED)
    return {"left": left, "bar": bar_of(found.account, more)}


def bar_of(account: Any, more: Fraction = Fraction(0)) -> Any:
    """An account as a bar."""
    spent = account.limit - account.left["rho" if account.currency == "rho" else "epsilon"]
    return safe(budget(spent, more, account.limit, account_line(account)))


def _audit(found: Plan) -> str:
    mechanism = found.built.question.mechanism
    settings = " ".join(f"{name}={value}" for name, value in mechanism.parameters.items() if str(value) != "None")
    return address("/audit", {"mechanism": mechanism.name, "settings": settings, "small": "yes"})


def confirm(visit: Visit) -> Response:
    """A key for this question, and the page that it pays on."""
    values = with_defaults(visit.form)
    plan_of(visit.desk, values)  # refuses what cannot be asked
    kept = {name: value for name, value in values.items() if name not in ("from", "stop", "drag", "within")}
    return to(f"/confirm/{visit.desk.wait_for(kept)}")


def confirmation(visit: Visit) -> Response:
    """The page that pays once. Where its key has paid, the result."""
    key = visit.part("key")
    entry = visit.desk.ledger.charged(key)
    if entry is not None:
        return to(f"/results/{entry.id}")
    job = visit.desk.jobs.find(key)
    if job is not None and not job.over:
        return to(f"/work/{key}")
    values = _waiting(visit, key)
    found = plan_of(visit.desk, values)
    return visit.page(
        "confirm.html", here="/", plan=found, key=key, back=address("/plan", values), **_account(found),
        command=as_command(found.built.spending), may_release=may(visit.role, "release"),
    )  # fmt: skip


def release(visit: Visit) -> Response:
    """Spend and release, once for each key."""
    key = visit.part("key")
    entry = visit.desk.ledger.charged(key)
    if entry is not None:
        return to(f"/results/{entry.id}")
    values = _waiting(visit, key)
    found = plan_of(visit.desk, values)
    visit.desk.release(key, found.built)
    return to(f"/work/{key}")


def _waiting(visit: Visit, key: str) -> dict[str, str]:
    values = visit.desk.waiting(key)
    if values is None or "topic" not in values:
        raise NotThere(
            "this confirmation is not known here: the server was started anew since, or it is too old. Nothing was "
            "charged with it. Plan again."
        )
    return values


def work(visit: Visit) -> Response:
    """How far a release is."""
    return _work(visit, "work.html")


def working(visit: Visit) -> Response:
    """The part of the page that follows the work."""
    answer = _work(visit, "working.html")
    if answer.status_code == 303:
        answer = Response(status_code=200, headers={"hx-redirect": answer.headers["location"]})
    return answer


def _work(visit: Visit, template: str) -> Response:
    key = visit.part("key")
    job = visit.desk.jobs.find(key)
    if job is None or job.state == "done":
        entry = visit.desk.ledger.charged(key)
        if entry is None:
            raise NotThere("there is no such work.")
        return to(f"/results/{entry.id}")
    return visit.page(template, job=job, here="/")


def cancel(visit: Visit) -> Response:
    """Stop a release that is not charged yet."""
    job = visit.desk.jobs.find(visit.part("key"))
    if job is None:
        raise NotThere("there is no such work.")
    job.cancel()
    return to(f"/work/{job.key}")


def result(visit: Visit) -> Response:
    """A result, from the books; with an ending, to take away."""
    name, _, ending = visit.part("entry").partition(".")
    if not name.isascii() or not name.isdigit() or len(name) > 15:
        raise NotThere("there is no such result.")
    found = result_of(visit.desk, int(name))
    if ending:
        return _file(found, name, ending)
    chart = "" if found.told is None else safe(found.told.chart)
    return visit.page("result.html", here="/", result=found, chart=chart)


def _file(found: Any, name: str, ending: str) -> Response:
    from lastbit.output.plain import json_text

    kinds = {"html": "text/html; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8"}
    if ending not in kinds or found.told is None:
        raise NotThere("there is no such result.")
    text = found.html if ending == "html" else found.csv if ending == "csv" else json_text(found.told.data)
    named = {"content-disposition": f'attachment; filename="lastbit-{name}.{ending}"'}
    return Response(text.encode("utf-8", "backslashreplace"), 200, named, kinds[ending])
