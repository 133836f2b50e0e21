"""An accuracy as a price: `--within 15` buys the least cost at which an answer is so accurate. No row takes part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.exact.numbers import positive
from lastbit.output.numbers import format_digits
from lastbit.questions.question import Accuracy
from lastbit.questions.report import format_value

if TYPE_CHECKING:
    from lastbit.questions.request import Request

DIGITS: Final = 4
"""A price that an accuracy chooses has so many digits. It is rounded up, so that the accuracy is reached."""
UNITS: Final = 1000
"""How many people there are, where nobody guesses and nothing is spent."""
DEAREST: Final = 10
"""An accuracy buys no more than this unseen. At epsilon 10 an answer may be 22,026 times likelier for one person."""
CURRENCIES: Final = ("epsilon", "rho")
"""In what an accuracy is bought: a rho only where a question takes no epsilon alone."""


@dataclass(frozen=True)
class Purchase:
    """What an accuracy costs that chose the cost of a request, and what it promises."""

    sentence: str
    promise: str
    """How accurate the answer is, in the words of the plan."""


def find_price(within: str, accuracy_at: Callable[[Fraction], Accuracy]) -> Fraction:
    """Return the least price, rounded up to a few digits, at which an answer is as accurate as it should be.

    The accuracy is a number such as 50, or a share such as 2% of what `Accuracy.total` says.

    >>> find_price("2%", lambda price: Accuracy(3 / price, "people", "", total=Fraction(1000)))
    Fraction(3, 20)
    """
    from lastbit.estimate.accuracy import least_epsilon

    text = str(within).strip()
    target = positive(text.removesuffix("%"), "--within", "It is how far off an answer may be.")
    if text.endswith("%"):
        total = accuracy_at(Fraction(1)).total
        if total is None:
            raise ParameterError(f"--within must be a number here, without %: got {text}. Nobody knows what 100% is.")
        target = target * total / 100
    return least_epsilon(lambda price: accuracy_at(price).within <= target, digits=DIGITS)


def price_accuracy(request: Request, units: int) -> Request:
    """Return a request that names an accuracy at its price, for so many people; one that names its cost as it is.

    >>> from lastbit.questions.kinds import KINDS
    >>> count = KINDS["count"].parse({"source": "v.csv", "unit": "patient", "within": "2%"})
    >>> price_accuracy(count, 5000).purchase.sentence
    '--within 2% costs epsilon 0.02981. 2% is of 5,000 people, a guess: --people says how many there are.'
    """
    within = request.values.get("within")
    if within is None:
        return request
    request = request.change(within=None)
    currency = _choose_currency(request)
    price = find_price(within, lambda amount: request.change(**{currency: amount}).question.accuracy(units))
    request = request.change(**{currency: format_digits(price, DIGITS, "up")})
    sentences = [f"{_describe_price(request, within, currency)}.", *describe_percent(request, within, units)]
    return replace(request, purchase=Purchase(" ".join(sentences), request.question.accuracy(units).sentence))


def buy_accuracy(request: Request) -> Request:
    """Return the request at its price, for a release: of an accuracy that is known before the table is read.

    >>> from lastbit.questions.kinds import KINDS
    >>> count = KINDS["count"].parse({"source": "v.csv", "unit": "patient", "within": 15})
    >>> buy_accuracy(count)["epsilon"], buy_accuracy(count).purchase.promise
    ('0.193', 'With probability 95% the count is off by at most 15 people.')
    """
    within, guess = request.values.get("within"), request.values.get("people")
    if within is None:
        return request
    priced = price_accuracy(request, guess or UNITS)
    question = priced.question
    instead = question.accuracy(guess or UNITS).instead
    if instead:
        raise ParameterError(
            f"--within needs an accuracy that is known before the table is read, and here it is not. {instead} Nothing "
            "was read and nothing was charged."
        )
    of_people = within.endswith("%") and question.accuracy(1).total != question.accuracy(2).total
    if guess is None and (of_people or question.depends_on_units):
        raise ParameterError(
            f"--within {within} depends on how many {request.words.people} there are: type a public guess, as --people "
            "4000, or a cost, as --epsilon 1. Nothing was read and nothing was charged."
        )
    currency = "rho" if priced["epsilon"] is None else "epsilon"
    if Fraction(priced[currency]) > DEAREST:
        raise ParameterError(
            f"--within {within} would cost {currency} {priced[currency]}, and buys at most {DEAREST} unseen: so high a "
            f"cost hardly protects anybody. Wish for a wider interval, or type --{currency} {priced[currency]} to pay "
            "it. Nothing was read and nothing was charged."
        )
    return priced


def _describe_price(request: Request, within: str, currency: str) -> str:
    """Return what an accuracy costs; where a person is in several units, for a person, and what is typed for it."""
    price = f"{currency} {request[currency]}"
    if request.rows.most_units is None:
        return f"--within {within} costs {price}"
    return f"--within {within} is --{price}, and costs {request.question.mechanism.cost.text}"


def describe_percent(request: Request, within: str | None, units: int) -> list[str]:
    """Return what an accuracy in percent is a percentage of; nothing where it is a number.

    >>> from lastbit.questions.kinds import KINDS
    >>> describe_percent(KINDS["count"].parse_plan({"unit": "patient", "epsilon": 1}), "2%", 500)
    ['2% is of 500 people, a guess: --people says how many there are.']
    """
    total = request.question.accuracy(units).total
    if total is None or not str(within).strip().endswith("%"):
        return []
    whole, words, name = format_value(total, "up"), request.words, request.kind.name
    guess = "a guess: --people says how many there are"
    if request.values.get("different") is not None:
        of = f"the {whole} values that are listed"
    elif name == "share":
        of = f"{whole} percentage points, and not of the share"
    elif name == "mean":
        of = f"{whole}, which is how far the bounds are apart, and not of the mean"
    elif name == "sum" or request.values.get("weights"):
        of = f"{whole}, as far from 0 as a sum of {words.count(units)} can be, {guess}"
    else:
        of = f"{words.count(units)}, {guess}"
    return [f"{str(within).strip()} is of {of}."]


def _choose_currency(request: Request) -> str:
    """Return in what the accuracy of a request is bought; what is wrong with the request otherwise is said."""
    refusals: list[LastbitError] = []
    for currency in CURRENCIES:
        try:
            _ = request.change(**{currency: 1}).question
        except LastbitError as error:
            refusals.append(error)
        else:
            return currency
    raise refusals[0]
