"""One text of several items as several rows: the `--split` of a question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable
from lastbit.data.query.steps import run_step
from lastbit.data.query.values import SqlType, column_value
from lastbit.data.sql import quote_identifier, quote_text
from lastbit.errors import ParameterError


@dataclass(frozen=True)
class SplitPlan:
    """A column of texts, and what stands between their items. Each item becomes a row of the same person.

    Blanks around an item, and items without a character, are left out. A row without any item stays one row, without a
    value: its person does not vanish.
    """

    column: str
    separator: str
    new_columns: tuple[str, ...] = ()

    def source_columns(self, columns: ColumnSelection) -> ColumnSelection:
        """Return the columns that the table must have: the same, and the one that is split, as text."""
        weights = None if columns.weights == self.column else columns.weights
        return replace(columns, columns=tuple(dict.fromkeys((*columns.columns, self.column))), weights=weights)

    def apply(self, table: OpenTable, selection: ColumnSelection) -> OpenTable:
        """Return the rows of the items."""
        return run_step(table, self._split)

    def _split(self, rows: Any) -> Any:
        declared = dict(zip(rows.columns, rows.types, strict=True))[self.column]
        text = column_value(self.column, declared.id)
        if text.type is not SqlType.TEXT:
            raise ParameterError(
                f"--split takes a column of text: {self.column!r} holds {declared}. Name another column. Nothing was "
                "read."
            )
        separator, column = quote_text(self.separator), quote_identifier(self.column)
        pieces = f"string_split({text.sql}, {separator})"
        is_empty = f"coalesce(trim(replace({text.sql}, {separator}, '')), '') = ''"
        # A text that begins with an item is not searched for others. There are blanks beyond ASCII too.
        begins = f"{text.sql} >= '!' AND {text.sql} < chr(127) AND NOT starts_with({text.sql}, {separator})"
        items = f"CASE WHEN {begins} THEN {pieces} WHEN {is_empty} THEN [CAST(NULL AS VARCHAR)] ELSE {pieces} END"
        # To look at a text once takes less than to trim each item twice, to ask for blanks and to take them off.
        is_plain = f"strlen({text.sql}) = length({text.sql}) AND NOT contains({text.sql}, ' ')"
        others = [quote_identifier(name) for name in rows.columns if name != self.column]
        rows = rows.project(", ".join([*others, f"{is_plain} AS lastbit_plain, unnest({items}) AS {column}"]))
        item = f"CASE WHEN lastbit_plain THEN {column} ELSE trim({column}) END"
        is_item = f"CASE WHEN lastbit_plain THEN {column} <> '' ELSE trim({column}) <> '' END"
        rows = rows.filter(f"{column} IS NULL OR {is_item}")
        return rows.project(", ".join([*others, f"{item} AS {column}"]))
