"""How the questions of a study share its budget: wished accuracies first, then by weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import number
from lastbit.privacy.zcdp import epsilon_for
from lastbit.questions.within import find_price

if TYPE_CHECKING:
    from lastbit.publication.rates import PublicRate
    from lastbit.questions.question import Accuracy
    from lastbit.questions.request import Request

_DIGITS: Final = 5
"""A price has so many digits, so that people can read it. It is rounded down."""
WISH_LEVEL: Final = "0.95"
"""The level of wished accuracies. That of [output] only shows answers: to change it must change no price."""


@dataclass(frozen=True)
class Budget:
    """What a whole study may cost, in one currency: an epsilon, or a rho with a delta for what nobody listed.

    An epsilon with a delta buys a rho, as an account of this limit allows: rho adds up far better over many questions.

    >>> Budget.of({"epsilon": 3}).text, Budget.of({"epsilon": 3, "delta": 1e-6}).currency
    ('epsilon 3', 'rho')
    """

    currency: str
    total: Fraction
    delta: Fraction
    """What may be spent on showing items that nobody listed."""
    text: str
    """The budget as it is typed."""

    @classmethod
    def of(cls, typed: Mapping[str, Any]) -> Budget:
        """Return the budget that a file declares."""
        from lastbit.ledger.account import Account

        account = Account.with_limit(
            "study", epsilon=typed.get("epsilon"), rho=typed.get("rho"), delta=typed.get("delta")
        )
        if account.rho_limit is None:
            return cls("epsilon", account.limit, Fraction(0), account.text)
        return cls("rho", account.rho_limit, account.delta_limit - account.delta_of_rho, account.text)


@dataclass(frozen=True)
class Wish:
    """A question without its price: how important it is, or how accurate it should be."""

    name: str
    request: Request
    weight: Fraction
    within: str | None = None
    """The accuracy that is wished for, such as 15 or 5%; None where the weight decides."""
    discovers: bool = False
    """Whether a part of the delta pays for showing items that nobody listed."""
    rate: PublicRate | None = None
    """The public numbers that the answer is divided by."""


@dataclass(frozen=True)
class Priced:
    """A question with its price."""

    wish: Wish
    price: Fraction
    """Its share of the budget, in the currency of the budget."""
    request: Request
    """The question at its price."""

    @property
    def name(self) -> str:
        """The name of the question."""
        return self.wish.name


def share_rest(budget: Budget, wishes: Sequence[Wish], prices: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """Return the price of every question: what the wished accuracies cost, and by weight what they leave."""
    left = budget.total - sum(prices.values(), Fraction(0))
    weighted = [wish for wish in wishes if wish.within is None]
    if left < 0 or (weighted and left == 0):
        dearest = max(prices, key=lambda name: prices[name])
        raise ParameterError(
            f"the wished accuracies cost more than the budget of {budget.text}: the dearest is {dearest!r}, which "
            f"takes {float(100 * prices[dearest] / budget.total):.0f}% of it. Wish for less there, or raise the budget."
        )
    total_weight = sum((wish.weight for wish in weighted), Fraction(0))
    shares = {wish.name: round_down(left * wish.weight / total_weight) for wish in weighted}
    return {**prices, **shares}


def share_delta(budget: Budget, wishes: Sequence[Wish]) -> dict[str, Fraction]:
    """Return the delta of each question that shows items which nobody listed: equal shares."""
    names = [wish.name for wish in wishes if wish.discovers]
    if names and not budget.delta:
        raise ParameterError(
            f"{names[0]!r} shows items that nobody listed, and a delta pays for that. Write delta = 1e-6 in [budget], "
            "or list the items in [columns]."
        )
    return {name: round_down(budget.delta / len(names)) for name in names}


def price_of_accuracy(budget: Budget, wish: Wish, delta: Fraction | None, people: int) -> Fraction:
    """Return the least price at which a question is as accurate as it should be."""
    return find_price(str(wish.within), lambda price: _accuracy_at(budget, wish, price, delta, people))


def _accuracy_at(budget: Budget, wish: Wish, price: Fraction, delta: Fraction | None, people: int) -> Accuracy:
    return at_price(budget, wish, price, delta, people).change(level=WISH_LEVEL).question.accuracy(people)


def at_price(budget: Budget, wish: Wish, price: Fraction, delta: Fraction | None, people: int) -> Request:
    """Return the question at a price: a rho buys Gaussian noise, or the epsilon that costs this rho, what is better.

    Where a person has several units, the price is of all of them, and what a question costs is of one.
    """
    question, size = wish.request.change(level=WISH_LEVEL), wish.request.rows.most_units or 1
    if size > 1 and delta is not None:
        raise ParameterError(
            "most_units goes with groups that are listed: the delta that shows others grows with every unit of a "
            "person. List the groups, or leave most_units out."
        )
    more = {} if delta is None else {"delta": delta}
    of_one = price / (size * size if budget.currency == "rho" else size)
    costs: list[dict[str, Fraction]] = [{budget.currency: of_one}]
    if budget.currency == "rho":
        costs.append({"epsilon": round_down(epsilon_for(price) / size, 10)})
    requests: list[tuple[Fraction, int, Request]] = []
    refusal: LastbitError | None = None
    for cost in costs:
        request = question.change(**{"epsilon": None, "rho": None, **cost, **more})
        try:
            if budget.currency == "rho" and request.question.mechanism.cost.rho > price:
                continue
            requests.append((request.question.accuracy(people).within, len(requests), request))
        except LastbitError as error:
            refusal = refusal or error
    if not requests:
        raise refusal or ParameterError(f"no noise is known that costs {budget.currency} {price}.")
    return min(requests, key=lambda entry: entry[:2])[2].change(level=wish.request.level)


def round_down(value: Fraction, digits: int = _DIGITS) -> Fraction:
    """Return a number of so many decimal digits that is not above this one.

    >>> round_down(Fraction(2, 3)), round_down(Fraction(12)), round_down(Fraction(1, 3000000))
    (Fraction(33333, 50000), Fraction(12, 1), Fraction(33333, 100000000000))
    """
    if value <= 0:
        return Fraction(0)
    unit = Fraction(1)
    while value / unit >= 10**digits:
        unit *= 10
    while value / unit < 10 ** (digits - 1):
        unit /= 10
    return (value / unit).__floor__() * unit


def parse_weight(weight: object) -> Fraction:
    """Return a weight, or refuse it.

    >>> parse_weight(2)
    Fraction(2, 1)
    """
    exact = number(weight, "weight")
    if exact <= 0:
        raise ParameterError(f"weight must be above 0: got {weight}. Leave a question out to give it nothing.")
    return exact
