"""The options for tables that somebody counted already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import typer

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number


@dataclass(frozen=True, kw_only=True)
class Aggregates:
    """A column of counts, and what the user states about one person."""

    counts: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The table has one row for each item, and this column has its count. No --unit then."
        ),
    ] = None
    sensitivity: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="With --counts: one person moves each count by at most this.")
    ] = None
    monotone: Annotated[
        bool, typer.Option("--monotone", help="With --counts: one person who comes makes no count smaller.")
    ] = False

    def check(self, asked: Mapping[str, Any]) -> None:
        """Refuse options that contradict each other, before anything is read."""
        if self.counts is None:
            if self.sensitivity is not None or self.monotone:
                raise ParameterError(
                    "--sensitivity and --monotone are for --counts: where rows are counted, lastbit knows how far one "
                    "unit moves a count. Leave them out, or name the column of the counts with --counts COLUMN."
                )
            return
        for name in ("unit", "weights", "bounds", "of"):
            if asked.get(name) is not None:
                raise ParameterError(f"--counts and --{name} must not be given together: the rows are counted already.")
        if not asked.get("by"):
            raise ParameterError("--counts needs --by COLUMN, the column that holds the items.")
        _ = self.stated

    @property
    def stated(self) -> dict[str, Any]:
        """How one person moves the counts, as the user says and as mechanisms take it."""
        if self.sensitivity is None:
            raise ParameterError(
                "--counts needs --sensitivity, how far one person moves a count at most: the counts do not show it. "
                "Write --sensitivity 1 where a person counts once in an item."
            )
        exact = number(self.sensitivity, "--sensitivity")
        if exact.denominator != 1 or exact < 1:
            raise ParameterError(
                f"--sensitivity must be a whole number from 1 on, as counts are: got {self.sensitivity}. Round it up."
            )
        return {"sensitivity": Fraction(exact), "monotone": self.monotone}
