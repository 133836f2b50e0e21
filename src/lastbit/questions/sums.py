"""Questions about one number of each person: `mean` and `sum`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.questions.automatic_bounds import ask_with_automatic_bounds
from lastbit.questions.group_numbers import GroupNumbers, parse_groups
from lastbit.questions.people import PeopleParts, PeopleReading, choose_noise, parse_share
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import count_rows_of, describe_numbers
from lastbit.questions.report import format_percent
from lastbit.questions.value_types import AUTO

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.data.per_unit import Numbers
    from lastbit.questions.reading import Reading
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


def choose_rule(request: Request, usual: str) -> str:
    """Return the rule that makes one number of the rows of a person: as it is said, or as the other options say."""
    most_rows = request["most_rows"]
    if request["rows"] and request["per"] not in (None, "row"):
        raise ParameterError(f"--rows is --per row: got --per {request['per']} too. Leave one of them out.")
    said = {"latest": request["latest_by"], "first": request["first_by"], "row": request["rows"] or most_rows}
    rule: str = request["per"] or next((name for name, value in said.items() if value), usual)
    for name in ("latest", "first"):
        if (rule == name) != (said[name] is not None):
            raise ParameterError(f"--per {name} and --{name}-by go together. Write --per {name} --{name}-by date.")
    if most_rows is not None and rule != "row":
        raise ParameterError("--most-rows goes with --per row: otherwise each person has one number anyway.")
    return rule


def canonicalize_rule(facts: dict[str, Any], usual: str = "mean") -> dict[str, Any]:
    """Return the facts with the rule that `choose_rule` takes, whether it was said or follows from the others.

    >>> canonicalize_rule({"latest_by": "date"}), canonicalize_rule({"per": "mean"}) == canonicalize_rule({})
    ({'per': 'latest', 'latest_by': 'date'}, True)
    """
    named = {"latest_by": "latest", "first_by": "first", "rows": "row", "most_rows": "row"}
    implied = next((rule for name, rule in named.items() if name in facts), usual)
    return {"per": implied, **{name: value for name, value in facts.items() if name != "rows"}}


def canonicalize_sum(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one name of a sum: by groups it publishes what a mean does, and is that question.

    >>> canonicalize_sum({}), canonicalize_sum({"by": ["region"]})
    (('sum', {'per': 'total'}), ('mean', {'per': 'total', 'by': ['region']}))
    """
    return "mean" if "by" in facts else "sum", canonicalize_rule(facts, "total")


