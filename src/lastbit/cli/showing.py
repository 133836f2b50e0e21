"""Releases as tables for people and as JSON for programs."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.exact.numbers import Number, probability
from lastbit.release import json_text, one_line

if TYPE_CHECKING:
    from lastbit.ledger import Account

_LONG, _SMALL = 10**15, Fraction(1, 10**5)


@dataclass(frozen=True)
class Report:
    """The answer of a command: a table with a title above and notes below, and the same as plain data."""

    title: str
    columns: Mapping[str, Sequence[Any]]
    notes: Sequence[str] = ()
    data: Mapping[str, Any] = field(default_factory=dict)

    def show(self, *, as_json: bool) -> None:
        """Print the report."""
        if as_json:
            print(json_text(self.data))
            return
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        # Text and not markup: an item may be called [red].
        console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
        console.print(Text(self.title, style="bold"))
        if self.columns:
            table = Table(box=None, pad_edge=False, header_style="dim")
            for name, column in self.columns.items():
                numbers = all(value is None or isinstance(value, int | float | Fraction) for value in column)
                # On a narrow terminal words break, so that nothing is cut off.
                table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
            for row in zip(*self.columns.values(), strict=True):
                table.add_row(*(Text(one_line(shown(value))) for value in row))
            console.print(table)
        for note in self.notes:
            console.print(Text(note, style="dim"))


def shown(value: object) -> str:
    """A value as people read it: exact where it is short, to six digits where it is not.

    >>> shown(Fraction(5, 2)), shown(Fraction(1, 3)), shown(None), shown(Fraction(1, 10**400))
    ('2.5', '0.333333', '', '1e-400')
    """
    if isinstance(value, Fraction):
        if value.denominator == 1 and abs(value) < _LONG:
            return f"{value.numerator:,}"
        # A float cannot hold very large or very small numbers.
        digits = Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)
        rounded = digits.divide(Decimal(value.numerator), Decimal(value.denominator))
        return f"{rounded.normalize(digits):g}" if _SMALL < abs(value) < _LONG else f"{rounded.normalize(digits):e}"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(each, Fraction | float) for each in value):
        return f"{shown(value[0])} to {shown(value[1])}"
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def account_line(account: Account) -> str:
    """What an account has spent and has left, in one line."""
    if account.currency != "epsilon":
        from lastbit.ledger.price import below

        *losses, delta = (f"{name} {below(each)}" for name, each in account.left.items())
        return f"{account.dataset} ({account.text}): {' or '.join(losses)} left, and {delta}"
    return (
        f"{account.dataset}: spent {shown(account.spent)} of {shown(account.limit)}, "
        f"{shown(account.remaining)} left (epsilon)"
    )


def account_data(account: Account) -> dict[str, Any]:
    """An account as plain data: exact fractions as text."""
    amounts = {"spent_epsilon": account.spent_epsilon, "spent_rho": account.spent_rho, "rho_limit": account.rho_limit}
    return {
        "dataset": account.dataset,
        "limit": str(account.limit),
        "spent": str(account.spent),
        "remaining": str(account.remaining),
        "adjacency": account.adjacency,
        "digest": account.digest,
        "currency": account.currency,
        "left": {name: str(each) for name, each in account.left.items()},
        **{name: None if each is None else str(each) for name, each in amounts.items()},
        "spent_delta": str(account.spent_delta),
        "delta_limit": str(account.delta_limit),
        "delta_of_rho": str(account.delta_of_rho),
    }


def percent(level: Number) -> str:
    """A level as people read it, refused unless it is a probability.

    >>> percent("0.95")
    '95%'
    >>> percent("0.9999999999")
    'more than 99.9999%'
    """
    exact = probability(level, "level") * 100
    # Six digits of it would be rounded up to certainty.
    return "more than 99.9999%" if exact > Fraction(999999, 10000) else f"{shown(exact)}%"
