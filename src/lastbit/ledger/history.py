"""The history of an account: entries, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from lastbit.ledger.entry import Entry
from lastbit.output.table import format_cells, html_table, text_table

_LATEST: Final = 100
"""Rows of the table in a notebook."""


class History(tuple[Entry, ...]):
    """The entries of an account, oldest first: a tuple, which prints as a table.

    >>> import tempfile, lastbit as lb
    >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> ledger.history("clinic").columns()["what"]
    ['create']
    """

    __slots__ = ()

    def columns(self) -> dict[str, Sequence[Any]]:
        """Return the table, column by column."""
        return {
            "id": [entry.id for entry in self],
            "time": [entry.time.isoformat(" ", "seconds") for entry in self],
            "what": [entry.mechanism or entry.kind for entry in self],
            "cost": [entry.cost for entry in self],
            "charged": [entry.charged for entry in self],
            "about": [entry.about for entry in self],
            "protects": [entry.protects for entry in self],
            "asker": [entry.asker for entry in self],
            "done": [entry.done for entry in self],
            "note": [entry.note for entry in self],
        }

    def __str__(self) -> str:
        names, rows, title = self._table()
        return "\n".join([title, text_table(names, rows)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_table(*self._table())

    def _table(self) -> tuple[list[str], list[list[str]], str]:
        """Return the names of the columns that hold something, the latest rows, and a title."""
        latest = History(self[-_LATEST:]).columns()
        empty = {name for name, column in latest.items() if self and all(value in (None, "") for value in column)}
        columns = {name: column for name, column in latest.items() if name not in empty}
        rows = [list(row) for row in zip(*format_cells(columns), strict=True)]
        part = f": the latest {_LATEST} of {len(self):,} entries" if len(self) > _LATEST else ""
        return list(columns), rows, f"History of {self[0].dataset if self else 'nothing'}{part}"
