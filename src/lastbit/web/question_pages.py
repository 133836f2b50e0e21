"""The pages from a question to a result: ask, plan, confirm, wait, look."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from starlette.responses import Response

from lastbit.errors import LastbitError
from lastbit.output.chart import draw_budget
from lastbit.output.json_values import json_text
from lastbit.questions.kinds import find_kind
from lastbit.questions.plan import Plan, format_accuracy, make_plan
from lastbit.questions.report import account_line, format_percent, format_value
from lastbit.questions.spelling import spell_options
from lastbit.web.desk import Confirmation
from lastbit.web.display import display_texts, result_address
from lastbit.web.forms import TOPICS, fill_form, list_display_inputs
from lastbit.web.results import Result, find_result
from lastbit.web.sliders import STOPS, make_slider, nearest_stop, plan_form
from lastbit.web.tokens import may
from lastbit.web.visit import NotThere, Visit, make_address, parse_number, redirect, safe

_FILES: Final = {"html": "text/html; charset=utf-8", "json": "application/json", "csv": "text/csv; charset=utf-8"}
"""The files of a result, and their types."""


def ask(visit: Visit) -> Response:
    """Return what there is to find, and what is left to spend."""
    account = visit.desk.account
    return visit.page(
        "ask.html",
        here="/",
        topics=TOPICS.values(),
        unit=visit.desk.unit,
        most_units=visit.desk.rows.most_units,
        bar=draw_bar(account),
        line=account_line(account),
    )


def topic(visit: Visit) -> Response:
    """Return the form of one topic."""
    form = visit.query
    if not form:
        # A column that has a public list is the likeliest one.
        form = {"by": next(iter(visit.desk.lists), "")}
    return _show_form(visit, visit.part("topic"), form)


def _show_form(visit: Visit, name: str, form: dict[str, str], error: str = "") -> Response:
    if name not in TOPICS:
        raise NotThere("there is nothing to find by this name.")
    desk = visit.desk
    columns = desk.columns.get(form.get("table", ""), next(iter(desk.columns.values())))
    lists = [(column, len(domain.items)) for column, domain in desk.lists.items()]
    return visit.page(
        "topic.html",
        here="/",
        topic=TOPICS[name],
        inputs=TOPICS[name].inputs(form),
        more=TOPICS[name].more_inputs(form),
        has_more=TOPICS[name].has_more(form),
        display=TOPICS[name].display_inputs(form),
        values=form,
        columns=columns,
        tables=desk.tables,
        lists=lists,
        unit=desk.unit,
        error=error,
        status=400 if error else 200,
    )


def plan(visit: Visit) -> Response:
    """Return the plan of a form; the form again where it cannot be planned."""
    form = fill_form(visit.query)
    try:
        shown_plan = _describe_plan(visit, form, plan_form(visit.desk, form), swap="")
    except LastbitError as error:
        kind = find_kind(TOPICS[form["topic"]].kind)
        message = spell_options(str(error), kind.options, "page")
        return _show_form(visit, form["topic"], form, message)
    return visit.page("plan.html", here="/", **shown_plan)


def numbers(visit: Visit) -> Response:
    """Return the part of a plan that follows the slider."""
    form = fill_form(visit.query)
    swap = form.get("from", "")
    return visit.page("planned.html", **_describe_plan(visit, form, plan_form(visit.desk, form), swap=swap))


def _describe_plan(visit: Visit, form: dict[str, str], plan: Plan, *, swap: str) -> dict[str, Any]:
    sample, topic = plan.sample(), TOPICS[form["topic"]]
    return {
        "topic": topic,
        "values": form,
        "plan": plan,
        "swap": swap,
        "within": format_accuracy(plan),
        "stop": nearest_stop(plan),
        "stops": len(STOPS),
        "slider": make_slider(plan),
        "level": format_percent(plan.request.level),
        "sample": sample,
        "chart": safe(sample.chart),
        "back": make_address(f"/ask/{topic.name}", form),
        "audit": _audit_address(plan),
        "may_release": may(visit.role, "release"),
        **_describe_account(plan),
    }


def _describe_account(plan: Plan) -> dict[str, Any]:
    """Return the account before and after."""
    after = {} if plan.after is None else plan.after.left
    account: Any = plan.account
    left = [
        (name, format_value(amount, "down"), format_value(after[name], "down") if name in after else "refused")
        for name, amount in account.left.items()
    ]
    return {"left": left, "bar": draw_bar(account, plan.charge or Fraction(0))}


def draw_bar(account: Any, more: Fraction = Fraction(0)) -> Any:
    """Return an account as a bar."""
    spent = account.limit - account.left["rho" if account.currency == "rho" else "epsilon"]
    return safe(draw_budget(spent, more, account.limit, account_line(account)))


def _audit_address(plan: Plan) -> str:
    mechanism = plan.request.question.mechanism
    # The auditor takes the mechanism for one unit: that a person has several is no parameter of it.
    own = {name: value for name, value in mechanism.parameters.items() if name != "most_units" and value != "None"}
    settings = " ".join(f"{name}={value}" for name, value in own.items())
    return make_address("/audit", {"mechanism": mechanism.name, "settings": settings, "small": "yes"})


def confirm(visit: Visit) -> Response:
    """Return a key for this question, and the page that it pays on."""
    form = fill_form(visit.form)
    plan = plan_form(visit.desk, form)
    back = {name: text for name, text in form.items() if name not in ("from", "stop", "drag", "within")}
    key = visit.desk.wait_for(Confirmation(plan.request, plan.units, make_address("/plan", back)))
    return redirect(f"/confirm/{key}")


def find_paid(visit: Visit) -> Response | None:
    """Go on to the result of a key that has paid, or to its work; None where it waits to be confirmed."""
    key = visit.part("key")
    entry = visit.desk.ledger.charged(key)
    if entry is not None:
        return _go_to_result(visit, key, entry.id)
    job = visit.desk.jobs.find(key)
    return redirect(f"/work/{key}") if job is not None and not job.over else None


def confirmation(visit: Visit) -> Response:
    """Return the page that pays once."""
    key = visit.part("key")
    waiting = _find_waiting(visit, key)
    plan = make_plan(waiting.request, units=waiting.units, ledger=visit.desk.ledger)
    return visit.page(
        "confirm.html",
        here="/",
        plan=plan,
        key=key,
        back=waiting.back,
        may_release=may(visit.role, "release"),
        **_describe_account(plan),
    )


def release(visit: Visit) -> Response:
    """Spend and release, once for each key."""
    key = visit.part("key")
    entry = visit.desk.ledger.charged(key)
    if entry is not None:
        return _go_to_result(visit, key, entry.id)
    visit.desk.release(key, _find_waiting(visit, key).request, visit.asker)
    return redirect(f"/work/{key}")


def _go_to_result(visit: Visit, key: str, entry: int) -> Response:
    """Go on to the result of a key, shown as its question said, where the server still has it."""
    waiting = visit.desk.find_waiting(key)
    return redirect(result_address(entry, None if waiting is None else waiting.request))


def _find_waiting(visit: Visit, key: str) -> Confirmation:
    waiting = visit.desk.find_waiting(key)
    if waiting is None:
        raise NotThere(
            "this confirmation is not known here: the server was started anew since, or it is too old. Nothing was "
            "charged with it. Plan again."
        )
    return waiting


def work(visit: Visit) -> Response:
    """Return how far a release is."""
    return _show_work(visit, "work.html")


def working(visit: Visit) -> Response:
    """Return the part of the page that follows the work."""
    answer = _show_work(visit, "working.html")
    if answer.status_code == 303:
        answer = Response(status_code=200, headers={"hx-redirect": answer.headers["location"]})
    return answer


def _show_work(visit: Visit, template: str) -> Response:
    key = visit.part("key")
    job = visit.desk.jobs.find(key)
    if job is None or job.state == "done":
        entry = visit.desk.ledger.charged(key)
        if entry is None:
            raise NotThere("there is no such work.")
        return _go_to_result(visit, key, entry.id)
    return visit.page(template, job=job, here="/")


def cancel(visit: Visit) -> Response:
    """Stop a release that is not charged yet."""
    job = visit.desk.jobs.find(visit.part("key"))
    if job is None:
        raise NotThere("there is no such work.")
    job.cancel()
    return redirect(f"/work/{job.key}")


def result(visit: Visit) -> Response:
    """Return a result, from the books; with an ending, to take away."""
    name, _, ending = visit.part("entry").partition(".")
    shown_result = find_result(visit.desk, parse_number(name), visit.query)
    if ending:
        return _make_file(shown_result, name, ending)
    entry, view = shown_result.entry, shown_result.answer
    request = None if view is None else view.request
    return visit.page(
        "result.html",
        here="/",
        result=shown_result,
        chart="" if view is None else safe(view.chart),
        account=make_address("/budget", {"account": entry.dataset}),
        files={ending: result_address(entry.id, request, f".{ending}") for ending in _FILES},
        inputs=[] if view is None else list_display_inputs(view),
        is_shown_otherwise=bool(request and display_texts(request)),
    )


def _make_file(result: Result, name: str, ending: str) -> Response:
    if ending not in _FILES or result.answer is None:
        raise NotThere("there is no such result.")
    text = result.html if ending == "html" else result.csv if ending == "csv" else json_text(result.answer.data)
    named = {"content-disposition": f'attachment; filename="lastbit-{name}.{ending}"'}
    return Response(text.encode("utf-8", "backslashreplace"), 200, named, _FILES[ending])
