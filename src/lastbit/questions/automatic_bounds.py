"""`--bounds auto` of sums and means: a share of the cost chooses the bounds, then the ordinary answer is clamped there.

The bounds are a published part. Whose numbers are clamped, and the answer, are made of the bounds that were published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.estimate.people import noise_of_sum
from lastbit.exact.numbers import number, probability
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import LaterPart, LaterValues, Parts
from lastbit.questions.people import ANSWER, CLAMPED, PeopleParts, choose_noise, parse_share, share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_numbers
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

_UNSURE: Final = Fraction(1, 1 << 40)
"""The number of people that a floored sum is of is above the published one, with its noise, so seldom."""

Ends = tuple[Fraction, Fraction]


def ask_with_automatic_bounds(request: Request, rule: str) -> Question:
    """Return the question for a sum or a mean whose bounds are chosen first."""
    from lastbit.questions import samples
    from lastbit.questions.reading import NUMBER_OPTIONS, read_numbers

    if rule == "row" or request["by"]:
        raise ParameterError(
            "--bounds auto is for one number of each person, of all people: leave --by, --rows and --per row out, or "
            "type the bounds. Nothing was read."
        )
    if request["missing"] != "leave-out":
        raise ParameterError("--bounds auto leaves missing numbers out: leave --missing out, or type the bounds.")
    auto = AutomaticNumbers(request)
    options = {name: request[name] for name in NUMBER_OPTIONS}
    reading = read_numbers(request.rows, request["of"], None, per=rule, **options, resolution=auto.list_step)
    likely = auto.with_bounds(_LIKELY).question

    def accuracy(units: int) -> Accuracy:
        expected = likely.accuracy(units)
        low, high = map(format_value, _LIKELY)
        promise = f"{expected.sentence[:1].lower()}{expected.sentence[1:]}"
        return replace(expected, sentence=f"If the bounds come out as {low} and {high}, {promise}")

    return Question(
        auto.mechanism,
        reading=reading.then(auto.arrange),
        report=auto.report,
        sample=lambda units: auto.arrange(samples.make_numbers(units, ("0", "1000"), auto.list_step).keep_first(1)),
        accuracy=accuracy,
        notes=[*describe_numbers(request, rule), *auto.notes],
        depends_on_units=likely.depends_on_units,
    )


@dataclass(frozen=True, eq=False)
class AutomaticNumbers:
    """The parts of a sum or a mean with automatic bounds: the bounds, whose numbers are clamped, and the answer."""

    request: Request
    choices: tuple[Any, ...] | None = None
    """The list of bounds, where it is another than the usual one: for laws on small instances."""
    parts: int = _MOST_APART
    """So many steps of the noise are the power of ten of the larger bound; fewer on small instances."""

    @property
    def list_step(self) -> str:
        """The step of the list of bounds."""
        return self.request["resolution"] or _FINE_STEP

    @property
    def _people(self) -> PeopleParts:
        return PeopleParts(share=parse_share(self.request["people_share"]), clamped=True)

    @property
    def costs(self) -> dict[str, dict[str, Any]]:
        """The cost of each part."""
        share, clamped = number(self.request["bounds_share"], "--bounds-share"), self._people.share
        if not 0 < share <= Fraction(1, 2):
            raise ParameterError(
                f"--bounds-share must be above 0 and at most 1/2, a share of the cost: got {share}. 1/4 is usual."
            )
        shares = {BOUNDS: share, **({CLAMPED: clamped} if clamped else {}), ANSWER: 1 - share - clamped}
        return {name: share_of(self.request.cost, part) for name, part in shares.items()}

    def with_bounds(self, bounds: Ends) -> Request:
        """Return the request of the answer alone, for bounds that are known."""
        step = choose_noise_step(bounds, self.parts)
        return self.request.change(bounds=list(bounds), people_share="0", resolution=step, **self.costs[ANSWER])

    @property
    def mechanism(self) -> Parts:
        """The mechanism of all parts. That of the answer is built of the published bounds."""
        import lastbit as lb

        costs = self.costs
        # Refuses a cost whose noise could not be drawn, before anything is charged.
        typical = self.with_bounds(_WIDEST).question.mechanism
        chooser = lb.AutomaticBounds(resolution=self.list_step, choices=self.choices, **costs[BOUNDS])
        parts: dict[str, Mechanism[Any] | LaterPart] = {BOUNDS: chooser}
        if CLAMPED in costs:
            parts[CLAMPED] = choose_noise(costs[CLAMPED])
        facts = {**share_text(costs[ANSWER]), "bounds": "the published bounds"}

        def build(published: Mapping[str, Any]) -> Mechanism[Any]:
            return self.with_bounds(_find_bounds(published)).question.mechanism

        parts[ANSWER] = LaterPart(typical.name, typical.cost, facts, build)
        return Parts(parts=parts)

    def arrange(self, numbers: Numbers) -> Mapping[str, Any]:
        """Return the private values of all parts, from numbers that no bound clamps yet."""
        from lastbit.values.grid_steps import GridSteps

        chooser: Any = self.mechanism.parts[BOUNDS]

        def answer(published: Any) -> Any:
            bounds = _find_bounds(published)
            clamped, step = numbers.clamp_to(bounds), choose_noise_step(bounds, self.parts)
            if self.request.kind.name == "mean":
                return clamped.mean(step)
            total, above = clamped.total(step), self._steps_above(published, numbers.floored, step)
            return replace(total, above=above) if total.above and above is not None else total

        values: dict[str, Any] = {
            BOUNDS: GridSteps(chooser.floor_steps(numbers.steps, numbers.resolution, numbers.floored)),
            CLAMPED: LaterValues(lambda published: numbers.count_beyond(_find_bounds(published))),
            ANSWER: LaterValues(answer),
        }
        return {name: values[name] for name in self.costs}

    def _steps_above(self, published: Any, floored: Fraction, step: Fraction) -> int | None:
        """Return how many steps a sum may lie above its floor, as so many people are floored: the published number."""
        if CLAMPED not in self.costs:
            return None
        part = published[CLAMPED]
        people = sum(map(int, part.steps)) + noise_of_sum(part.noise, part.rate, len(part.steps), _UNSURE)
        return ceil(max(0, people) * floored / step) + 1

    def report(self, published: Any) -> Report:
        """Describe a release: the answer for numbers clamped to the published bounds, the bounds, who is clamped."""
        request, words, bounds = self.request, self.request.words, _find_bounds(published)
        surely = probability(request.level, "level") * (1 - 2 * _UNSURE) + 2 * _UNSURE
        base = self.with_bounds(bounds).change(level=surely).question.report(published.main)
        low, high = texts = (format_value(bounds[0]), format_value(bounds[1]))
        reading = self._people.read(published, request.level)
        chooser: Any = self.mechanism.parts[BOUNDS]
        level, beyond = format_percent(request.level), chooser.accuracy(request.level)
        notes = [
            *(note.replace(format_percent(surely), level) for note in base.notes),
            f"The bounds {low} and {high} were chosen from a public list; with probability {level} at most {beyond:,} "
            f"{words.people} have a number beyond either.",
            *reading.describe_clamping(request["of"], texts, words),
        ]
        data = {**base.data, **published.to_dict(), "bounds": list(bounds), **reading.data}
        own = {name: base.data[name] for name in ("of", "per", "missing", "interval", *base.frame)}
        own["level"] = request.level
        return replace(base, title=published.title, notes=notes, data=data | own)

    @property
    def notes(self) -> list[str]:
        """How the bounds are chosen."""
        share = format_value(number(self.request["bounds_share"], "--bounds-share"))
        return [
            f"A share of {share} of the cost chooses bounds for these numbers from a public list of round numbers, in "
            f"steps of {format_value(number(self.list_step, '--resolution'))}. Bounds that you know cost nothing."
        ]


def share_text(cost: Mapping[str, Any]) -> dict[str, str]:
    """Return a cost as the parameters of a mechanism have it.

    >>> share_text({"epsilon": Fraction(1, 2)})
    {'epsilon': '1/2'}
    """
    return {name: str(amount) for name, amount in cost.items()}


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


def _find_bounds(published: Any) -> Ends:
    return widen(published[BOUNDS].bounds)
