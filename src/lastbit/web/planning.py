"""A plan: what a release will cost and how accurate it will be, with a sample on made-up values. Nothing is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError, ParameterError
from lastbit.estimate.accuracy import least_epsilon
from lastbit.exact.numbers import number, positive
from lastbit.mechanisms.mechanism import chance
from lastbit.questions.answering import COUNTED, Book
from lastbit.questions.kinds import Built
from lastbit.questions.showing import shown
from lastbit.questions.telling import Told, told

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.web.desk import Desk

MOST_UNITS: Final = 10**9
_DIGITS: Final = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
STOPS: Final = tuple(f"{Fraction(str(digit)) * Fraction(10) ** power}" for power in (-2, -1, 0) for digit in _DIGITS)
"""The epsilons that the slider stops at, from 1/100 to 8."""


@dataclass(frozen=True)
class Plan:
    """A plan, and everything that the page shows of it."""

    built: Built
    epsilon: str
    units: int
    account: Account
    after: Account | None
    refusal: str
    """Why the account does not allow it; "" where it does."""
    answered: Entry | None
    """The entry that has answered this very question before."""

    @property
    def within(self) -> Fraction | None:
        """The accuracy as a number."""
        return self.built.question.accuracy(self.units)

    @property
    def within_text(self) -> str:
        """The accuracy as a person types it."""
        return "" if self.within is None else shown(self.within, "up").replace(",", "")

    @property
    def stop(self) -> int:
        """The place of the slider that is nearest to the epsilon."""
        exact = number(self.epsilon, "epsilon")
        return min(range(len(STOPS)), key=lambda place: abs(Fraction(STOPS[place]) - exact) / Fraction(STOPS[place]))

    def sample(self) -> Told:
        """A release of made-up values: public, drawn anew each time, and charged to nobody."""
        question = self.built.question
        published = question.ready(question.made_up(self.units))(chance(None))
        return told(question, self.built.spending, None, published)


def plan_of(desk: Desk, values: Mapping[str, str]) -> Plan:
    """The plan of a form: from its epsilon, from a stop of the slider, or from the accuracy that it asks for."""
    units = units_of(values.get("units", ""))
    epsilon = values.get("epsilon", "").strip() or "1"
    if values.get("from") == "stop":
        epsilon = STOPS[_place(values.get("stop", ""), len(STOPS))]
    if values.get("from") in ("within", "drag"):
        epsilon = least(lambda each: desk.build(values, each), values.get(values["from"], ""), units)
    built = desk.build(values, epsilon)
    return planned(desk, built, epsilon, units)


def planned(desk: Desk, built: Built, epsilon: str, units: int) -> Plan:
    """The plan of a question, against the account as it is now."""
    account, after, refusal = desk.account, None, ""
    try:
        after = account.charged(built.question.mechanism.cost, COUNTED)
    except LedgerError as error:
        refusal = str(error)
    book = Book.of(built.spending)
    return Plan(built, epsilon, units, account, after, refusal, None if book is None else book.found(built.question))


def least(build: Callable[[str], Built], within: str, units: int) -> str:
    """The least epsilon, to three digits, at which a question has this accuracy."""
    wish = positive(within, "accuracy", "It is how far off the answer may be.")

    def enough(epsilon: Fraction) -> bool:
        found = build(str(epsilon)).question.accuracy(units)
        return found is not None and found <= wish

    return str(least_epsilon(enough, digits=3))


def units_of(text: str) -> int:
    """A guess how many people there are."""
    text = text.strip().replace(",", "") or "1000"
    if not text.isascii() or not text.isdigit() or len(text) > 12 or not 1 <= int(text) <= MOST_UNITS:
        raise ParameterError(f"A guess how many people there are must be a whole number up to {MOST_UNITS:,}.")
    return int(text)


def _place(text: str, most: int) -> int:
    return min(int(text), most - 1) if text.isascii() and text.isdigit() and len(text) < 4 else most // 2


def ladder(plan: Plan) -> dict[str, Any]:
    """The slider of the accuracy: from a third of what it is to three times."""
    within = plan.within
    if not within:
        return {}
    return {"low": _typed(within / 4), "high": _typed(within * 4), "now": _typed(within), "step": _typed(within / 20)}


def _typed(value: Fraction) -> str:
    return f"{float(value):.4g}" if float(value) < 1e15 else f"{float(value):e}"
