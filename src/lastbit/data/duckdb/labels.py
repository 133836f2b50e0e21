"""Columns of groups as labels, in the SQL of DuckDB: rows of other groups, and rows without one, can be groups too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from lastbit.data.domain import convert_items, read_items
from lastbit.data.duckdb.columns import DuckDBColumns
from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.duckdb.table import join_domain
from lastbit.data.engines import call_engine, require_column_types, wrap_frame
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.data.table_counting import MISSING_VALUE
from lastbit.errors import ParameterError

OTHERS: Final = "(others)"
"""The label of all groups that are not listed, where they are shown as one."""


@dataclass(frozen=True)
class LabelledColumn:
    """A column of groups that becomes the labels of its groups."""

    name: str
    items: Sequence[Any] | None
    """The groups that are listed; None where nobody listed them."""
    others: bool = False
    """Whether groups that are not listed are one group together; their rows are left out otherwise."""
    missing: bool = False
    """Whether rows without a group are a group; they are left out otherwise."""


def label_groups(table: OpenTable, columns: Sequence[LabelledColumn]) -> OpenTable:
    """Return the rows with these columns as labels, which are texts. A label follows from its own row alone."""
    names = [column.name for column in columns]
    types = call_engine(require_column_types, call_engine(wrap_frame, table, names), names)
    listed: list[Any] = []
    for column in columns:
        if column.items is None:
            listed.append(None)
            continue
        items = read_items(list(column.items))
        domain = convert_items(items, types[column.name], column.name)
        if len(domain.keys) != len(column.items):
            raise ParameterError(
                f"the groups of {column.name!r} must each be listed once: the column takes two of them for one, as 1 "
                "and 01 are one whole number. Leave one of them out. Nothing was charged."
            )
        listed.append(([str(item) for item in items], domain.keys))

    def change(relation: Any) -> Any:
        own = DuckDBColumns(relation, table)
        kept = list(relation.columns)
        keys = [f"{own.key(name)} AS lastbit_key_{i}" for i, name in enumerate(names)]
        rows = relation.project(", ".join([*map(quote_identifier, kept), *keys]))
        labels = {}
        for i, (column, domain) in enumerate(zip(columns, listed, strict=True)):
            missing = quote_text(MISSING_VALUE) if column.missing else "NULL"
            if domain is None:
                text = f"CAST({quote_identifier(column.name)} AS VARCHAR)"
                labels[column.name] = f"CASE WHEN lastbit_key_{i} IS NULL THEN {missing} ELSE {text} END"
                continue
            texts, listed_keys = domain
            rows = join_domain(rows, own.domain(column.name, listed_keys, i), i, "left")
            rows = rows.set_alias("lastbit_rows").join(
                _list_labels(table, texts, i), f"lastbit_position_{i} = lastbit_place_{i}", "left"
            )
            others = quote_text(OTHERS) if column.others else "NULL"
            labels[column.name] = (
                f"CASE WHEN lastbit_key_{i} IS NULL THEN {missing} WHEN lastbit_position_{i} IS NULL THEN {others} "
                f"ELSE lastbit_label_{i} END"
            )
        return rows.project(
            ", ".join(f"{labels.get(name, quote_identifier(name))} AS {quote_identifier(name)}" for name in kept)
        )

    return table.transform(change)


def _list_labels(table: OpenTable, texts: Sequence[str], number: int) -> Any:
    """Return the labels of listed groups by their positions."""
    import numpy as np
    import pyarrow as pa

    places = pa.table({f"lastbit_place_{number}": np.arange(len(texts)), f"lastbit_label_{number}": list(texts)})
    return table.connection.from_arrow(places).set_alias(f"lastbit_labels_{number}")


def label_combinations(table: OpenTable, columns: Sequence[str], combinations: Sequence[tuple[Any, ...]]) -> OpenTable:
    """Return the rows of listed combinations of columns: the first column says which one it is, by its place, as text.

    What a row becomes follows from the row alone.
    """
    import numpy as np
    import pyarrow as pa

    types = call_engine(require_column_types, call_engine(wrap_frame, table, list(columns)), list(columns))
    places: dict[str, Any] = {}
    keys: list[Any] = []
    for number, column in enumerate(columns):
        items = list(dict.fromkeys(combination[number] for combination in combinations))
        domain = convert_items(read_items(items), types[column], column)
        if len(domain.keys) != len(items):
            raise ParameterError(
                f"the combinations must name each value of {column!r} in one way: the column takes two of them for "
                "one, as 1 and 01 are one whole number. Nothing was charged."
            )
        keys.append(domain.keys)
        place = {item: place for place, item in enumerate(items)}
        places[f"lastbit_at_{number}"] = [place[combination[number]] for combination in combinations]
    places["lastbit_label"] = list(map(str, np.arange(len(combinations))))
    listed = table.connection.from_arrow(pa.table(places)).set_alias("lastbit_combinations")
    first = columns[0]

    def change(relation: Any) -> Any:
        own = DuckDBColumns(relation, table)
        kept = list(relation.columns)
        made = [f"{own.key(name)} AS lastbit_key_{i}" for i, name in enumerate(columns)]
        rows = relation.project(", ".join([*map(quote_identifier, kept), *made]))
        for i, name in enumerate(columns):
            rows = join_domain(rows, own.domain(name, keys[i], i), i, "inner")
        same = " AND ".join(f"lastbit_position_{i} = lastbit_at_{i}" for i in range(len(columns)))
        rows = rows.set_alias("lastbit_rows").join(listed, same, "inner")
        return rows.project(
            ", ".join(
                f"{'lastbit_label' if name == first else quote_identifier(name)} AS {quote_identifier(name)}"
                for name in kept
            )
        )

    return table.transform(change)
