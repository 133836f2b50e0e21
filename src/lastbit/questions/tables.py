"""The question `tables`: all the cross-tabulations of some columns at once, which agree with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.words import Words, capitalize, plural
from lastbit.questions.domains import Domains, assign_domains, missing_domains
from lastbit.questions.group_types import GroupList, check_names, group_names, imply_domains
from lastbit.questions.option import Option
from lastbit.questions.people import PeopleParts, parse_share
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_one
from lastbit.questions.shared_options import (
    BY,
    CLOSED,
    COST,
    DELTA,
    DOMAIN,
    EDGES,
    LEDGER,
    ONE_EACH,
    OUTPUT,
    PEOPLE_SHARE,
    TABLE,
)
from lastbit.questions.table_types import TableList, TableWeights
from lastbit.questions.unit_types import join_names
from lastbit.questions.value_types import Flag, OneOf, Text
from lastbit.questions.whole_number_types import WholeNumber

if TYPE_CHECKING:
    import lastbit as lb
    from lastbit.questions.request import Request

_FEW_RECORDS: Final = 100
"""People with more records than this are not told apart by how many they have."""

OPTIONS: Final = (
    *TABLE,
    Option(BY.name, GroupList(), "The columns of the tables, as a,b; or repeat it for each of them.", BY.default),
    Option(
        DOMAIN.name,
        Domains(),
        "The public values of a column: a file with one per line, 1..12, 2026-01..2026-12, or a,b,c. Give one for each "
        "--by that has no --edges.",
        server_help="The public values of each column: one list for each, in the order of the columns, or an object "
        "from columns to lists.",
        labels=("Public values, one column a line: region: north, south",),
    ),
    EDGES,
    CLOSED,
    Option("ways", WholeNumber(), "All tables of at most so many columns. Without it, and without --tables: 2."),
    Option("tables", TableList(), "A table by its columns, instead of --ways. Repeat it for each table."),
    ONE_EACH,
    Option(
        "most_items",
        WholeNumber(),
        "One person counts in at most so many combinations of values, drawn by lot. Without it in one. N of them need "
        "noise for N² in rho.",
    ),
    Option("latest_by", Text("COLUMN"), "Of each person only the rows with the largest value here count."),
    PEOPLE_SHARE,
    Option(
        "missing",
        OneOf("RULE", choices=("leave-out", "show")),
        "A row without a value is left out of all tables; with show, (missing) is a value of its own.",
        "leave-out",
    ),
    Option("weight", TableWeights(), "How important a table is, beside 1 for the others. Repeat it for more tables."),
    Option(
        "rule",
        OneOf("RULE", choices=("mean", "worst")),
        "Share the cost so that the mean variance of all tables is small, or the worst one.",
        "mean",
    ),
    *COST,
    Option(DELTA.name, DELTA.type, "With --epsilon: the tables cost (epsilon, delta), which buys a rho.", part="cost"),
    *LEDGER,
    *OUTPUT,
    Option("whole", Flag(), "Show non-negative whole numbers that add up, without intervals.", False, "output"),
)


def tables(request: Request) -> Question:
    """Publish all tables of some columns at once: every sum agrees exactly, and the error of every number is known.

    Each person is in one cell of each table. Which tables are measured, and with which share of the cost, follows from
    the number of values of each column.
    """
    import lastbit as lb
    from lastbit.questions.reading_tables import read_frame, read_tables
    from lastbit.questions.report import format_percent
    from lastbit.questions.tables_report import report_tables

    names, values = _axes(request)
    listed = request["tables"]
    if listed and request["ways"] is not None:
        raise ParameterError("--tables takes the place of --ways: got both. Leave one of them out.")
    records, people, cost = _most_records(request), _choose_parts(request, values), {"rho": _rho(request)}

    def build(_: int, cost: Mapping[str, Any]) -> lb.Tables:
        return lb.Tables(
            domain=values,
            tables=listed or None,
            ways=None if listed else request["ways"] or 2,
            **cost,
            most_records=records,
            weights=request["weight"] or None,
            rule=request["rule"],
        )

    def arrange(counts: lb.TableCounts) -> Any:
        return people.values(counts, lambda _: counts)

    mechanism, level = build(records, people.main_cost(cost)), format_percent(request.level)
    noun, of_whom = _name_numbers(request, records)
    within = {table: mechanism.accuracy(*table, level=request.level) for table in mechanism.tables or ()}
    worst = max(within.values())
    cells = max(prod(len(values[name]) for name in table) for table, off in within.items() if off == worst)
    best = min(within.values())
    sentence = (
        f"With probability {level} each number{of_whom} is off by at most {ceil(worst):,} in the least precise table, "
        f"and by {ceil(best):,} in the most precise one."
    )
    if people.measured:
        sentence += (
            f" {count_rule(request.words, records)}. The answer says how many {request.words.people} have more, of "
            f"which {'one is' if records == 1 else f'{records} are'} picked at random, and its intervals of all "
            f"{request.words.people} allow for them. --most-items N counts up to N combinations, with N times the "
            "noise."
        )
    return Question(
        people.mechanism(cost, build),
        reading=read_tables(request, names, mechanism).then(arrange),
        report=lambda release: report_tables(request, people.read(release, request.level), noun),
        sample=lambda units: arrange(_made_up(mechanism, units)),
        accuracy=lambda units: Accuracy(worst, noun, sentence, total=Fraction(units), groups=cells),
        notes=_notes(request, names, people),
        plan_columns=_plan_columns(mechanism, within),
        read_frame=lambda frame: arrange(read_frame(request, names, mechanism, frame)),
    )


def name_tables(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one name of tables: one record of each person, and tables of two columns, unless others are asked for.

    >>> name_tables({"by": ["sex", "age"]})
    ('tables', {'most_items': 1, 'ways': 2, 'by': ['sex', 'age']})
    """
    usual: dict[str, Any] = {"most_items": 1} | ({} if "tables" in facts else {"ways": 2})
    return "tables", usual | facts


