"""The one way from a question to a release: look at the budget, read, charge, draw, record."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.asking import question_of

if TYPE_CHECKING:
    from lastbit.ledger import Entry, Identity, Ledger
    from lastbit.questions.options import Spending
    from lastbit.questions.question import Question
    from lastbit.values.adjacency import Adjacency

COUNTED: Final[Adjacency] = "add-remove"
"""What every question reads: units come or go, and how many there are is private."""


@dataclass(frozen=True)
class Book:
    """An account in a ledger, and the question as the books know it."""

    ledger: Ledger
    dataset: str
    question: Identity

    @classmethod
    def of(cls, spending: Spending) -> Book | None:
        """The account that a person names; None where nobody pays."""
        if (spending.ledger is None) != (spending.dataset is None):
            raise ParameterError(
                "--ledger and --dataset must be given together: got only one of them. --ledger names the file, "
                "--dataset the account to charge."
            )
        if spending.ledger is None or spending.dataset is None:
            if spending.reuse:
                raise ParameterError(
                    "--reuse looks for the release in a ledger: pass --ledger FILE --dataset NAME too."
                )
            return None
        if spending.reuse and is_piped(spending):
            raise ParameterError(
                "--reuse needs a table that has a name: through - comes another table each time. Save it as a file "
                "first, or leave --reuse out."
            )
        from lastbit.ledger import Ledger

        _check_apart(spending.ledger, spending.asked.get("source"))
        return cls(Ledger(spending.ledger), spending.dataset, question_of(spending))

    def found(self, asked: Question) -> Entry | None:
        """The entry that has answered this very question before, of the same files, by whatever name."""
        return self.ledger.answer(self.dataset, asked.mechanism, question=self.question, adjacency=COUNTED)


def answer(
    asked: Question,
    spending: Spending,
    book: Book | None,
    *,
    once: str = "",
    last_moment: Callable[[], None] = lambda: None,
) -> Any:
    """Read, charge, draw, record: what is published. `last_moment` may refuse before anything is charged.

    `once` is a key that pays once: see `Ledger.charge`.
    """
    from lastbit.mechanisms.mechanism import chance

    if book is not None:
        # Reading may take long, so a budget that is too small refuses first. The charge checks the budget again.
        book.ledger.account(book.dataset).charged(asked.mechanism.cost, COUNTED)
    values = asked.read()
    ready = asked.ready(values)
    last_moment()
    if book is None:
        return ready(chance(None))
    return book.ledger.spend(
        book.dataset,
        asked.mechanism,
        ready,
        adjacency=values.adjacency,
        note=spending.note,
        question=book.question,
        once=once,
    )


def is_piped(spending: Spending) -> bool:
    """Whether the table comes through standard input."""
    source = spending.asked.get("source")
    return "-" in (source if isinstance(source, list) else [source])


def _check_apart(ledger: str, source: Any) -> None:
    """Refuse a ledger that is the table: whoever copies, restores or replaces the table would do so with the books."""
    for each in source if isinstance(source, list) else [source]:
        with suppress(OSError, TypeError, ValueError):
            if Path(ledger.removeprefix("sqlite:///")).samefile(each):
                break
    else:
        return
    raise ParameterError(
        f"--ledger must be a file of its own: got the table itself, {ledger}. Name another file. Nothing was charged."
    )
