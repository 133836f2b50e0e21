"""The questions `count` and `histogram`: how many people or rows, in all, by items, by bins of numbers or of dates."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.output.words import plural
from lastbit.questions.discovery import count_items
from lastbit.questions.question import Accuracy, Question

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request
    from lastbit.questions.row_options import RowOptions


def count(request: Request) -> Question:
    """Estimate how many people there are, or how many rows; with --by, how many people each group has.

    Where a person is in one group at most, --one-each makes the noise of all groups as small as that of one.
    """
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.people import choose_noise
    from lastbit.questions.reading import read_everybody
    from lastbit.questions.report import Report, format_bound, format_percent

    rows, items, most_rows, words = request.rows, request.items, request["most_rows"], request.words
    if items.by:
        if request["rows"] or most_rows is not None:
            raise ParameterError("--rows counts the rows of the whole table: leave --rows, --most-rows or --by out.")
        return count_items(request)
    if items.domain or items.most_items or items.weights or items.bounds or request["delta"]:
        raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
    if rows.unit is None:
        raise ParameterError(
            "count needs --unit, the column that says whom a row belongs to. To protect single rows only, name a "
            "column that is different in every row."
        )
    if request["rows"] != (most_rows is not None):
        raise ParameterError(
            "--rows and --most-rows go together: how many rows of one person count says how far one person moves the "
            "number. Write --rows --most-rows 10."
        )
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
        notes=[f"Rows without {rows.unit} are left out."],
    )


def _count_rows(request: Request) -> Question:
    """Return the question that counts rows, at most so many of each person, and the people who have more."""
    from lastbit.questions import samples
    from lastbit.questions.groups import name_ends
    from lastbit.questions.people import PeopleParts, choose_noise, parse_share
    from lastbit.questions.reading import read_numbers_of_rows
    from lastbit.questions.report import Report, format_bound, format_percent

    rows, most, words = request.rows, request["most_rows"], request.words
    people = PeopleParts(share=parse_share(request["people_share"]), clamped=True)

    def build(_: int, cost: Mapping[str, Any]) -> Any:
        return choose_noise(cost, sensitivity=most)

    level, within = format_percent(request.level), build(1, people.main_cost(request.cost)).accuracy(request.level)
    of_each = f"Of each {words.person} at most {plural(most, f'{words.row} counts', f'{words.rows} count')}"

    def arrange(numbers: Any) -> Any:
        return people.values(numbers, lambda _: numbers.keep_first(1).total(1))

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        interval: Any = reading.main.interval(request.level)
        value = reading.main.columns()["value"]
        notes = [f"The interval holds with probability {level}, for the {words.rows} counted."]
        if people.measured:
            cut, fewest, highest = reading.clamped_ends["above"]
            notes.append(
                f"{of_each}: {words.count(max(0, cut))} ({fewest:,} to {highest:,} with probability {level}) have "
                f"more, so that there may be more {words.rows} than were counted."
            )
        else:
            notes.append(f"{of_each}: there may be more {words.rows} than were counted.")
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
        notes=[f"Rows without {rows.unit} are left out."],
    )


def histogram(request: Request) -> Question:
    """Count people by the items of a column (--by), or by bins of a column of numbers or dates (--of).

    With --by and a public domain all items are listed, and otherwise the common ones. With --of all bins are listed;
    a person counts in every bin that they have a row in, unless --most-items bounds that. --month date is --of date
    --every month.
    """
    items, rows, of, every = request.items, request.rows, request["of"], request["every"]
    if not items.by:
        rows, of, every = _find_dates(request)
    bins, edges = request["bins"], request["edges"]
    if of is None:
        if bins is not None or edges is not None or every is not None:
            raise ParameterError("bins need a column of numbers or dates: name it with --of COLUMN.")
        if not items.by:
            raise ParameterError("histogram needs --by COLUMN for items, or --of COLUMN for bins of numbers or dates.")
        return count_items(request)
    if items.by or items.domain or items.weights or request["delta"]:
        raise ParameterError("--of takes the place of --by, --domain, --weights and --delta: all bins are public.")
    return _count_bins(request, rows, of, every)


def _find_dates(request: Request) -> tuple[RowOptions, str | None, str | None]:
    """Return the column of dates that --day, --week, --month or --year names, where it is the one to count by."""
    rows, of, every = request.rows, request["of"], request["every"]
    periods = {period: column for period, column in rows.periods.items() if of in (None, column)}
    if not periods:
        return rows, of, every
    if len(periods) > 1 or every is not None:
        raise ParameterError("a histogram is by one of days, weeks, months and years. Leave the others out.")
    ((period, column),) = periods.items()
    # Read as it is: the bins need the day.
    return rows.without(period), column, period


def canonicalize_histogram(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one name of a histogram: by items it is a count, and --month date is --of date --every month.

    >>> canonicalize_histogram({"month": "date", "bounds": ["2024-01", "2024-12"]})
    ('histogram', {'bounds': ['2024-01', '2024-12'], 'of': 'date', 'every': 'month'})
    >>> canonicalize_histogram({"by": ["diagnosis"]})
    ('count', {'by': ['diagnosis']})
    """
    if "by" in facts:
        return "count", facts
    facts = dict(facts)
    for period in ("day", "week", "month", "year"):
        if period in facts and facts.get("of") in (None, facts[period]) and "every" not in facts:
            facts["of"] = facts.pop(period)
            facts["every"] = period
            break
    return "histogram", facts


