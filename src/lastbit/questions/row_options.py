"""Which rows are read, and what is made of each: the options of a table, checked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.group_types import READINGS, TIMES, NamedExpression, columns_read, read_edges

if TYPE_CHECKING:
    from lastbit.data.files.formats import TextFormat
    from lastbit.data.query.plan import RowPlan

_COLUMNS: Final = ("unit", "of", "weights", "latest_by", "first_by", "counts", "in_each")
"""Options that name a column. An expression of --by must not take the place of one of these."""


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
    hour: str | None = None
    weekday: str | None = None
    bin: tuple[str, str] | None = None
    edges: tuple[Any, ...] | None = None
    closed: bool = False
    by: tuple[Any, ...] = ()
    bin_missing: str = "leave-out"
    """What a missing number counts as, where groups are between edges."""
    read_as: str | None = None
    separator: str | None = None
    encoding: str | None = None
    decimal_comma: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> RowOptions:
        """Take the options of a table out of the options of a question, and refuse what can never work."""
        options = {part.name: values[part.name] for part in fields(cls) if part.name in values}
        sums = values.get("weights") is not None or values.get("of") is not None
        if "weights" in values and not sums and values["missing"] != "show":
            options["bin_missing"] = values["missing"]
        rows = cls(**options)
        if rows.unit is not None and rows.unit in columns_read(values):
            raise ParameterError(f"groups and --unit must be different columns: got {rows.unit!r} for both.")
        made = [column.name for column in rows.by if isinstance(column, NamedExpression)]
        twice = next((name for name in _COLUMNS if values.get(name) in made), None)
        if twice is not None:
            raise ParameterError(
                f"an expression of --by must have a name of its own: {values[twice]!r} is the column of --{twice}."
            )
        rows.validate()
        return rows

    @property
    def owner_options(self) -> dict[str, Any]:
        """What the owner of a table decides, whoever asks: all but the groups, and how a column of groups is read."""
        groups = ("edges", "closed", "by", "bin_missing")
        options = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in groups}
        return {name: value for name, value in options.items() if value is not None or name not in READINGS}

    def validate(self) -> None:
        """Refuse options that contradict each other, before anything is read."""
        _ = self.form, self.plan

    @property
    def periods(self) -> dict[str, str]:
        """The columns of times that are read as days, weeks, months, years, hours or weekdays, by the unit."""
        return {unit: column for unit in TIMES if isinstance(column := getattr(self, unit), str)}

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
        made = {column.name: column.expression for column in self.by if isinstance(column, NamedExpression)}
        bins = read_edges({"edges": self.edges, "closed": self.closed})
        if self.closed and not bins:
            raise ParameterError("--closed says that --edges have no open ends: write --edges COLUMN A,B,C too.")
        nothing = self.where is None and self.sql is None and self.bin is None
        if nothing and not columns and not made and not bins:
            return None
        from lastbit.data.query.plan import RowPlan

        if len(set(columns)) != len(columns):
            raise ParameterError(
                "--day, --week, --month, --year, --hour and --weekday must be for different columns. Leave all but one "
                "out, or name a column of your own: --by 'hour(arrival) as hour'."
            )
        return RowPlan.of(
            where=self.where,
            sql=self.sql,
            tables=self._names,
            times={column: unit for unit, column in self.periods.items()},
            bins=self.bin,
            made=made,
            binned={column: (own, self.bin_missing) for column, own in bins.items()},
            comma=self.decimal_comma,
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
