"""What the command does with a request: look at the budget, read, charge, draw, record, show."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lastbit.cli import REFUSED
from lastbit.cli.files import check_outputs, inputs_of, replace_file
from lastbit.cli.streams import explain_loss, say
from lastbit.errors import LastbitError, LedgerError, ParameterError, add_charge_note
from lastbit.output.addresses import public_address
from lastbit.output.data_files import csv_bytes, write_parquet
from lastbit.questions.answer import Payer, answer
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.output_types import PRINTED, prints_json
from lastbit.questions.reading import read_column_names
from lastbit.questions.rendering import UNREAD, check_presentation, read_account_after, render_answer
from lastbit.questions.report import account_line
from lastbit.questions.row_units import settle_unit
from lastbit.questions.within import buy_accuracy

if TYPE_CHECKING:
    from lastbit.ledger import Entry
    from lastbit.mechanisms.sparse_vector.run import Run
    from lastbit.questions.plan import Plan
    from lastbit.questions.request import Request

_FILES = ("html", "plot", "csv", "parquet", "json")
"""The options that write a file."""
_NOT_CHARGED = "no ledger was charged. To charge one, pass --ledger FILE --dataset NAME."


def run_request(request: Request) -> None:
    """Release and show. A dry run shows the cost and the accuracy instead.

    The release is in the ledger before it is shown. With --reuse, a release that answered the same question is shown
    instead.
    """
    if request.each_row and request.rows.is_piped:
        request = settle_unit(request, lambda: read_column_names(request.rows))
    request = buy_accuracy(request)
    question = request.question
    if request["plot"] is not None and not question.draws_numbers:
        name = request.kind.name
        raise ParameterError(f"--plot draws numbers, and {name} publishes items without a number. Leave it out.")
    check_outputs(output_files(request.values), inputs_of(request))
    check_presentation(request)
    if request["dry_run"]:
        _show_dry_run(request)
        return
    payer = Payer.of(request)
    entry = payer.find_answer(request) if payer is not None and request["reuse"] else None
    if payer is not None:
        explain_loss(lambda: _name_entry(request, payer))
    if entry is None and question.shows_plan:
        from lastbit.questions.plan import make_plan

        parts = make_plan(request, units=request["people"]).report
        replace(parts, title=f"{question.mechanism.cost.text} is shared so:", notes=[]).show(
            as_json=False, stream=sys.stderr
        )
    with _show_warnings(payer):
        published = answer(request, payer) if entry is None else entry.published
    try:
        _show(request, payer, published, entry)
    except Exception as error:
        if payer is not None:
            add_charge_note(error, _name_entry(request, payer))
        raise


def _show(request: Request, payer: Payer | None, published: Any, entry: Entry | None) -> None:
    """Print a release, and write its report and its picture."""
    result = render_answer(request, payer, published, entry=entry)
    if payer is None:
        say(_NOT_CHARGED)
    show_answer(result, prints_json(request["json"]), output_files(request.values))


def output_files(options: Mapping[str, Any]) -> dict[str, str | None]:
    """Return the files that are asked for, by their options. JSON that is printed is in none."""
    return {f"--{name}": None if options[name] == PRINTED else options[name] for name in _FILES}


def show_answer(view: AnswerView, as_json: bool, paths: Mapping[str, str | None]) -> None:
    """Print an answer, then write its files. A reader who closes the pipe, such as `head`, takes no file away."""
    try:
        view.full_report.show(as_json=as_json)
    finally:
        write_outputs(view, paths)


def write_outputs(view: AnswerView, paths: Mapping[str, str | None]) -> None:
    """Write an answer into the files that were asked for, by their options."""
    writers: dict[str, Callable[[str], object]] = {
        "--html": lambda name: write_text(name, view.page.html()),
        "--csv": lambda name: Path(name).write_bytes(csv_bytes(view.data_columns)),
        "--parquet": lambda name: write_parquet(name, view.data_columns),
        "--json": lambda name: write_text(name, f"{view.full_report.json_text}\n"),
        "--plot": view.plot,
    }
    for option, write in writers.items():
        path = paths[option]
        if path is not None:
            write_file(option, path, write)


def _name_entry(request: Request, payer: Payer) -> str:
    """Return where the books have a release whose output is lost: to ask again would cost again."""
    words = ["lastbit", "budget", "history", payer.dataset, "--ledger", public_address(request["ledger"])]
    with suppress(LastbitError):
        entry = payer.find_answer(request)
        if entry is not None:
            again = shlex.join([*words, "--release", str(entry.id)])
            return f"The release is entry {entry.id} of the books: {again} shows it again, for nothing."
    return f"The charge stays: {shlex.join(words)} lists it."


def _show_dry_run(request: Request) -> None:
    from lastbit.questions.plan import make_plan

    plan = make_plan(request, units=request["people"])
    reading = request.question.reading
    if plan.previous_entry is None and reading is not None:
        reading.check_columns()
    show_plan(plan)


def show_plan(plan: Plan) -> None:
    """Print a plan; the exit code says where the budget does not allow it."""
    report = plan.report
    if "-" in plan.request.values.get("source", ()):
        hint = "What came through standard input is used up: send it again for the release."
        report = replace(report, notes=[*report.notes, hint])
    if any(plan.request.values.get(name) not in (None, PRINTED) for name in _FILES):
        report = replace(report, notes=[*report.notes, "No file was written: the release writes it."])
    report.show(as_json=prints_json(plan.request["json"]))
    is_reuse = plan.previous_entry is not None and plan.request.values.get("reuse", False)
    if plan.refusal and not is_reuse:
        raise SystemExit(REFUSED)


@contextmanager
def _show_warnings(payer: Payer | None) -> Iterator[None]:
    """Say on standard error, in a line of the command, that the books could not keep a release."""
    if payer is None:
        yield
        return
    from lastbit.ledger.ledger import NotRecordedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", NotRecordedWarning)
        show_other = warnings.showwarning

        def show(message: Any, category: Any, *where: Any) -> None:
            if category is NotRecordedWarning:
                explain_loss(lambda: "The charge stays, and the books could not keep the release.")
                say(str(message))
            else:
                show_other(message, category, *where)

        warnings.showwarning = cast(Any, show)
        yield


def write_file(option: str, path: str, write: Callable[[str], object]) -> None:
    """Write a file. The release is charged and shown already, so a full disk takes nothing away."""
    try:
        with replace_file(option, path) as name:
            write(name)
    except OSError as error:
        what = {"--html": "report", "--plot": "picture"}.get(option, "file")
        say(f"the {what} {path} could not be written: {error.strerror}. The release above stands.")
        raise SystemExit(1) from None


def write_text(path: str, text: str) -> None:
    """Write a text. Half a character of an item, which no file can hold, is written as its number."""
    Path(path).write_text(text, "utf-8", "backslashreplace")


def start_stream(request: Request, ends: str) -> tuple[Run, Payer | None] | None:
    """Charge the whole cost of a stream, say so on standard error, and start; return None for a dry run.

    `ends` says in words what the run ends after. The numbers of a stream are the caller's own: their sensitivity is for
    the neighbours that the account means.
    """
    question = request.question
    mechanism: Any = question.mechanism
    if request["dry_run"]:
        from lastbit.questions.plan import make_plan

        show_plan(make_plan(request))
        return None
    payer = Payer.of(request)
    if payer is None:
        run: Run = mechanism.start()
        payment = _NOT_CHARGED
    else:
        with _show_warnings(payer):
            run = payer.ledger.spend(
                payer.dataset, mechanism, mechanism.start, note=payer.note, question=payer.identity
            )  # fmt: skip
        account = read_account_after(payer)
        payment = UNREAD if account is None else f"{account_line(account)}."
    for line in (f"{mechanism.name}, {mechanism.cost.text}: it ends after {ends}.", payment, *question.notes):
        say(line)
    return run, payer


def close_stream(run: Run, payer: Payer | None) -> None:
    """End a run whose answers were all delivered, and give back to the ledger what they have not spent."""
    if payer is None:
        return
    try:
        before = payer.ledger.account(payer.dataset)
        after = payer.ledger.close(run, note=payer.note)
    except LedgerError:  # all answers are told and paid for
        say("The books could not be written now, so nothing is given back. To see them: lastbit budget history.")
        return
    if after.spent != before.spent:
        say(f"What the answers have not spent is given back. {account_line(after)}.")
