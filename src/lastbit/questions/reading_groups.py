"""The groups that a question lists, as its table holds them: in the types of the columns, with rows of no group."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from lastbit.data.duckdb.relation import OpenTable
from lastbit.errors import ParameterError
from lastbit.questions.item_options import ItemOptions

if TYPE_CHECKING:
    from lastbit.questions.domain import Domain


def label_listed_groups(
    domains: Sequence[Domain], table: OpenTable, by: Sequence[str]
) -> tuple[OpenTable, Sequence[str], Any]:
    """Return the table with groups of other rows and of rows without one, where they are shown, its columns of groups,
    and all groups.

    The groups are as `count` takes them. A range is text where the column is text, as it is in text files. Where
    combinations are listed, the places of the combinations are the groups of the first column.
    """
    from lastbit.data.duckdb.labels import LabelledColumn, label_combinations, label_groups

    if domains[0].columns:
        pairs = domains[0].items
        return label_combinations(table, by, pairs), by[:1], list(map(str, range(len(pairs))))
    listed: Any = [match_column(domain, table, column) for domain, column in zip(domains, by, strict=True)]
    labelled = [
        LabelledColumn(column, items, domain.others, domain.missing)
        for column, items, domain in zip(by, listed, domains, strict=True)
        if domain.others or domain.missing
    ]
    if labelled:
        table = label_groups(table, labelled)
        names = [column.name for column in labelled]
        listed = [
            domain.items if column in names else items
            for column, domain, items in zip(by, domains, listed, strict=True)
        ]
    return table, by, listed[0] if len(listed) == 1 else listed


def label_known_groups(items: ItemOptions, table: OpenTable) -> OpenTable:
    """Return the table with only the listed groups of columns that have a list: the combinations are found then."""
    from lastbit.data.duckdb.labels import LabelledColumn, label_groups

    known, shown = items.known_domains, items.missing == "show"
    labelled = [
        LabelledColumn(name, match_column(known[name], table, name), known[name].others, shown)
        if name in known
        else LabelledColumn(name, None, missing=True)
        for name in items.by
        if name in known or shown
    ]
    return label_groups(table, labelled) if labelled else table


def match_column(domain: Domain, table: OpenTable, column: str) -> Sequence[Any]:
    """Return the items of a column as `count` takes them. A range is text where the column is text, as in text files.

    Text is no range: whoever typed it has said its form. Months or weeks are no dates of a column that declares these.
    """
    declared, items = table.relation.types[table.relation.columns.index(column)], domain.typed_items
    if domain.period not in (None, "day") and str(declared).startswith(("DATE", "TIMESTAMP")):
        raise ParameterError(
            f"the column {column!r} holds {'dates' if declared == 'DATE' else 'times'}, and --domain lists "
            f"{domain.period}s: write --{domain.period} {column} too. Nothing was charged."
        )
    return [str(item) for item in items] if isinstance(items, range) and declared == "VARCHAR" else items


def match_type(items: Sequence[Any], frame: Any, column: str) -> Sequence[Any]:
    """Return the same for a table of Spark, by the declared type of the column."""
    from lastbit.data.column_types import TEXT
    from lastbit.data.engines import wrap_frame

    is_text = isinstance(items, range) and wrap_frame(frame, [column]).column_type(column) is TEXT
    return [str(item) for item in items] if is_text else items


def items_in(items: Sequence[Sequence[Any]], table: OpenTable, by: Sequence[str]) -> list[Sequence[Any]]:
    """Return the items of each column as `count_tables` takes them: whole numbers are text where the column is."""
    types = dict(zip(table.relation.columns, table.relation.types, strict=True))
    return [
        [str(item) if type(item) is int else item for item in own] if types[column] == "VARCHAR" else own
        for own, column in zip(items, by, strict=True)
    ]


def refuse_twins(counted: Any, domains: Sequence[Domain]) -> None:
    """Refuse a domain of which the column takes two items for one: what is released has as many as were named."""
    if counted is not None and len(counted) != prod(len(domain.items) for domain in domains):
        raise ParameterError(
            "--domain must name each item once: the column takes two of its items for one, as 1 and 01 are one whole "
            "number. Leave one of them out. Nothing was charged."
        )
