"""A release with all that is said about it: the answer, the price, the same question as a command and in Python."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError
from lastbit.questions.answer import Payer
from lastbit.questions.answer_report import complete, describe_answer
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.budget_words import describe_more
from lastbit.questions.presentation import (
    Step,
    cut_below_zero,
    hide_numbers,
    keep_first,
    round_numbers,
    sort_rows,
)
from lastbit.questions.question import TABLE_ADJACENCY
from lastbit.questions.rates import divide_by
from lastbit.questions.report import account_data, account_line, format_value

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.mechanisms.mechanism import Mechanism
    from lastbit.questions.request import Request


_SAMPLE: Final = 1000
"""So many people are made up to try how an answer would be shown."""
UNREAD: Final = "What is left in the account could not be read now. To see it: lastbit budget show."


def render_answer(request: Request, payer: Payer | None, published: Any, *, entry: Entry | None = None) -> AnswerView:
    """Return all that is said about a release; `entry` is that of an answer that comes from the books."""
    question = request.question
    books: dict[str, Any] = {}
    paid: list[str] = []
    if payer is not None:
        account = read_account_after(payer)
        line = UNREAD if account is None else account_line(account)
        if entry is None:
            paid = [line, *([] if account is None else describe_price(account, question.mechanism))]
            paid += [] if account is None else [describe_more(account, question.mechanism.cost)]
            books["charged"] = None if account is None else account.price(question.mechanism.cost, TABLE_ADJACENCY)
        else:
            paid = [_from_the_books(entry), line]
            books |= {"charged": Fraction(0), "reused": {"entry": entry.id, "released": release_time(entry)}}
        books["account"] = None if account is None else account_data(account)
    steps = steps_of(request)
    report = complete(request, published, describe_answer(request, published), steps, books)
    return AnswerView(request, published, report, paid, spell_out(request), steps, books)


def check_presentation(request: Request) -> None:
    """Refuse what cannot be shown, before anything is spent: it is tried on values that nobody has."""
    if steps_of(request) or request.values.get("together") or request.values.get("pivot"):
        _ = sample_view(request).full_report


def sample_view(request: Request) -> AnswerView:
    """Return an answer of values that nobody has, as the real one will be shown."""
    from lastbit.mechanisms.mechanism import resolve_draw

    question = request.question
    published = question.prepare(question.sample(_SAMPLE))(resolve_draw(None))
    report = complete(request, published, describe_answer(request, published), steps_of(request))
    return AnswerView(request, published, report, ())


def steps_of(request: Request) -> list[Step]:
    """Return what a request asks to be done to the published numbers, in the order in which it is done."""
    get = request.values.get
    steps: list[Step] = []
    if get("non_negative"):
        steps.append(cut_below_zero)
    if get("hide_below") is not None or get("hide_wider") is not None:
        steps.append(hide_numbers(get("hide_below"), get("hide_wider")))
    if get("rate") is not None:
        steps.append(divide_by(get("rate"), get("per_residents")))
    if get("round") is not None:
        steps.append(round_numbers(get("round")))
    if get("sort") == "value":
        steps.append(sort_rows)
    if get("first") is not None:
        steps.append(keep_first(request["first"]))
    return steps


def spell_out(request: Request) -> list[tuple[str, str]]:
    """Return the question as a command and in Python, under their headings."""
    return [("The same as a command", request.command), ("The same in Python", request.python)]


def read_account_after(payer: Payer) -> Account | None:
    """Return the account after a release; None where the books cannot be read now: a release is shown still."""
    try:
        return payer.account
    except LedgerError:
        return None


def describe_price(account: Account, mechanism: Mechanism[Any]) -> list[str]:
    """Return a line on what a release costs in this account, where that is not its own cost."""
    if account.adjacency == TABLE_ADJACENCY:
        return []
    price = account.prices(mechanism.cost, TABLE_ADJACENCY)
    text = format_value(price.epsilon, "up") if account.currency == "epsilon" else price.text
    return [
        f"{account.dataset} is charged {text} for {mechanism.cost.text}: in this account neighbours replace a record, "
        "which is one removed and one added."
    ]


def _from_the_books(entry: Entry) -> str:
    when = release_time(entry, "seconds")
    return (
        f"From the books: this answer was released on {when} (entry {entry.id}). The table was not read, nothing was "
        "drawn, and nothing was charged."
    )


def release_time(entry: Entry, precision: str = "auto") -> str:
    """Return the time of a release, as people read it."""
    return (entry.released or entry.time).isoformat(" ", precision)