def mean(request: Request) -> Question:
    """Estimate the mean of a number over all people who have it, how many people these are, and their total.

    A person with several rows has one number: the mean of their rows, unless --per says otherwise. With --by each group
    has its own mean, total and number of people, and a person has a number in each of their groups.
    """
    import lastbit as lb
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.published_groups import rename_ends
    from lastbit.questions.report import Report, format_bound, format_value

    rows, of, bounds, words = request.rows, request["of"], request["bounds"], request.words
    rule = choose_rule(request, "mean")
    if bounds == AUTO:
        return ask_with_automatic_bounds(request, rule)
    if parse_groups(request, rule).by:
        return GroupNumbers(request, rule, "mean").ask()
    most = _most_numbers_per_unit(request, rule)
    step = _choose_step(request, most)
    people = _choose_parts(request, rule)

    def build(_: int, cost: Mapping[str, Any]) -> lb.NoisyMean:
        return lb.NoisyMean(**cost, bounds=bounds, resolution=step, most_rows=most)

    mechanism = build(1, people.main_cost(request.cost))
    level, noun = format_percent(request.level), words.rows if rule == "row" else words.people

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        release: lb.MeanAndPeople = reading.main
        fewest, most_units = release.people_interval(request.level)
        assert fewest is not None and most_units is not None  # noqa: S101, PT018
        # A number of units is whole.
        intervals = [release.interval(request.level), (Fraction(ceil(fewest)), Fraction(floor(most_units)))]
        total = name_ends("", [release.total], [release.total_interval(request.level)])
        columns: dict[str, Any] = {
            f"mean of {of}": [release.mean],
            "interval": intervals[:1],
            f"{noun}{_counted_suffix(rule, rows.unit)}": [max(0, round(release.people))],
            f"interval of {noun}": intervals[1:],
            f"sum of {of}": [release.total],
            "interval of sums": [release.total_interval(request.level)],
        }
        note = f"All three intervals hold together with probability {level}, for numbers clamped to the bounds."
        # Decided from the published interval alone, so it costs nothing.
        nobody = [] if fewest > 0 else [f"Perhaps nobody has a number in {of}: this mean may be of nobody."]
        notes = [note, *nobody, *_describe_people(request, rule, reading)]
        more = {
            "of": of, "per": rule, "missing": request["missing"], "interval": intervals[:1],
            "people_interval": intervals[1:], "level": request.level,
        }  # fmt: skip
        (low, high), (fewest_units, most_units) = intervals
        frame: dict[str, list[Any]] = {"value": [release.mean], "low": [low], "high": [high]}
        frame |= {"people": [release.people], "people_low": [fewest_units], "people_high": [most_units]}
        frame |= rename_ends(total, "total")
        return Report(published.title, columns, notes, published.to_dict() | more | reading.data | frame, frame=frame)

    def accuracy(units: int) -> Accuracy:
        off, units_off = _mean_accuracy(mechanism, units, request.level)
        low, high = (Fraction(end) for end in mechanism.bounds)
        people = words.count_rows(units) if rule == "row" else words.count(units)
        sentence = (
            f"With probability {level} the mean of {people} is off by about {format_value(off)} at most where it is in "
            f"the middle of the bounds, by twice that at a bound, and the number of {noun} by at most "
            f"{format_bound(units_off, whole=True)}."
            if off < high - low
            else f"Nothing is known about the mean of {people}. Ask with more of them, or with a larger --epsilon."
        )
        return Accuracy(off, of, sentence, total=high - low)

    return Question(
        people.mechanism(request.cost, build),
        reading=_read_numbers(request, rule, people, lambda numbers: numbers.mean(step)),
        report=report,
        sample=lambda units: _arrange(
            people, samples.make_numbers(units, bounds, step, most), lambda numbers: numbers.mean(step)
        ),
        accuracy=accuracy,
        notes=describe_numbers(request, rule),
        depends_on_units=True,
    )


def _mean_accuracy(mechanism: Any, units: int, level: str) -> tuple[Fraction, Fraction]:
    """Return how far the mean of so many units is off at most, in the middle of the bounds, and the number of units."""
    from lastbit.estimate.accuracy import laplace_accuracy
    from lastbit.exact.numbers import probability

    low, high = (Fraction(end) for end in mechanism.bounds)
    half, noise = (high - low) / 2, laplace_accuracy(mechanism.rate, (1 + probability(level, "level")) / 2)
    reach, seen = noise * mechanism.grid.resolution, units * half
    return half * reach / (seen - reach) if seen > reach else high - low, reach / half


def sum_(request: Request) -> Question:
    """Estimate the sum of a number over all people.

    A person with several rows has one number: the total of their rows, unless --per says otherwise. With --by each
    group has its own sum, mean and number of people, and a person has a number in each of their groups.
    """
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.report import Report, format_bound
    from lastbit.values.bounds import parse_bounds

    of, bounds = request["of"], request["bounds"]
    rule = choose_rule(request, "total")
    if bounds == AUTO:
        return ask_with_automatic_bounds(request, rule)
    if parse_groups(request, rule).by:
        return GroupNumbers(request, rule, "sum").ask()
    most = _most_numbers_per_unit(request, rule)
    step = _choose_step(request, most)
    low, high = parse_bounds(bounds)
    furthest = most * max(abs(low), abs(high))
    people = _choose_parts(request, rule)

    def build(_: int, cost: Mapping[str, Any]) -> Any:
        return choose_noise(cost, sensitivity=furthest, resolution=step)

    mechanism = build(1, people.main_cost(request.cost))
    level = format_percent(request.level)

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        release: lb.NoisyValues = reading.main
        interval: Any = release.interval(request.level)
        # A sum that was floored is too low by half of that on average.
        estimate = release.values[0] + (0 if release.on_grid else release.above * release.resolution / 2)
        columns = {f"sum of {of}": [estimate], "interval": [interval]}
        note = f"The interval holds with probability {level}, for numbers clamped to the bounds."
        notes = [note, *_describe_people(request, rule, reading)]
        more = {
            "of": of, "per": rule, "missing": request["missing"], "estimate": [estimate], "interval": [interval],
            "level": request.level,
        }  # fmt: skip
        frame = {
            **name_ends("", [estimate], [interval]),
            **name_ends("bounded_", release.columns()["value"], [interval]),
        }
        return Report(published.title, columns, notes, published.to_dict() | more | reading.data | frame, frame=frame)

    # The sum may have been floored by less than a step.
    within = mechanism.accuracy(request.level) + mechanism.grid.resolution
    sentence = (
        f"With probability {level} the sum is off by at most {format_bound(within, whole=False)}, for numbers clamped "
        "to the bounds."
    )
    return Question(
        people.mechanism(request.cost, build),
        reading=_read_numbers(request, rule, people, lambda numbers: numbers.total(step)),
        report=report,
        sample=lambda units: _arrange(
            people, samples.make_numbers(units, bounds, step, most), lambda numbers: numbers.total(step)
        ),
        accuracy=lambda units: Accuracy(within, of, sentence, total=units * furthest),
        notes=describe_numbers(request, rule),
    )


