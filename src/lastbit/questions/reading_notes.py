"""By which rules the numbers of a release are read, in sentences: said before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lastbit.exact.numbers import number
from lastbit.output.words import Words, article, capitalize, plural
from lastbit.questions.edge_types import count_bins
from lastbit.questions.report import format_percent
from lastbit.questions.titles import name_groups
from lastbit.questions.unit_types import join_names

if TYPE_CHECKING:
    from lastbit.questions.domain import Domain
    from lastbit.questions.item_options import ItemOptions
    from lastbit.questions.request import Request


def describe_weights(request: Request) -> list[str]:
    """Return how stated counts, or the weights of rows, are read; nothing where people are counted.

    >>> from lastbit.questions.kinds import KINDS
    >>> options = {"source": "v.csv", "by": "item", "weights": "cost", "bounds": [0, 9], "domain": "a,b", "epsilon": 1}
    >>> describe_weights(KINDS["measure"].parse(options))[0].partition(". ")[0]
    'A row whose cost is missing, or is text that is no number, is left out'
    """
    items, sentences = request.items, []
    if items.counts is not None:
        sentences.append(
            f"A row whose {items.counts} is missing, negative, or text that is no number, counts 0. Other counts are "
            "rounded down to whole numbers, up to 2,147,483,647. Of several rows of an item the largest counts. One "
            f"person moves each count by at most {items.sensitivity}, as was stated."
        )
    elif items.weights is not None:
        how = {"leave-out": "is left out", "lowest": "counts as the lower bound"}
        rule = how.get(items.missing, f"counts as {items.missing}")
        sentences.append(
            f"A row whose {items.weights} is missing, or is text that is no number, {rule}. Each {items.weights}, and "
            f"each total of {request.words.a_person} in an item, is clamped to the bounds: a sum is of clamped numbers."
        )
    return sentences + _decimal_comma(request) if sentences else []


def describe_unit(request: Request) -> list[str]:
    """Return which rows belong to nobody; of several columns of a unit, what is said of the unit says so."""
    rows = request.rows
    if rows.unit is None or rows.unit_parts:
        return []
    return [f"{capitalize(request.words.rows)} without {rows.unit} are left out."]


def describe_sd(noun: str) -> str:
    """Return what the standard deviation of these is, and what it costs.

    >>> describe_sd("people")
    'A standard deviation is that of the clamped numbers, divided by how many people there are and not by one less; \
25% of the cost of the answer measures it.'
    """
    from lastbit.mechanisms.group_means import SD_SHARE

    return (
        f"A standard deviation is that of the clamped numbers, divided by how many {noun} there are and not by one "
        f"less; {format_percent(SD_SHARE)} of the cost of the answer measures it."
    )


def describe_groups(request: Request) -> list[str]:
    """Return which rows are in no group, or in a group of their own, and how numbers become groups.

    >>> from lastbit.questions.kinds import KINDS
    >>> options = {"source": "v.csv", "by": "ward", "domain": "a,b", "edges": {"age": [0, 18]}, "epsilon": 1}
    >>> describe_groups(KINDS["count"].parse(options))
    ['Rows without ward or age, or with a ward that is not listed, are left out.', 'A number of age counts by its \
whole part.']
    """
    items, rows = request.items, capitalize(request.words.rows)
    if not items.by or items.counts is not None:
        return []
    known, binned, rule = items.known_domains, dict(request.values.get("edges") or ()), request.rows.bin_missing
    unlisted = [name for name in items.by if name in known and not known[name].complete]
    if items.combinations is not None:
        return [f"{rows} without {_join(items.by)}, or with a combination of them that is not listed, are left out."]
    one_unlisted = _join([f"{article(name)} {name}" for name in name_groups(request, unlisted)]) if unlisted else ""
    without = [name for name in items.by if name not in binned or rule == "leave-out"]
    left_out = [] if items.missing == "show" or not without else [f"without {_join(without)}"]
    if items.others != "show" and unlisted:
        left_out.append(f"with {one_unlisted} that is not listed")
    comma = "," if len(left_out) > 1 else ""
    sentences = [f"{rows} {', or '.join(left_out)}{comma} are left out."] if left_out else []
    if items.others == "show" and unlisted:
        sentences.append(f"(others) are {request.words.rows} with {one_unlisted} that is not listed.")
    if items.missing == "show":
        sentences.append(f"(missing) are {request.words.rows} without {_join(items.by)}.")
    sentences += _describe_periods(request, known)
    for name, edges in binned.items():
        sentences += describe_whole_parts(name, edges)
        if rule != "leave-out":
            sentences.append(f"A missing {name} counts {'in the lowest group' if rule == 'lowest' else f'as {rule}'}.")
    return sentences


def describe_whole_parts(name: str, edges: Sequence[str]) -> list[str]:
    """Return that a number counts by its whole part, where all edges are whole numbers.

    >>> describe_whole_parts("age", ["0", "18"]), describe_whole_parts("age", ["0", "0.5"])
    (['A number of age counts by its whole part.'], [])
    """
    whole = count_bins(edges) is None and all(number(edge, "an edge").denominator == 1 for edge in edges)
    return [f"A number of {name} counts by its whole part."] if whole else []


def _describe_periods(request: Request, known: Mapping[str, Domain]) -> list[str]:
    """Return how a column of times would be read as the months, weeks or days that are listed, where nobody says so.

    A text file declares no types: a column with days in it has no row of a month.
    """
    rows = request.rows
    made = {column.name for column in rows.by if not isinstance(column, str)}
    read = {*rows.periods.values(), *made}
    finer = {"month": "days or times", "week": "days or times", "day": "times"}
    return [
        f"The listed groups of {name} are {period}s: where {name} has {finer[period]}, --{period} {name} reads them as "
        f"{period}s."
        for name, domain in known.items()
        if (period := domain.period) is not None
        and name not in read
        and rows.sql is None
        and period not in name.lower()
    ]


def _join(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def describe_one(names: Sequence[str], noun: str, words: Words) -> list[str]:
    """Return why each person is in one group, whatever the rows are.

    >>> describe_one(["visits"], "group", Words())
    ['A person is in one group at most: visits is the same in all rows of a person.']
    """
    same = f"{join_names(names)} {'is' if len(names) == 1 else 'are'} the same in all {words.rows} of {words.a_person}"
    return [f"{words.one} is in one {noun} at most: {same}."]


def describe_all(items: ItemOptions, size: int, noun: str, words: Words) -> list[str]:
    """Return that a person may count in all groups, and what would make the noise smaller; nothing for a single group.

    >>> from lastbit.questions.item_options import ItemOptions
    >>> describe_all(ItemOptions(), 12, "bin", Words())
    ['A person may count in all 12 bins, and the noise is for as many. Where a person is in one bin, --one-each makes \
the noise smaller; --most-items does so for a few.']
    """
    if items.each_in_one:
        return describe_one(items.by, noun, words)
    if size == 1:
        return []
    return [
        f"{words.one} may count in all {plural(size, noun)}, and the noise is for as many. Where {words.a_person} is "
        f"in one {noun}, --one-each makes the noise smaller; --most-items does so for a few."
    ]


def describe_numbers(request: Request, rule: str) -> list[str]:
    """Return which number a person has, and how rows without one are read."""
    of, most_rows, missing, words = request["of"], request["most_rows"], request["missing"], request.words
    missing = "leave-out" if missing == "show" else missing  # of groups
    if request.rows.unit is None:
        sentence = f"Each {words.row} has one number, its {of}."
    elif rule == "row":
        most = count_rows_of(words, most_rows or 0)
        sentence = f"Each {words.row} has one number, its {of}; at most {most}, picked at random."
    else:
        own = {
            "mean": f"the mean of their {of}",
            "total": f"the total of their {of}",
            "latest": f"their {of} with the largest {request['latest_by']}",
            "first": f"their {of} with the smallest {request['first_by']}",
            "any": f"the largest {of} of any of their {words.rows}",
        }
        where = " in each of their groups" if request["by"] else ""
        sentence = f"Each {words.person} has one number{where}, {own[rule]}{' there' if where else ''}."
    if missing == "leave-out":
        missing_note = f"{capitalize(words.rows)} whose {of} is missing are left out."
    else:
        missing_note = f"A missing {of} counts as {'the lower bound' if missing == 'lowest' else missing}."
    return [f"{sentence} {missing_note}", f"Text in {of} that is no number is missing.", *_decimal_comma(request)]


def count_rows_of(words: Words, most: int) -> str:
    """Return that so many rows of a person count, in the middle of a sentence.

    >>> count_rows_of(Words("patient", "patients", "visit", "visits"), 3)
    '3 visits of a patient count'
    """
    return plural(most, f"{words.row} of {words.a_person} counts", f"{words.rows} of {words.a_person} count")


def _decimal_comma(request: Request) -> list[str]:
    return ["Numbers in text are written as 1.234,5."] if request.rows.decimal_comma else []
