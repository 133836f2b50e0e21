"""Releases as tables for people and as JSON for programs."""

from __future__ import annotations

import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.exact.numbers import number
from lastbit.output.json_values import json_text
from lastbit.output.numbers import Format, Rounding, are_intervals, are_numbers, is_number
from lastbit.output.numbers import format_percent as format_percent
from lastbit.output.picture import Panel
from lastbit.output.table import PEOPLE, format_cells, is_name, one_line

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry
    from lastbit.output.picture import Panel

_NUMERIC_KEYS: Final = ("level", "bounds", "epsilon", "rho", "delta")
"""Keys whose values commands keep as they were typed. In JSON they are numbers."""


@dataclass(frozen=True)
class Report:
    """The answer of a command: a table with a title above and notes below, and the same as plain data.

    Each column has one format. A column of intervals says how many digits the numbers before it have. The columns named
    in `whole_columns` count people.
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    notes: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    whole_columns: Collection[str] = ()
    frame: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """The same for `to_frame`: value, low and high are about what the title says."""
    panels: Sequence[Panel] = ()
    """What a picture shows, where that is neither the frame nor the release's own picture."""
    level: str = ""
    """The level of the intervals, where it is not the one that was asked for."""
    labels: Collection[str] = ()
    """Columns of `to_frame` that name a row, whatever they are called: those of the groups."""
    post_processing: Sequence[str] = ()
    """What was done to the published numbers before they are shown, in sentences."""
    release: Any = None
    """The published tables, as they are about what the title says: where the release itself is about fewer people."""

    @property
    def has_intervals(self) -> bool:
        """Whether the table states an interval."""
        return any(map(are_intervals, self.columns.values())) or "low" in self.frame

    @cached_property
    def table(self) -> Mapping[str, Sequence[Any]]:
        """The columns of `to_frame`: an interval is two columns, low and high, behind its value."""
        table = self.frame or split_intervals(self.columns)
        return {
            name: column if isinstance(column, np.ndarray) else _without_nan(column) for name, column in table.items()
        }

    def is_label(self, name: str) -> bool:
        """Return whether a column of `to_frame` names a row, and holds no number of it."""
        return name in self.labels or not (name in _NUMBER_NAMES or name.endswith(_NUMBER_ENDINGS))

    @property
    def label_names(self) -> list[str]:
        """The columns of `to_frame` that name a row."""
        return [name for name in self.table if self.is_label(name)]

    @property
    def json_text(self) -> str:
        """The data as JSON, as `show` prints it."""
        return json_text(convert_numbers(self.data))

    def show(self, *, as_json: bool, stream: IO[str] | None = None) -> None:
        """Print the report, on standard output unless another stream is named."""
        if as_json:
            print_json(convert_numbers(self.data))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        # Text and not markup: an item may be called [red].
        stream = sys.stdout if stream is None else stream
        console = Console(file=stream, highlight=False, width=None if stream.isatty() else 200)
        console.print(Text(one_line(self.title), style="bold"))
        if self.columns:
            table = Table(box=None, pad_edge=False, header_style="dim")
            for name, column in self.columns.items():
                numbers = not is_name(name) and (are_numbers(column) or are_intervals(column))
                # On a narrow terminal words break, so that nothing is cut off.
                table.add_column(Text(one_line(name)), justify="right" if numbers else "left", overflow="fold")
            for row in zip(*format_cells(self.columns, whole=(*PEOPLE, *self.whole_columns)), strict=True):
                table.add_row(*map(Text, row))
            console.print(table)
        for note in self.notes:
            console.print(Text(one_line(note), style="dim"))


_NUMBER_NAMES: Final = frozenset(
    (
        "value",
        "low",
        "high",
        "people",
        "mean",
        "total",
        "sd",
        "first",
        "second",
        "gap",
        "variance",
        "estimate",
        "shown",
        "why",
        "kind",
    )
)
_NUMBER_ENDINGS: Final = ("_value", "_low", "_high")
_FRAME_NAMES: Final = {"ahead of the next by": "gap", "above by": "above_by", "at least": "at_least"}


