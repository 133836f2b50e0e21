"""`--bounds auto` of sums and means: a share of the cost chooses the bounds, then the ordinary answer is clamped there.

The bounds are a published part. Whose numbers are clamped, who has more groups or rows than count, and the answer are
made of the bounds that were published. Each person counts once in the choice, by their number furthest from zero,
whatever groups they are in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import LaterPart, LaterValues, Parts
from lastbit.questions.group_numbers import GroupNumbers
from lastbit.questions.people import ANSWER, share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.report import format_percent, format_value

if TYPE_CHECKING:
    from lastbit.data.per_unit import Numbers
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

BOUNDS: Final = "bounds"
_FINE_STEP: Final = "1/1000"
"""The step of the list of bounds, where nobody says another."""
_LIKELY: Final = (Fraction(0), Fraction(1000))
"""The bounds that a plan speaks of: nobody knows yet which will be chosen."""

_MOST_APART: Final = 1000
"""A bound other than zero is at least this part of the other one, so that few steps of the noise reach both."""
_WIDEST: Final = (Fraction(-5000), Fraction(5000))
"""Bounds of the most steps that there may be: what is allowed for them is allowed for all."""

_CHOSEN: Final = ("bounds", "resolution")
"""The parameters of the answer that follow from the published bounds."""

Ends = tuple[Fraction, Fraction]


@dataclass(frozen=True, eq=False)
class AutomaticNumbers:
    """A sum or a mean with automatic bounds. Its parts are the bounds, and the answer for the published bounds."""

    request: Request
    rule: str
    """The rule that makes one number of the rows of a person in a group; "row" where each row is a number."""
    leads: str
    """What was asked for: "mean" or "sum"."""
    choices: tuple[Any, ...] | None = None
    """The list of bounds, where it is another than the usual one: for laws on small instances."""
    parts: int = _MOST_APART
    """So many steps of the noise are the power of ten of the larger bound; fewer on small instances."""

    @property
    def list_step(self) -> str:
        """The step of the list of bounds."""
        return self.request["resolution"] or _FINE_STEP

    @property
    def share(self) -> Fraction:
        """The share of the cost that chooses the bounds."""
        share = number(self.request["bounds_share"], "--bounds-share")
        if not 0 < share <= Fraction(1, 2):
            raise ParameterError(
                f"--bounds-share must be above 0 and at most 1/2, a share of the cost: got {share}. 1/4 is usual."
            )
        return share

    def with_bounds(self, bounds: Ends) -> GroupNumbers:
        """Return the question of the answer alone, for bounds that are known."""
        left = {name: str(amount) for name, amount in share_of(self.request.cost, 1 - self.share).items()}
        request = self.request.change(bounds=list(bounds), resolution=None, **left)
        return GroupNumbers(request, self.rule, self.leads, choose_noise_step(bounds, self.parts))

    @cached_property
    def mechanism(self) -> Parts:
        """The mechanism of both parts. That of the answer is built of the published bounds."""
        import lastbit as lb

        # Refuses a cost whose noise could not be drawn, before anything is charged.
        typical = self.with_bounds(_WIDEST).ask().mechanism
        cost: dict[str, Any] = share_of(self.request.cost, self.share)
        chooser = lb.AutomaticBounds(resolution=self.list_step, choices=self.choices, **cost)
        known = {name: text for name, text in typical.parameters.items() if name.rpartition(".")[2] not in _CHOSEN}
        facts = {**known, "bounds": "the published bounds"}

        def build(published: Mapping[str, Any]) -> Mechanism[Any]:
            return self.with_bounds(find_bounds(published)).ask().mechanism

        return Parts(parts={BOUNDS: chooser, ANSWER: LaterPart(typical.name, typical.cost, facts, build)})

    def arrange(self, numbers: Numbers) -> Mapping[str, Any]:
        """Return the private values of both parts, from numbers that no bound clamps yet."""
        from lastbit.values.grid_steps import GridSteps

        chooser: Any = self.mechanism.parts[BOUNDS]

        def answer(published: Any) -> Any:
            bounds = find_bounds(published)
            return self.with_bounds(bounds).arrange(numbers.clamp_to(bounds))

        steps = chooser.floor_steps(numbers.furthest, numbers.resolution, numbers.floored)
        return {BOUNDS: GridSteps(steps), ANSWER: LaterValues(answer)}

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions import samples

        request = self.request
        if request["missing"] not in ("leave-out", "show"):
            raise ParameterError("--bounds auto leaves missing numbers out: leave --missing out, or type the bounds.")
        likely = self.with_bounds(_LIKELY)
        question, low, high = likely.ask(), *map(format_value, _LIKELY)

        def accuracy(units: int) -> Accuracy:
            expected = likely.accuracy(units)
            promise = f"{expected.sentence[:1].lower()}{expected.sentence[1:]}"
            sentence = f"If the bounds come out as {low} and {high}, {promise}"
            return replace(expected, sentence=sentence, instead="Type --bounds LOW HIGH, or a cost, as --epsilon 1.")

        def sample(units: int) -> Mapping[str, Any]:
            made = samples.make_numbers(
                units, ("0", "1000"), self.list_step, groups=len(likely.names), apart=likely.is_apart
            )
            return self.arrange(replace(made, beyond=None, extremes=(made.steps, made.steps)))

        grouping = likely.grouping
        grouping.pop("most_items", None)
        reading = likely.read_with(None, resolution=self.list_step, ranked=True, extremes=True, **grouping)
        return Question(
            self.mechanism,
            reading=reading.then(self.arrange),
            report=self.report,
            sample=sample,
            accuracy=accuracy,
            notes=[*question.notes, *self.notes],
            depends_on_units=question.depends_on_units,
        )

    def report(self, published: Any) -> Report:
        """Describe a release: the answer for numbers clamped to the published bounds, and the bounds."""
        request, words, bounds = self.request, self.request.words, find_bounds(published)
        numbers = self.with_bounds(bounds)
        base = numbers.report(published[ANSWER])
        low, high = map(format_value, bounds)
        chooser: Any = self.mechanism.parts[BOUNDS]
        level, beyond = format_percent(request.level), chooser.accuracy(request.level)
        # A person with several numbers counts in the choice by one of them.
        which = "a number" if numbers.has_one_number else "their number furthest from 0"
        note = (
            f"The bounds {low} and {high} were chosen from a public list; with probability {level} at most {beyond:,} "
            f"{words.people} have {which} beyond either."
        )
        whole = published.to_dict()
        # Of the cost and the parts the whole speaks, of the numbers the answer.
        own = {name: value for name, value in base.data.items() if name in base.frame or name not in whole}
        data = {**whole, **own, "bounds": list(bounds)}
        return replace(base, title=published.title, notes=[*base.notes, note], data=data)

    @property
    def notes(self) -> list[str]:
        """How the bounds are chosen."""
        return [
            f"A share of {format_value(self.share)} of the cost chooses bounds for these numbers from a public list of "
            f"round numbers, in steps of {format_value(number(self.list_step, '--resolution'))}. Bounds that you know "
            "cost nothing."
        ]


def choose_noise_step(bounds: Ends, parts: int = _MOST_APART) -> Fraction:
    """Return the step of the noise: a part of the power of ten of the larger bound, a thousandth where nobody says.

    >>> choose_noise_step((Fraction(0), Fraction(50))), choose_noise_step((Fraction(-1, 50), Fraction(1, 100)))
    (Fraction(1, 100), Fraction(1, 100000))
    """
    largest, power = max(map(abs, bounds)), Fraction(1)
    while power > largest:
        power /= 10
    while power * 10 <= largest:
        power *= 10
    return power / parts


def widen(bounds: Ends) -> Ends:
    """Return bounds of the list on a common grid of few steps: one much nearer to zero than the other moves outwards.

    >>> widen((Fraction(-1, 1000), Fraction(2 * 10**12)))
    (Fraction(-2000000000, 1), Fraction(2000000000000, 1))
    >>> widen((Fraction(0), Fraction(50)))
    (Fraction(0, 1), Fraction(50, 1))
    """
    least = max(map(abs, bounds)) / _MOST_APART
    low, high = bounds
    return (min(low, -least) if low else low), (max(high, least) if high else high)


def find_bounds(published: Any) -> Ends:
    """Return the bounds that a release has, as the answer takes them."""
    return widen(published[BOUNDS].bounds)
