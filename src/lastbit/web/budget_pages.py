"""The pages of the books: every account, its limits, its history, and higher limits."""

from __future__ import annotations

import csv
import io
import json

from starlette.responses import Response

from lastbit.errors import LastbitError
from lastbit.questions.report import account_line
from lastbit.web.question_pages import draw_bar
from lastbit.web.results import escape_cell
from lastbit.web.tokens import may
from lastbit.web.visit import NotThere, Visit, redirect


def accounts(visit: Visit) -> Response:
    """Every account."""
    books = visit.desk.ledger
    lines = [(account, draw_bar(account), account_line(account)) for account in books.accounts()]
    return visit.page("budget.html", here="/budget", accounts=lines, problems=books.verify())


def account(visit: Visit, error: str = "") -> Response:
    """One account and its history."""
    books, name = visit.desk.ledger, visit.part("dataset")
    own = books.account(name)
    return visit.page(
        "account.html", here="/budget", account=own, bar=draw_bar(own), line=account_line(own), error=error,
        entries=list(reversed(books.history(name))), may_raise=may(visit.role, "raise"), status=400 if error else 200,
    )  # fmt: skip


def raise_limit(visit: Visit) -> Response:
    """A higher limit, with its reason."""
    books, name, form = visit.desk.ledger, visit.part("dataset"), visit.form
    currency = books.account(name).currency
    try:
        limit = {"rho": form.get("limit", "")} if currency == "rho" else {"epsilon": form.get("limit", "")}
        books.raise_limit(name, **limit, note=form.get("note", ""))
    except LastbitError as refusal:
        return account(visit, str(refusal))
    return redirect(visit.request.url.path.removesuffix("/raise"))


def export(visit: Visit) -> Response:
    """The whole books of an account: as JSON exactly as they are kept, as CSV without formulas for spreadsheets."""
    name, form = visit.part("dataset"), visit.part("form")
    row, rows = visit.desk.ledger.export(name)
    entries = list(rows)
    if form == "json":
        text, kind = json.dumps({"account": row, "entries": entries}, indent=1), "application/json"
    elif form == "csv":
        lines = io.StringIO()
        writer = csv.DictWriter(lines, list(entries[0]) if entries else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: escape_cell(value) for name, value in entry.items()} for entry in entries)
        text, kind = lines.getvalue(), "text/csv; charset=utf-8"
    else:
        raise NotThere("there is no such export.")
    return Response(text, 200, {"content-disposition": f'attachment; filename="books.{form}"'}, kind)
