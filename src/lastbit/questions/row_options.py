"""Which rows are read, and what is made of each: the options of a table, checked together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.group_types import READINGS, TIMES, NamedExpression, columns_read, read_edges
from lastbit.questions.join_types import JoinedFrame, read_joined, read_key
from lastbit.questions.unit_types import UnitColumn, name_key

if TYPE_CHECKING:
    from lastbit.data.duckdb.relation import ColumnSelection
    from lastbit.data.files.formats import TextFormat
    from lastbit.data.query.person_plan import PersonPlan
    from lastbit.data.query.plan import RowPlan
    from lastbit.data.query.steps import Step, TablePlan

_COLUMNS: Final = ("of", "weights", "latest_by", "first_by", "counts", "in_each", "different")
"""Options that name a column. An expression of --by must not take the place of one of these."""


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """The options of a table, by their names. `lastbit.questions.shared_options.TABLE` says what each means."""

    source: tuple[str, ...] = ()
    unit: str | None = None
    """The column that says whom a row belongs to. Where several do, the plan makes this one: a key of them."""
    unit_parts: tuple[UnitColumn, ...] = ()
    """The columns whose combination is the unit; empty where one column is."""
    most_units: int | None = None
    """How many of these combinations one person has at most, where the first column names a person."""
    table: str | None = None
    split: tuple[str, str] | None = None
    join: tuple[str | JoinedFrame, ...] = ()
    """Other tables, in the order in which they are joined."""
    on: tuple[str, ...] = ()
    let: tuple[tuple[str, str], ...] | None = None
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
        if isinstance(options.get("unit"), tuple):
            options |= {"unit": name_key(options["unit"]), "unit_parts": options["unit"]}
        sums = values.get("weights") is not None or values.get("of") is not None
        if "weights" in values and not sums and values["missing"] != "show":
            options["bin_missing"] = values["missing"]
        rows = cls(**{name: value for name, value in options.items() if value is not None})
        if rows.unit is not None and rows.unit in columns_read(values):
            raise ParameterError(f"groups and --unit must be different columns: got {rows.unit!r} for both.")
        made = [column.name for column in rows.by if isinstance(column, NamedExpression)]
        columns = [(name, values.get(name)) for name in _COLUMNS]
        named = [(name, part) for name, own in columns for part in (own if isinstance(own, tuple) else (own,))]
        named += [("unit", name) for name in rows.unit_names]
        named += [("let", name) for name, _ in rows.let or ()]
        twice = next((f"{column!r} is the column of --{name}" for name, column in named if column in made), None)
        if twice is not None:
            raise ParameterError(f"an expression of --by must have a name of its own: {twice}.")
        if rows.most_units is not None and not rows.unit_parts:
            raise ParameterError(
                "--most-units says how many combinations of several --unit one person has: got one --unit. Write "
                "--unit user --unit day, or leave it out. Nothing was read."
            )
        rows.validate()
        return rows

    @property
    def owner_options(self) -> dict[str, Any]:
        """What the owner of a table decides, whoever asks: all but the groups, and how a column of groups is read."""
        groups = ("edges", "closed", "by", "bin_missing")
        options = {part.name: getattr(self, part.name) for part in fields(self) if part.name not in groups}
        options["unit"] = options.pop("unit_parts") or self.unit
        options |= {name: options[name] or None for name in ("join", "on")}
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

    @property
    def new_columns(self) -> list[str]:
        """The columns that --let makes and --join adds. Of the file that is joined, only the names are read."""
        return [name for step in self._steps for name in step.new_columns]

    @property
    def columns_of_person(self) -> frozenset[str]:
        """The columns that are the same in all rows of a person, as those of --let may be: a person is in one group.

        >>> RowOptions(unit="patient", let=(("visits", "count(*)"),)).columns_of_person
        frozenset({'visits'})
        >>> sorted(RowOptions(unit="user, day", unit_parts=("user", "day")).columns_of_person)
        ['day', 'user']
        """
        made = frozenset() if self._person_plan is None else self._person_plan.columns_of_person
        # Of a unit of several columns each is a part: all rows of a user on a day have this day.
        return made | {name for name, _ in self._unit_columns}

    def lets_for(self, columns: ColumnSelection) -> dict[str, str]:
        """Return the columns that --let makes for those that a question reads, each with its expression."""
        plan, lets = self.plan, self._person_plan
        if lets is None or plan is None:
            return {}
        names = lets.made_for(plan.columns_behind(lets, columns))  # type: ignore[union-attr]
        return {name: text for name, text in sorted(self.let or ()) if name in names}

    @cached_property
    def _person_plan(self) -> PersonPlan | None:
        """The columns that --let makes; None where it makes none."""
        if not self.let:
            return None
        from lastbit.data.query.person_plan import PersonPlan

        return PersonPlan.of(dict(self.let), self.unit_names, comma=self.decimal_comma)

    @cached_property
    def plan(self) -> RowPlan | TablePlan | None:
        """What is made of the rows; None where they stay as they are. Built of the options alone."""
        if not self._steps:
            return self._row_plan
        from lastbit.data.query.plan import RowPlan
        from lastbit.data.query.steps import TablePlan

        rows = RowPlan(comma=self.decimal_comma) if self._row_plan is None else self._row_plan
        paths = dict.fromkeys(path for joined in self.join for path in read_joined(joined).paths)
        return TablePlan(tuple(self._steps), rows, tuple(paths))

    @cached_property
    def _steps(self) -> list[Step]:
        """What is done before the filter: split, join, let."""
        steps: list[Step] = []
        if len(self.join) != len(self.on):
            raise ParameterError(
                f"--join and --on go together, each with its own: got {len(self.join)} and {len(self.on)}. Write "
                "--join regions.csv --on postcode; several columns of one table stand together, as --on postcode,year."
            )
        if self.split is None and not self.join and not self.let:
            return steps
        if self.sql is not None:
            raise ParameterError(
                "--sql goes without --split, --join and --let, which make columns before it. Write each column of the "
                "query as a --let: --let 'year = year(date)'."
            )
        if self.unit is None and (self.split is not None or self.let):
            option = "--let" if self.let else "--split"
            raise ParameterError(
                f"{option} needs --unit COLUMN: it takes several rows for those of one person. "
                + ("A column of one row is --by 'EXPR as NAME'." if self.let else "Name whom a row belongs to.")
            )
        made = next((name for name, expression in self._unit_columns if expression is not None), None)
        if made is not None:
            raise ParameterError(
                f"--split, --join and --let need columns of the table as --unit: {made!r} is an expression. Write the "
                "column into the table first."
            )
        if self.split is not None:
            from lastbit.data.query.splitting import SplitPlan

            if self.split[0] in self.unit_names:
                raise ParameterError(f"--split must take another column than --unit: got {self.split[0]!r} for both.")
            steps.append(SplitPlan(*self.split))
        if self.join:
            from lastbit.data.files.joining import JoinPlan

            pairs = zip(self.join, self.on, strict=True)
            steps += [JoinPlan(read_joined(joined), read_key(on), self.unit_names, self.form) for joined, on in pairs]
        if self._person_plan is not None:
            steps.append(self._person_plan)
        return steps

    @cached_property
    def _row_plan(self) -> RowPlan | None:
        """What is made of each row by itself."""
        columns = self.periods.values()
        made = {column.name: column.expression for column in self.by if isinstance(column, NamedExpression)}
        bins = read_edges({"edges": self.edges, "closed": self.closed})
        if self.closed and not self.edges:
            raise ParameterError("--closed says that --edges have no open ends: write --edges COLUMN A,B,C too.")
        nothing = self.where is None and self.sql is None and self.bin is None
        if nothing and not columns and not made and not bins and not self.unit_parts:
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
            unit=None if self.unit is None or not self.unit_parts else (self.unit, self._unit_columns),
            most_units=self.most_units,
        )

    @property
    def unit_names(self) -> tuple[str, ...]:
        """The columns that together say whom a row belongs to, by their names; none where each row is one person."""
        return tuple(name for name, _ in self._unit_columns) or (() if self.unit is None else (self.unit,))

    def unit_only(self, columns: Collection[str]) -> tuple[str, ...]:
        """Return the columns of the table that say whom a row belongs to, and are read for nothing else."""
        if not self.unit_parts:
            return self.unit_names
        return tuple(name for name, made in self._unit_columns if made is None and name not in columns)

    @property
    def _unit_columns(self) -> list[tuple[str, str | None]]:
        """The parts of a unit, each with its expression where it has one."""
        return [
            (part.name, part.expression) if isinstance(part, NamedExpression) else (part, None)
            for part in self.unit_parts
        ]

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
