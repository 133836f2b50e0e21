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
    from lastbit.data.numbers import Numbers
    from lastbit.mechanisms.automatic_bounds import AutomaticBounds
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

BOUNDS: Final = "bounds"
FINE_STEP: Final = "1/1000"
"""The step of the list of bounds, where nobody says another."""
LIKELY: Final = (Fraction(0), Fraction(1000))
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
        return self.request["resolution"] or FINE_STEP

    @property
    def share(self) -> Fraction:
        """The share of the cost that chooses the bounds."""
        return parse_bounds_share(self.request)

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
        chooser = lb.AutomaticBounds(
            resolution=self.list_step, choices=self.choices, furthest=find_furthest(self.list_step), **cost
        )
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

        steps = chooser.round_steps(numbers.furthest, numbers.resolution, numbers.floored)
        return {BOUNDS: GridSteps(steps), ANSWER: LaterValues(answer)}

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions import samples

        request = self.request
        if request["missing"] not in ("leave-out", "show"):
            raise ParameterError("--bounds auto leaves missing numbers out: leave --missing out, or type the bounds.")
        likely = self.with_bounds(LIKELY)
        question = likely.ask()

        def accuracy(units: int) -> Accuracy:
            return suppose(LIKELY, likely.accuracy(units))

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
        request, bounds = self.request, find_bounds(published)
        numbers = self.with_bounds(bounds)
        base = numbers.report(published[ANSWER])
        chooser: Any = self.mechanism.parts[BOUNDS]
        note = describe_ends(chooser, bounds, request, one_number=numbers.has_one_number)
        data = {**join_data(published, base), "bounds": list(bounds)}
        return replace(base, title=published.title, notes=[*base.notes, note], data=data)

    @property
    def notes(self) -> list[str]:
        """How the bounds are chosen."""
        return [describe_choice(self.share, number(self.list_step, "--resolution"))]


def parse_bounds_share(request: Request) -> Fraction:
    """Return the share of the cost that chooses the bounds, or refuse it."""
    share = number(request["bounds_share"], "--bounds-share")
    if not 0 < share <= Fraction(1, 2):
        raise ParameterError(
            f"--bounds-share must be above 0 and at most 1/2, a share of the cost: got {share}. 1/4 is usual."
        )
    return share


def find_furthest(step: Any, most: Fraction | None = None) -> Fraction:
    """Return the last number of the list of bounds: so far that a number beyond it is read as one beyond it.

    >>> float(find_furthest("1/1000")), float(find_furthest(1)), float(find_furthest(1, Fraction(60)))
    (2000000000000.0, 1000000000000000.0, 50.0)
    """
    from lastbit.data.number_grid import unbounded_weights

    weights, power = unbounded_weights(step), number(step, "--resolution")
    reach = (weights.high - 1) * weights.grid.resolution
    reach = reach if most is None else min(most, reach)
    while power * 10 <= reach:
        power *= 10
    return max(times * power for times in (1, 2, 5) if times == 1 or times * power <= reach)


def describe_choice(share: Fraction, step: Fraction) -> str:
    """Return how bounds are chosen.

    >>> describe_choice(Fraction(1, 4), Fraction(1))
    'A share of 0.25 of the cost chooses bounds for these numbers from a public list of round numbers, in steps of 1. \
Bounds that you know cost nothing.'
    """
    return (
        f"A share of {format_value(share)} of the cost chooses bounds for these numbers from a public list of round "
        f"numbers, in steps of {format_value(step)}. Bounds that you know cost nothing."
    )


def describe_ends(chooser: AutomaticBounds, bounds: Ends, request: Request, *, one_number: bool) -> str:
    """Return which bounds were chosen, and how many people are beyond them at most.

    At the end of the list nobody knows that. A person with several numbers counts in the choice by one of them.
    """
    low, high = map(format_value, bounds)
    chosen = f"The bounds {low} and {high} were chosen from a public list"
    if chooser.is_last(bounds):
        return f"{chosen}, which ends there: any number of {request.words.people} may be beyond."
    level, beyond = format_percent(request.level), chooser.accuracy(request.level)
    which = "a number" if one_number else "their number furthest from 0"
    who = f"{request.words.count(beyond)} {'has' if beyond == 1 else 'have'}"
    return f"{chosen}; with probability {level} at most {who} {which} beyond either."


def join_data(published: Any, report: Report) -> dict[str, Any]:
    """Return the data of an answer: of the cost and the parts the whole speaks, of the numbers the report of the last.

    A column of groups may have any name, such as cost.
    """
    whole = published.to_dict()
    numbers = report.frame.keys() - report.data.get("groups", {}).keys()
    return {**whole, **{name: value for name, value in report.data.items() if name in numbers or name not in whole}}


def suppose(bounds: Ends, expected: Accuracy, more: str = "", known: str = "--bounds LOW HIGH") -> Accuracy:
    """Return an accuracy as a plan states it, where nobody knows yet which bounds will be chosen.

    known: the option that states bounds which somebody knows.
    """
    low, high = map(format_value, bounds)
    promise = f"{more}{expected.sentence[:1].lower()}{expected.sentence[1:]}"
    sentence = f"If the bounds come out as {low} and {high}, {promise}"
    return replace(expected, sentence=sentence, instead=f"Type {known}, or a cost, as --epsilon 1.")


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