def _without_nan(column: Sequence[Any]) -> Sequence[Any]:
    if not any(issubclass(kind, float) for kind in set(map(type, column))):
        return column
    missing = [isinstance(cell, float) and cell != cell for cell in column]
    return [None if gone else cell for cell, gone in zip(column, missing, strict=True)] if any(missing) else column


def split_intervals(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """Return the columns under the names of `to_frame`: the number before an interval is `value`.

    >>> split_intervals({"rank": [1], "item": ["flu"], "people": [5], "interval": [(3, None)]})
    {'rank': [1], 'item': ['flu'], 'value': [5], 'low': [3], 'high': [None]}
    """
    table: dict[str, Sequence[Any]] = {}
    names = list(columns)
    for name, after in zip(names, [*names[1:], ""], strict=True):
        column = columns[name]
        if not are_intervals(column):
            table["value" if after == "interval" else _FRAME_NAMES.get(name, name)] = column
            continue
        prefix = {"interval": "", "true gap": "gap_"}.get(name, f"{name.replace(' ', '_')}_")
        for place, end in enumerate(("low", "high")):
            table[f"{prefix}{end}"] = [None if cell is None else cell[place] for cell in column]
    return table


def print_json(data: object) -> None:
    """Print JSON. What the terminal or the file cannot encode is written as JSON writes it in ASCII."""
    text = json_text(data)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json_text(data, ascii_only=True)
    print(text)


def convert_numbers(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data with numbers in the place of the texts that a person typed for them."""

    def convert(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [convert(part) for part in value]
        return number(value, "a number") if isinstance(value, str) else value

    return {name: convert(value) if name in _NUMERIC_KEYS else value for name, value in data.items()}


def format_value(value: object, rounding: Rounding = "nearest") -> str:
    """Return a value as people read it: exact where it is short, to six digits where it is not. Bounds say which way.

    >>> format_value(Fraction(5, 2)), format_value(Fraction(1, 3)), format_value(Fraction(1, 10**400))
    ('2.5', '0.333333', '1e-400')
    >>> format_value(Fraction(12345678, 10))
    '1,234,568'
    """
    if is_number(value):
        return Format.of([value]).text(value, rounding)
    return "" if value is None else str(value)


def format_bound(value: Fraction, *, whole: bool) -> str:
    """Return an upper bound for a sentence, rounded up, so that it stays true: of people, the next whole number.

    >>> format_bound(Fraction(1221, 10), whole=True), format_bound(Fraction(1, 3), whole=False)
    ('123', '0.333334')
    """
    return format_value(Fraction(math.ceil(value)) if whole else value, "up")


def account_line(account: Account) -> str:
    """Return what an account has spent and has left, in one line."""
    if account.currency != "epsilon":
        from lastbit.ledger.price import format_down

        *losses, delta = (f"{name} {format_down(amount)}" for name, amount in account.left.items())
        return f"{account.dataset} ({account.text}): {' or '.join(losses)} left, and {delta}"
    return (
        f"{account.dataset}: spent {format_value(account.spent, 'up')} of {format_value(account.limit, 'down')}, "
        f"{format_value(account.remaining, 'down')} left (epsilon)"
    )


def account_data(account: Account) -> dict[str, Any]:
    """Return an account as plain data."""
    return {
        "dataset": account.dataset,
        "limit": account.limit,
        "spent": account.spent,
        "remaining": account.remaining,
        "adjacency": account.adjacency,
        "protects": account.protects,
        "digest": account.digest,
        "currency": account.currency,
        "left": account.left,
        "spent_epsilon": account.spent_epsilon,
        "spent_rho": account.spent_rho,
        "rho_limit": account.rho_limit,
        "spent_delta": account.spent_delta,
        "delta_limit": account.delta_limit,
        "delta_of_rho": account.delta_of_rho,
    }


def entry_data(entry: Entry) -> dict[str, Any]:
    """Return an entry as plain data: what the command and the service both say of it."""
    return {
        "id": entry.id,
        "time": entry.time.isoformat(),
        "kind": entry.kind,
        "mechanism": entry.mechanism,
        "parameters": dict(entry.parameters),
        "cost": entry.cost,
        "amount": entry.amount,
        "about": entry.about,
        "note": entry.note,
        "asker": entry.asker,
        "published": entry.recorded,
        "digest": entry.digest,
    }
