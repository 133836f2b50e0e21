"""The pages of the books: every account, its limits, its history, and higher limits."""

from __future__ import annotations

import csv
import io
import json

from starlette.responses import Response

from lastbit.errors import LastbitError
from lastbit.output.data_files import escape_cell
from lastbit.questions.report import account_line
from lastbit.web.question_pages import draw_bar
from lastbit.web.tokens import may
from lastbit.web.visit import NotThere, Visit, make_address, redirect


def accounts(visit: Visit) -> Response:
    """Return every account; with a name in the address, one account and its history."""
    if (name := visit.query.get("account")) is not None:
        return _show_account(visit, name)
    books = visit.desk.ledger
    lines = [
        (account, make_address("/budget", {"account": account.dataset}), draw_bar(account), account_line(account))
        for account in books.accounts()
    ]
    return visit.page("budget.html", here="/budget", accounts=lines, problems=books.verify())


def _show_account(visit: Visit, name: str, error: str = "") -> Response:
    """Return the page of one account, with its history."""
    books = visit.desk.ledger
    own = books.account(name)
    exports = {form: make_address(f"/budget/export.{form}", {"account": name}) for form in ("json", "csv")}
    entries = list(reversed(books.history(name)))
    return visit.page(
        "account.html", here="/budget", account=own, bar=draw_bar(own), line=account_line(own), error=error,
        entries=entries, exports=exports, askers=any(entry.asker for entry in entries),
        may_raise=may(visit.role, "raise"), status=400 if error else 200,
    )  # fmt: skip


def raise_limit(visit: Visit) -> Response:
    """Raise the limit of an account, with a reason."""
    books, form = visit.desk.ledger, visit.form
    name = form.get("account", "")
    currency = books.account(name).currency
    try:
        limit = {"rho": form.get("limit", "")} if currency == "rho" else {"epsilon": form.get("limit", "")}
        books.raise_limit(name, **limit, note=form.get("note", ""), asker=visit.asker)
    except LastbitError as refusal:
        return _show_account(visit, name, str(refusal))
    return redirect(make_address("/budget", {"account": name}))


def export(visit: Visit) -> Response:
    """Return the whole books of an account: as JSON exactly as they
    are kept, as CSV without formulas for spreadsheets.
    """
    name, form = visit.query.get("account", ""), visit.part("form")
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
