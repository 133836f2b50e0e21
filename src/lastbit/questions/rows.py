"""The options that say how rows are read, and which: filters, columns of their own, dates, bins, forms of files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

if TYPE_CHECKING:
    from lastbit.data.form import Form
    from lastbit.data.query.plan import Plan

_UNITS: Final = ("day", "week", "month", "year")


def _of_times(unit: str, example: str) -> Any:
    return typer.Option(metavar="COLUMN", help=f"Read the dates of this column as their {unit}, such as {example}.")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """Which rows are read, and what is made of each."""

    source: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="CSV, TSV, JSON lines, Parquet, a DuckDB or SQLite file, a postgresql:// address, or - for a pipe. "
            "Several files, or a pattern in quotes, are one table.",
        ),
    ]
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column that says whom a row belongs to. Without it only single rows are protected.",
        ),
    ] = None
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table, when FILE is a database.")] = None
    where: Annotated[
        str | None,
        typer.Option(
            metavar="CONDITION", help="Read only rows for which this is true: \"country = 'DE' and age >= 18\"."
        ),
    ] = None
    sql: Annotated[
        str | None,
        typer.Option(metavar="QUERY", help='Make columns, each of one row: "select *, year(date) as year from data".'),
    ] = None
    day: Annotated[str | None, _of_times("day", "2026-01-31")] = None
    week: Annotated[str | None, _of_times("week", "2026-W05")] = None
    month: Annotated[str | None, _of_times("month", "2026-01")] = None
    year: Annotated[str | None, _of_times("year", "2026")] = None
    bin: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="COLUMN WIDTH", help="Read the numbers of this column as the lower ends of bins."),
    ] = None
    read_as: Annotated[
        str | None, typer.Option(metavar="KIND", help="csv, tsv, jsonl or parquet, whatever the name: also csv.gz.")
    ] = None
    separator: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="What stands between the fields of a text file: ';' or tab.")
    ] = None
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="The encoding of a text file, such as latin-1 or cp1252.")
    ] = None
    decimal_comma: Annotated[
        bool, typer.Option("--decimal-comma", help="Numbers in a text file are written as 1.234,5.")
    ] = False

    @property
    def places(self) -> list[str]:
        """The files, or the address, as they were given."""
        given: Any = self.source
        return [given] if isinstance(given, str) else list(given)

    def check(self) -> None:
        """Refuse options that can never work, before anything is read."""
        _ = self.form, self.plan

    @cached_property
    def form(self) -> Form:
        """How text files are written."""
        from lastbit.data.form import Form

        return Form(
            self.separator, "utf-8" if self.encoding is None else self.encoding, self.decimal_comma, self.read_as
        )

    @cached_property
    def plan(self) -> Plan | None:
        """What is made of each row; None where rows stay as they are. Built of the options alone."""
        times = {column: unit for unit in _UNITS if isinstance(column := getattr(self, unit), str)}
        if self.where is None and self.sql is None and not times and self.bin is None:
            return None
        from lastbit.data.query.plan import Plan
        from lastbit.errors import ParameterError

        if len(times) != sum(isinstance(getattr(self, unit), str) for unit in _UNITS):
            raise ParameterError(
                "--day, --week, --month and --year must be for different columns. Leave all but one out."
            )
        return Plan.of(
            where=self.where, sql=self.sql, tables=self._names, times=times, bins=self.bin, comma=self.decimal_comma
        )

    @property
    def _names(self) -> list[str]:
        """The names that the table has in a query: that of the table, or of a single file without its endings."""
        if self.table is not None:
            return [self.table]
        alone = self.places[0] if len(self.places) == 1 else "-"
        return [] if alone == "-" or "://" in alone else [PurePath(alone).name.split(".")[0]]


def rules_of(asked: Mapping[str, Any]) -> list[str]:
    """The rules by which the numbers of a release are read, in words: said before anything is read.

    >>> rules_of({"weights": "cost", "missing": "leave-out"})
    ['A row whose cost is missing, or is text that is no number, is left out.']
    """
    rules = []
    if asked.get("counts"):
        rules.append(
            f"A row whose {asked['counts']} is missing, negative, or text that is no number, counts 0. Other counts "
            "are rounded down to whole numbers, up to 2,147,483,647. Of several rows of an item the largest counts. "
            f"One person moves each count by at most {asked['sensitivity']}, as --sensitivity says."
        )
    elif asked.get("weights"):
        missing = asked.get("missing", "leave-out")
        how = {"leave-out": "is left out", "lowest": "counts as the lower bound"}.get(missing, f"counts as {missing}")
        rules.append(f"A row whose {asked['weights']} is missing, or is text that is no number, {how}.")
    elif asked.get("of") and asked.get("command") != "histogram":  # which says so of its bins
        # The command itself says what a missing one counts as.
        rules.append(f"Text in {asked['of']} that is no number is missing.")
    if rules and asked.get("decimal_comma"):
        rules.append("Numbers in text are written as 1.234,5.")
    return rules
