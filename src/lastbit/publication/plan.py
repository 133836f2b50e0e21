"""The plan of a publication: what every question costs and how accurate it will be, before a row is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError
from lastbit.exact.numbers import number
from lastbit.publication.hiding import COUNTS, Hiding, foresee_hiding
from lastbit.publication.pricing import WISH_LEVEL, Wish, round_down
from lastbit.questions.question import TABLE_ADJACENCY, Accuracy
from lastbit.questions.report import Report, account_data, account_line, format_bound, format_percent, format_value

if TYPE_CHECKING:
    from lastbit.ledger import Account
    from lastbit.publication.publication import Publication
    from lastbit.questions.request import Request

RANKS: Final = "ranks"
"""What the accuracy of quantiles is counted in."""


@dataclass(frozen=True)
class PublicationPlan:
    """All questions with their prices and accuracies, and the account as it is now."""

    publication: Publication
    account: Account | None
    after: Account | None
    refusal: str
    """Why the account does not allow it; "" where it does, or where nobody pays."""
    paid: bool
    """Whether the account has paid for this very plan: to run it costs nothing more."""
    improved: str = ""
    """What to write into the file to have this plan, where it is better than that of the file; else ""."""

    @classmethod
    def of(cls, publication: Publication) -> PublicationPlan:
        """Return the plan against the account that would pay, as it is now."""
        account, after, refusal, paid = None, None, "", False
        ledger = publication.ledger
        if ledger is not None:
            try:
                account = ledger.account(publication.dataset)
                paid = ledger.charged(publication.key) is not None
                own = account.protecting(publication.protects)
                after = account if paid else own.charged(publication.mechanism.cost, TABLE_ADJACENCY)
            except LedgerError as error:
                refusal = str(error)
        return cls(publication, account, after, refusal, paid)

    @property
    def accuracies(self) -> dict[str, Accuracy]:
        """How accurate each question will be."""
        people = self.publication.people
        return {
            question.name: question.request.question.accuracy(people) for question in self.publication.questions
        }  # fmt: skip

    @property
    def worst(self) -> str | None:
        """The question that is least accurate, as a share of what 100% is; None where nobody knows what it is."""
        shares = {
            name: accuracy.within / accuracy.total
            for name, accuracy in self.accuracies.items()
            if accuracy.total is not None and accuracy.total > 0
        }
        return max(shares, key=lambda name: shares[name], default=None)

    def improve(self) -> PublicationPlan:
        """Return the plan in which the least accurate question is twice as good, and the others share what is left."""
        worst = self.worst
        if worst is None:
            return self
        question = next(question for question in self.publication.questions if question.name == worst)
        now = question.request.change(level=WISH_LEVEL).question.accuracy(self.publication.people).within
        target = str(round_down(now / 2, 3))

        def change(wishes: list[Wish]) -> list[Wish]:
            return [replace(wish, within=target) if wish.name == worst else wish for wish in wishes]

        better = PublicationPlan.of(self.publication.with_wishes(change))
        return replace(better, improved=f'To have this plan, write within = "{target}" for {worst}, and no weight.')

    @property
    def report(self) -> Report:
        """The plan as one table."""
        publication, budget = self.publication, self.publication.budget
        questions, accuracies = publication.questions, self.accuracies
        columns: dict[str, Any] = {
            "question": [question.name for question in questions],
            "title": [publication.title_of(question) for question in questions],
            budget.currency: [question.price for question in questions],
            **self._delta_column,
            "share": [f"{float(100 * question.price / budget.total):.1f}%" for question in questions],
            "accuracy": [_describe(question.request, accuracies[question.name]) for question in questions],
            **self._hidden_column,
        }
        level = publication.questions[0].request.level
        left = budget.total - sum((question.price for question in questions), Fraction(0))
        notes = [
            f"In all {publication.mechanism.cost.text}, within {budget.text}. Each accuracy holds with probability "
            f"{format_percent(level)}, for about {publication.people:,} {publication.words.people} where it depends on "
            "how many there are.",
        ]
        wished = any(question.wish.within is not None for question in questions)
        if wished and number(level, "level") != number(WISH_LEVEL, "level"):
            notes.append(f"Wished accuracies are bought at {format_percent(WISH_LEVEL)}, whatever level is shown.")
        notes += self._wide_notes
        if left > budget.total / 1000:
            notes.append(f"{budget.currency} {format_value(left, 'down')} is not shared out.")
        if self.improved:
            notes.append(self.improved)
        elif self.worst is not None and len(questions) > 1:
            notes.append(f"Least accurate for its size: {self.worst}. --improve makes it twice as good.")
        if self.account is not None:
            notes.append(account_line(self.account))
        if self.account is not None and self.after is not None and not self.paid:
            notes.append(f"After it, {account_line(self.after)}")
        if self.paid:
            notes.append("This plan is paid for: to run it again shows the same answers, for nothing.")
        elif self.refusal:
            notes.append(self.refusal)
        elif self.account is not None:
            notes.append("The budget allows it.")
        notes.append(f"Plan {publication.hash[:16]}. No row was read and nothing was spent.")
        return Report(f"{publication.study.title}: the plan", columns, notes, self.data)

    @cached_property
    def hidings(self) -> dict[str, Hiding]:
        """What [output] will hide of each answer."""
        accuracies = self.accuracies
        return {
            question.name: foresee_hiding(question.request, accuracies[question.name])
            for question in self.publication.questions
        }

    @property
    def _hidden_column(self) -> dict[str, list[Any]]:
        """From which size on numbers are shown, where something is hidden."""
        sizes = [hiding.fewer_than for hiding in self.hidings.values()]
        texts = ["" if size is None else f"fewer than about {size:,}" for size in sizes]
        return {"hidden if": texts} if any(texts) else {}

    @property
    def _wide_notes(self) -> list[str]:
        """A note for the questions whose intervals will be too wide at the size that the file guesses."""
        names = [name for name, hiding in self.hidings.items() if hiding.too_wide]
        if not names:
            return []
        people = f"{self.publication.people:,} {self.publication.words.people}"
        return [
            f"Not accurate enough for about {people}, spread evenly: {', '.join(names)}. The intervals will be wider "
            f"than hide_wider, {self.publication.study.output.get('hide_wider', 'of the question')}, allows. Give them "
            "more weight, or ask for fewer groups."
        ]

    @property
    def _delta_column(self) -> dict[str, list[Any]]:
        """The part of the delta that pays for items which nobody listed, where there are such."""
        deltas = [question.request.question.mechanism.cost.delta for question in self.publication.questions]
        return {"delta": [format_value(delta, "up") if delta else "" for delta in deltas]} if any(deltas) else {}

    @property
    def data(self) -> dict[str, Any]:
        """The plan for programs."""
        publication = self.publication
        accuracies = self.accuracies
        data: dict[str, Any] = {
            "plan": publication.hash,
            "title": publication.study.title,
            "budget": publication.budget.text,
            "cost": publication.mechanism.cost.text,
            "questions": [
                {
                    "name": question.name,
                    "title": publication.title_of(question),
                    "price": question.price,
                    "currency": publication.budget.currency,
                    "cost": question.request.question.mechanism.cost.text,
                    "delta": question.request.question.mechanism.cost.delta,
                    "mechanism": question.request.question.mechanism.name,
                    "within": accuracies[question.name].within,
                    "counts_in": accuracies[question.name].unit,
                    "promise": accuracies[question.name].sentence,
                    "hidden_below": self.hidings[question.name].fewer_than,
                    "too_wide": self.hidings[question.name].too_wide,
                }
                for question in publication.questions
            ],
            "paid": self.paid,
        }
        if self.account is not None:
            data |= {"account": account_data(self.account), "allowed": not self.refusal, "left": self.account.left}
            data["left_after"] = None if self.after is None else self.after.left
        return data

    def __repr__(self) -> str:
        from lastbit.output.table import format_cells, text_table

        report = self.report
        rows = [list(row) for row in zip(*format_cells(report.columns), strict=True)]
        return "\n".join([report.title, text_table(list(report.columns), rows), *report.notes])


def _describe(request: Request, accuracy: Accuracy) -> str:
    """Return an accuracy in the unit of the column, where [columns] says in what its numbers are."""
    unit = request.facts[accuracy.unit].get("in", accuracy.unit)
    text = f"{format_bound(accuracy.within, whole=request.kind.name in COUNTS or unit == RANKS)} {unit}"
    if accuracy.meaning == Accuracy.meaning or unit == RANKS:
        return f"± {text}"
    return f"{text}: {accuracy.meaning[0].lower()}{accuracy.meaning[1:]}"