def _axes(request: Request) -> tuple[list[str], dict[str, Sequence[Any]]]:
    """Return the columns, and the values of each."""
    from lastbit.data.table_counting import MISSING_VALUE

    names, typed = group_names(request["by"]), request["domain"] or ()
    if any(domain.columns for domain in typed):
        raise ParameterError(
            "tables have every combination of their columns: list the values of each column, as --domain region=a,b. "
            "Listed combinations are for count, share, sum, mean, median and quantile. Nothing was read."
        )
    check_names(names)
    domains = assign_domains(names, typed, imply_domains(request.values))
    without = [name for name in names if name not in domains]
    if without:
        raise missing_domains(names, typed, without)
    more = (MISSING_VALUE,) if request["missing"] == "show" else ()
    return list(names), {name: (*domains[name].items, *more) for name in names}


def _rho(request: Request) -> Any:
    """Return the rho that a person asks for, or that an (epsilon, delta) buys."""
    from lastbit.privacy.zcdp import largest_rho

    epsilon, rho, delta = request["epsilon"], request["rho"], request["delta"]
    if (epsilon is None) == (rho is None) or (delta is None) != (epsilon is None):
        raise ParameterError(
            "tables cost a --rho, or an --epsilon with a --delta. Write --rho 1/20, or --epsilon 1 --delta 1e-6."
        )
    return rho if epsilon is None else largest_rho(epsilon, delta)


def _most_records(request: Request) -> int:
    if request["one_each"] and request["most_items"] is not None:
        raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
    if request.rows.unit is None and (request["most_items"] is not None or request["latest_by"] is not None):
        raise ParameterError("--most-items and --latest-by need --unit, the column that says whom a row belongs to.")
    return 1 if request.each_in_one else int(request["most_items"] or 1)


def _choose_parts(request: Request, values: Mapping[str, Sequence[Any]]) -> PeopleParts:
    """Return what is measured about people: how many have more records than count."""
    share, size = parse_share(request["people_share"]), prod(map(len, values.values()))
    if request.rows.unit is None or request.each_in_one:
        return PeopleParts(share=share)
    return PeopleParts(_most_records(request), size if size <= _FEW_RECORDS else None, share, by_class=True)


def _name_numbers(request: Request, records: int) -> tuple[str, str]:
    """Return what the numbers are called, and of whom a plan says that they are."""
    words = request.words
    if request.rows.unit is None or request.each_in_one:
        return words.people, ""
    # A person with several records may count several times in a sum.
    return (
        ("records counted", " of records counted")
        if records > 1
        else (f"{words.people} counted", f" of {words.people} counted")
    )


def _notes(request: Request, names: Sequence[str], people: PeopleParts) -> list[str]:
    """Return of whom the tables speak. A bounded table is of the people counted this way, and says so."""
    rows, columns = request.words.rows, join_names(names, "or")
    unlisted = f"{rows} with a value that is not listed"
    notes = (
        [f"Missing values are shown. {capitalize(unlisted)} are left out of all tables."]
        if request["missing"] == "show"
        else [f"{capitalize(rows)} without a value of {columns} are left out of all tables. So are {unlisted}."]
    )
    if request.rows.unit is None or people.measured:
        return notes
    if request.each_in_one:
        return [*describe_one(request.items.by, "cell of each table", request.words), *notes]
    most, latest = _most_records(request), request["latest_by"]
    words = request.words
    of_which = f" among the {words.rows} with the largest {latest}" if latest else ""
    counted = f"{words.people} counted this way" if most == 1 else "records counted, of which a person has several"
    return [
        f"{count_rule(words, most)}, picked at random{of_which} where there are more. The numbers and their intervals "
        f"are of the {counted}.",
        *notes,
    ]


def count_rule(words: Words, most: int) -> str:
    """Return in how many records a person counts.

    >>> count_rule(Words(), 1), count_rule(Words(), 2)
    ('Each person counts once, in one cell of each table', 'A person counts in 2 combinations of values at most')
    """
    if most == 1:
        return f"Each {words.person} counts once, in one cell of each table"
    return f"{words.one} counts in {plural(most, 'combination')} of values at most"


def _plan_columns(mechanism: lb.Tables, within: Mapping[Any, Fraction]) -> dict[str, Sequence[Any]]:
    """Return the error of every table, and the share of the cost that each is measured with."""
    shape, shares = mechanism.shape, mechanism.shares
    rows = [*shape.tables, *(table for table in shares.parts if table not in shape.tables)]
    named = [" by ".join(shape.columns_of(table)) or "(all)" for table in rows]
    own = [mechanism.scheme.cells(table) for table in rows]
    errors = [within.get(shape.columns_of(table)) or mechanism.accuracy(*shape.columns_of(table)) for table in rows]
    return {
        "table": named,
        "cells": own,
        "each number within": [ceil(error) for error in errors],
        "share of the cost": [f"{100 * shares.parts.get(table, 0) / shares.total:.3g}%" for table in rows],
    }


def _made_up(mechanism: lb.Tables, units: int) -> Any:
    """Return counts that nobody has: everybody spread evenly."""
    import numpy as np

    import lastbit as lb

    shape = mechanism.shape
    counts = {}
    for table in shape.largest:
        size = tuple(shape.sizes[axis] for axis in table)
        counts[shape.columns_of(table)] = np.full(size, units // int(np.prod(size)), np.int64)
    return lb.TableCounts(domain=dict(shape.domain), counts=counts, most_records=mechanism.most_records)
