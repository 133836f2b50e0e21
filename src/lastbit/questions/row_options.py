"""Which rows are read, and what is made of each: the options of a table, checked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError

if TYPE_CHECKING:
    from lastbit.data.files.formats import TextFormat
    from lastbit.data.query.plan import RowPlan

PERIODS: Final = ("day", "week", "month", "year")


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """The options of a table, by their names. `lastbit.questions.shared_options.TABLE` says what each means."""

    source: tuple[str, ...] = ()
    unit: str | None = None
    table: str | None = None
    where: str | None = None
    sql: str | None = None
    day: str | None = None
    week: str | None = None
    month: str | None = None
    year: str | None = None
    bin: tuple[str, str] | None = None
    read_as: str | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal_comma: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RowOptions:
        """Take the options of a table out of the options of a question, and refuse what can never work."""
        rows = cls(**{field.name: values[field.name] for field in fields(cls)})
        rows.validate()
        return rows

    def validate(self) -> None:
        """Refuse options that contradict each other, before anything is read."""
        _ = self.form, self.plan

    @property
    def periods(self) -> dict[str, str]:
        """The columns of dates that are read as days, weeks, months or years, by the period."""
        return {period: column for period in PERIODS if isinstance(column := getattr(self, period), str)}

    def without(self, period: str) -> RowOptions:
        """Return the same table with the dates of this period as they are."""
        return replace(self, **{period: None})  # type: ignore[arg-type]

    @cached_property
    def form(self) -> TextFormat:
        """How text files are written."""
        from lastbit.data.files.formats import TextFormat

        encoding = "utf-8" if self.encoding is None else self.encoding
        return TextFormat(self.separator, encoding, self.decimal_comma, self.read_as)

    @cached_property
    def plan(self) -> RowPlan | None:
        """What is made of each row; None where rows stay as they are. Built of the options alone."""
        columns = self.periods.values()
        if self.where is None and self.sql is None and not columns and self.bin is None:
            return None
        from lastbit.data.query.plan import RowPlan

        if len(set(columns)) != len(columns):
            raise ParameterError(
                "--day, --week, --month and --year must be for different columns. Leave all but one out."
            )
        times = {column: period for period, column in self.periods.items()}
        return RowPlan.of(
            where=self.where, sql=self.sql, tables=self._names, times=times, bins=self.bin, comma=self.decimal_comma
        )

    @property
    def _names(self) -> list[str]:
        """The names that the table has in a query: that of the table, or of a single file without its endings."""
        if self.table is not None:
            return [self.table]
        source = self.source[0] if len(self.source) == 1 else "-"
        return [] if source == "-" or "://" in source else [PurePath(source).name.split(".")[0]]

    @property
    def is_piped(self) -> bool:
        """Whether the table comes through standard input."""
        return "-" in self.source