def _choose_step(request: Request, most: int) -> Any:
    """Return the step of the noise: as it is said, or as the bounds say."""
    from lastbit.mechanisms.grid_mechanism import MOST_STEPS
    from lastbit.values.bounds import default_step, parse_bounds

    if request["resolution"] is not None:
        return request["resolution"]
    bounds = request["bounds"]
    step, (low, high) = default_step(bounds), parse_bounds(bounds)
    # A mean takes half steps.
    if 2 * most * max(high - low, abs(low), abs(high)) > step * MOST_STEPS:
        raise ParameterError(
            f"--bounds must have fewer digits: on a step that both of {bounds[0]} and {bounds[1]} are on, one person "
            "moves the result by too many steps. Round the bounds outwards, such as --bounds 0 1e15 instead of 1 1e15."
        )
    return step


def _most_numbers_per_unit(request: Request, rule: str) -> int:
    """Return how many numbers one person has at most."""
    most_rows: int | None = request["most_rows"]
    if rule != "row" or request.rows.unit is None:
        if most_rows is not None:
            raise ParameterError("--most-rows needs --unit, the column that says whom a row belongs to.")
        return 1
    if most_rows is None:
        raise ParameterError(
            "--per row needs --most-rows, the number of rows of one person that count: otherwise nobody knows how far "
            "one person moves the result. Write --most-rows 10, or --per mean."
        )
    return most_rows


def _choose_parts(request: Request, rule: str) -> PeopleParts:
    """Return what is measured about people: whose numbers are clamped, and who has more rows than count."""
    most = request["most_rows"] if rule == "row" and request.rows.unit is not None else None
    return PeopleParts(most, None, parse_share(request["people_share"]), clamped=True)


def _read_numbers(request: Request, rule: str, people: PeopleParts, main: Callable[[Numbers], Any]) -> Reading[Any]:
    """Return the reading of the values of all parts; `main` makes those of the answer."""
    from lastbit.questions.reading import NUMBER_OPTIONS, read_numbers

    options = {name: request[name] for name in NUMBER_OPTIONS}
    ranked = bool(people.measured)
    reading = read_numbers(request.rows, request["of"], request["bounds"], per=rule, **options, ranked=ranked)
    return reading.then(lambda numbers: _arrange(people, numbers, main))


def _arrange(people: PeopleParts, numbers: Numbers, main: Callable[[Numbers], Any]) -> Any:
    """Return the values of all parts."""
    if not people.measured:
        return main(numbers if numbers.ranks is None else numbers.keep_first(1))  # a sample has ranks
    return people.values(numbers, lambda most: main(numbers.keep_first(most)))


def _counted_suffix(rule: str, unit: str | None) -> str:
    """Return what is said behind rows of which some may be left out."""
    return " counted" if rule == "row" and unit is not None else ""


def _describe_people(request: Request, rule: str, reading: PeopleReading) -> list[str]:
    """Return how many people are clamped, and how many have more rows than count."""
    words = request.words
    notes = reading.describe_clamping(request["of"], request["bounds"], words)
    if not reading.knows_cut:
        return notes
    value, low, high = reading.cut
    most = count_rows_of(words, request["most_rows"])
    return [
        *notes,
        f"At most {most}, picked at random: {words.count(max(0, value))} ({low:,} to {high:,} with probability "
        f"{format_percent(request.level)}) have more, so that the answer is about the {words.rows} counted.",
    ]