def _build_bins(request: Request, every: str | None) -> Any:
    """Return the bins that the options ask for."""
    from lastbit.data.duckdb.bins import Periods
    from lastbit.values.bins import Bins

    bounds, bins, edges = request["bounds"], request["bins"], request["edges"]
    if every is not None:
        if bounds is None or bins is not None or edges is not None:
            raise ParameterError(
                "bins of dates need --bounds with the first and the last day, and neither --bins nor --edges. Write "
                "--month date --bounds 2026-01 2026-12."
            )
        return Periods.of(every, bounds)
    return Bins.of(bounds=bounds, bins=bins, edges=None if edges is None else list(edges))


def _count_bins(request: Request, rows: RowOptions, of: str, every: str | None) -> Question:
    """Return the question that counts people, or rows, by bins of a column."""
    from lastbit.questions import samples
    from lastbit.questions.groups import Groups
    from lastbit.questions.people import PeopleParts, choose_noise
    from lastbit.questions.reading import read_bins

    items, bins = request.items, _build_bins(request, every)
    labels = (*bins.labels, "missing") if items.missing == "bin" else bins.labels
    if items.resolution is not None:
        raise ParameterError("--resolution is for sums: bins count people, who are whole. Leave it out.")
    size = 1 if rows.unit is None else len(labels)  # a row is in one bin
    people = PeopleParts.of(items, size, request["people_share"], by_class=True)

    def noise(most: int, cost: Mapping[str, Any]) -> Any:
        return choose_noise(cost, most=min(most, size))

    missing_rule = {"leave-out": "are left out", "bin": "have a bin of their own"}.get(items.missing)
    notes = [
        f"Rows whose {of} is missing {missing_rule or f'count as {items.missing}'}.",
        "Days outside the bounds are left out." if every else "Numbers outside count in the first or last bin.",
    ]

    def sample(units: int) -> Any:
        counts = samples.make_bin_counts(units, labels, monotone=True, most_items=1 if rows.unit is None else None)
        return samples.rank_counts(counts) if people.is_bounded else counts

    return Groups(request, of, labels, "bin", request.words.people, noise, people).ask(
        read_bins(rows, of, bins, labels, items.missing, by_rank=people.is_bounded),
        sample,
        notes,
        total=Fraction,
        data={"of": of, "missing": items.missing},
    )
