"""The questions `count` and `histogram`: how many people or rows, in all, by items, by bins of numbers or of dates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.questions.edge_types import count_bins
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_unit

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


def count(request: Request) -> Question:
    """Estimate how many people there are, or rows, or different values; with --by, how many each group has.

    Where a person is in one group at most, --one-each makes the noise of all groups as small as that of one.
    """
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.people import choose_noise
    from lastbit.questions.reading import read_everybody
    from lastbit.questions.report import Report, format_bound, format_percent

    if request["different"] is not None:
        from lastbit.questions.different import count_different

        return count_different(request)
    if any(count_bins(edges) is not None for _, edges in request["edges"] or ()):
        from lastbit.questions.automatic_bins import AutomaticBins

        return AutomaticBins(request, count).ask()
    rows, items, most_rows, words = request.rows, request.items, request["most_rows"], request.words
    if items.by and not request["rows"] and most_rows is None:
        from lastbit.questions.discovery import count_items

        return count_items(request)
    if not items.by and (
        items.domain or items.discover or items.most_items or items.weights or items.bounds or request["delta"]
    ):
        raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
    if request.each_row and (request["rows"] or most_rows is not None):
        raise ParameterError("each row is one person with --unit row: leave --rows and --most-rows out.")
    if request.each_row and rows.sql is not None:
        raise ParameterError("count --unit row counts rows as they are: leave --sql out. --where says which.")
    if request["rows"] != (most_rows is not None):
        raise ParameterError(
            "--rows and --most-rows go together: how many rows of one person count says how far one person moves the "
            "number. Write --rows --most-rows 10."
        )
    if request["rows"] and items.by:
        from lastbit.questions.row_counts import count_rows_of_groups

        return count_rows_of_groups(request)
    if request["rows"]:
        return _count_rows(request)
    mechanism: Any = choose_noise(request.cost)
    level, within = format_percent(request.level), mechanism.accuracy(request.level)

    def report(release: lb.NoisyValues) -> Report:
        interval: Any = release.interval(request.level)
        value = release.columns()["value"]
        more = {"counted": "people", "interval": interval, "level": request.level}
        notes = [f"The interval holds with probability {level}."]
        frame = name_ends("", value, interval)
        data = release.to_dict() | more | frame
        return Report(
            release.title, {words.people: value, "interval": interval}, notes, data, (words.people,), frame=frame
        )

    sentence = (
        f"With probability {level} the count is off by at most {format_bound(within, whole=True)} {words.people}."
    )
    return Question(
        mechanism,
        reading=read_everybody(rows),
        report=report,
        sample=lambda units: samples.make_bin_counts(units, ["everyone"], monotone=True),
        accuracy=lambda units: Accuracy(within, words.people, sentence, total=Fraction(units)),
        notes=describe_unit(request),
    )


def _count_rows(request: Request) -> Question:
    """Return the question that counts rows, at most so many of each person, and the people who have more."""
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.people import PeopleParts, choose_noise, parse_share
    from lastbit.questions.reading import read_numbers_of_rows
    from lastbit.questions.report import Report, format_bound, format_percent
    from lastbit.questions.row_counts import describe_more_rows

    rows, most, words = request.rows, request["most_rows"], request.words
    people = PeopleParts(share=parse_share(request["people_share"]), clamped=True)

    def build(_: int, cost: Mapping[str, Any]) -> Any:
        return choose_noise(cost, sensitivity=most)

    level, within = format_percent(request.level), build(1, people.main_cost(request.cost)).accuracy(request.level)

    def arrange(numbers: Any) -> Any:
        return people.values(numbers, lambda _: numbers.keep_first(1).total(1))

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        interval: Any = reading.main.interval(request.level)
        value = reading.main.columns()["value"]
        notes = [f"The interval holds with probability {level}, for the {words.rows} counted."]
        more_rows = reading.clamped_ends["above"] if people.measured else None
        notes.append(describe_more_rows(words, most, level, more_rows))
        ends = [(low, None) for low, _ in [interval]]
        frame = {**name_ends("", value, ends), **name_ends("bounded_", value, [interval])}
        more = {"counted": "rows", "interval": [interval], "level": request.level, **reading.data}
        data = published.to_dict() | more | frame
        return Report(
            published.title, {f"{words.rows} counted": value, "interval": [interval]}, notes, data, frame=frame
        )

    text = format_bound(within, whole=True)
    sentence = f"With probability {level} the count is off by at most {text} {words.rows}, of the {words.rows} counted."
    return Question(
        people.mechanism(request.cost, build),
        reading=read_numbers_of_rows(rows, most).then(arrange),
        report=report,
        sample=lambda units: arrange(samples.make_numbers(units, ("0", str(most)), 1)),
        accuracy=lambda units: Accuracy(within, words.rows, sentence, total=Fraction(units)),
        notes=describe_unit(request),
    )


def histogram(request: Request) -> Question:
    """Count people by the items of a column (--by), or by bins of a column of numbers or dates (--of).

    With --by and a public domain all items are listed, and otherwise the common ones. With --of all bins are listed;
    a person counts in every bin that they have a row in, unless --most-items bounds that. --month date is --of date
    --every month. It is another word for count --by.
    """
    return count(request.canonical)
