"""A plan: what a release will cost and how accurate it will be, before a row is read and anything is spent.

The command `plan`, `--dry-run`, the page and the service show this, and compute nothing themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError, ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.answer import Payer
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.budget_words import describe_more
from lastbit.questions.rendering import describe_price, release_time, render_answer
from lastbit.questions.report import Report, account_data, account_line, format_value
from lastbit.questions.titles import title_of
from lastbit.questions.within import UNITS, price_accuracy

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry, Ledger
    from lastbit.questions.question import Accuracy
    from lastbit.questions.request import Request


@dataclass(frozen=True)
class Plan:
    """What a request will cost and how accurate it will be, against an account as it is now."""

    request: Request
    units: int
    account: Account | None
    after: Account | None
    refusal: str
    """Why the account does not allow it; "" where it does, or where nobody pays."""
    previous_entry: Entry | None
    """The entry that has answered this very question before."""

    @property
    def accuracy(self) -> Accuracy:
        """How accurate the release will be."""
        return self.request.question.accuracy(self.units)

    @property
    def title(self) -> str:
        """The title that the answer will have."""
        return title_of(self.request)

    @property
    def notes(self) -> list[str]:
        """The accuracy and the rules of reading, in sentences."""
        purchase = self.request.purchase
        bought = [] if purchase is None else [purchase.sentence]
        return self.request.spell([*bought, self.accuracy.sentence, *self.request.question.notes])

    @property
    def charge(self) -> Fraction | None:
        """What the account would pay; None where nobody pays, or the account refuses."""
        if self.account is None or self.refusal:
            return None
        return self.account.price(self.request.question.mechanism.cost, self.request.question.adjacency)

    @property
    def data(self) -> dict[str, Any]:
        """The plan for programs, with the same keys in every face."""
        mechanism, accuracy = self.request.question.mechanism, self.accuracy
        data: dict[str, Any] = {
            "dry_run": True,
            "question": self.request.kind.name,
            "mechanism": mechanism.name,
            "parameters": mechanism.parameters,
            "cost": mechanism.cost.text,
            "within": accuracy.within,
            "counts_in": accuracy.unit,
            "promise": " ".join(self.request.spell([accuracy.sentence])),
            "level": self.request.level,
            "notes": self.notes,
        }
        if self.request.question.plan_columns is not None:
            data["parts"] = dict(self.request.question.plan_columns)
        if self.request.question.depends_on_units:
            data["people"] = self.units
        data |= {name: text for name in ("epsilon", "rho") if (text := self.request[name]) is not None}
        if self.account is not None:
            data |= {"account": account_data(self.account), "charged": self.charge, "allowed": not self.refusal}
            data |= {"refusal": self.refusal, "left": self.account.left}
            data["left_after"] = None if self.after is None else self.after.left
        if self.previous_entry is not None:
            entry = {"entry": self.previous_entry.id, "released": release_time(self.previous_entry)}
            data["answered"] = entry
            if self.request.values.get("reuse"):
                data |= {"charged": Fraction(0), "reused": entry}
        return data

    @property
    def report(self) -> Report:
        """The plan for people: the parameters of the mechanism, the accuracy, and what the account has."""
        mechanism = self.request.question.mechanism
        notes = self.notes
        if self.account is not None:
            notes += [account_line(self.account), *describe_price(self.account, mechanism)]
            notes.append("The budget does not allow it." if self.refusal else "The budget allows it.")
            if self.after is not None:
                more = describe_more(self.after, mechanism.cost, self.request.question.adjacency)
                notes.append(f"After it: {more[0].lower()}{more[1:]}")
        if self.previous_entry is not None:
            when = release_time(self.previous_entry, "seconds")
            notes += self.request.spell([f"The books have this answer, of {when}: with --reuse it costs nothing."])
        columns: Mapping[str, Any] = self.request.question.plan_columns or {
            "parameter": list(mechanism.parameters),
            "value": list(mechanism.parameters.values()),
        }
        title = f"{self.title}: would cost {mechanism.cost.text}. No row was read and nothing was spent."
        return Report(title, columns, notes, self.data)

    def sample(self) -> AnswerView:
        """Release values that nobody has: public, drawn anew each time, and charged to nobody."""
        from lastbit.mechanisms.mechanism import resolve_draw

        question = self.request.question
        published = question.prepare(question.sample(self.units))(resolve_draw(None))
        return render_answer(self.request, None, published)


def make_plan(request: Request, *, units: int | None = None, ledger: Ledger | None = None) -> Plan:
    """Plan a request against the account that would pay, as it is now. `ledger` is its ledger, if that is open."""
    from lastbit.questions.rendering import check_presentation

    question = request.question  # refuses what cannot be asked, before a ledger is opened
    check_presentation(request)
    payer, after, refusal = Payer.of(request, ledger=ledger), None, ""
    account = None if payer is None else payer.account
    if account is not None:
        try:
            own = account.protecting(payer.identity.protects) if payer is not None else account
            after = own.charged(question.mechanism.cost, question.adjacency)
        except LedgerError as error:
            refusal = str(error)
    previous_entry = None if payer is None or question.reading is None else payer.find_answer(request)
    return Plan(request, UNITS if units is None else units, account, after, refusal, previous_entry)


def plan_accuracy(request: Request, ledger: Ledger | None = None) -> Plan:
    """Plan a request at its cost, or at the cost of the accuracy that it names: for as many people as somebody guesses.

    >>> from lastbit.questions.kinds import KINDS
    >>> plan_accuracy(KINDS["count"].parse_plan({"within": 20})).request["epsilon"]
    '0.1461'
    """
    units = request.values.get("people") or UNITS
    return make_plan(price_accuracy(request, units), units=units, ledger=ledger)


def format_accuracy(plan: Plan) -> str:
    """Return the accuracy of a plan as a person types it."""
    return format_value(plan.accuracy.within, "up").replace(",", "")


def describe_plan(plan: Plan) -> Mapping[str, Any]:
    """Return the plan of the service: its data, and the question as a command and in Python.

    A key of the service pays for a new release, whatever the books have: `charged` is what the release costs.
    """
    texts = {"command": plan.request.command, "python": plan.request.python}
    previous_entry = None if plan.previous_entry is None else plan.previous_entry.id
    return {**plan.data, "charged": plan.charge, "answered_by": previous_entry, **texts}


_MOST_ITEMS: Final = 2 * 10**6
"""A shape of more items takes longer to compare than a person waits."""


@dataclass(frozen=True)
class Selections:
    """How many of the k largest each way of selecting finds, for a shape of numbers that a person states."""

    sentence: str
    data: dict[str, Any]


def compare_selections(request: Request, largest: str) -> Selections:
    """Compare a ranked list with both forms of a set, where the i-th item has an i-th of the largest number."""
    import lastbit as lb
    from lastbit.estimate.finding import expected_found, zipf_counts

    items, k = request.items, request["k"]
    if not items.domain:
        raise ParameterError("--largest compares selections among listed items: pass --domain, or --items 1000.")
    if not k < items.size <= _MOST_ITEMS:
        raise ParameterError(
            f"--largest compares selections of k among more items than k, up to {_MOST_ITEMS:,}: got {k:,} of "
            f"{items.size:,}. Leave --largest out."
        )
    ((name, amount),) = request.cost.items()
    price = number(amount, name) / (2 if request.kind.name == "measure" else 1)  # half of it measures
    ranked: Any = lb.NoisyTopK
    cost = ranked(k=k, **{name: price}).cost
    comparison = expected_found(zipf_counts(items.size, largest), k, cost, **items.mechanism_parameters)
    ways = {"noise": comparison.noise, "both": comparison.both, "left-out": comparison.left_out}
    names = {"noise": "a ranked list", "both": "--set", "left-out": "--set --form left-out"}
    top = format_value(number(largest, "--largest"))
    sentence = (
        f"If the largest number is {top} and the others fall as 1/2, 1/3 and so on, then of the {k:,} largest items "
        + ", ".join(f"{names[way]} finds about {value:.1f}" for way, value in ways.items())
        + f": {names[comparison.best]} finds most. This is a guess from the numbers you typed."
    )
    return Selections(sentence, {"k": k, **ways, "best": comparison.best})
