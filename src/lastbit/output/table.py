"""Tables as text and as HTML."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, Final

from lastbit.output.numbers import Multiples, Rounding, are_intervals, are_numbers, format_column

MOST_ROWS: Final = 40

PEOPLE: Final = ("people", "rows")
"""The columns that count people, or rows: whole numbers, whatever the estimate is."""

_BOUNDS: Final[dict[str, Rounding]] = {"at least": "down", "at most": "up", "an item needs": "up"}
"""Columns of bounds, which stay true when they are rounded."""
_NAMES: Final = ("item", "group", "outcome", "output", "id")
_PARAMETER: Final = "param_"


def is_name(column: str) -> bool:
    """Return whether a column holds names, which are shown to the last character, and not amounts."""
    return column in _NAMES or column.startswith(_PARAMETER)


def format_cells(
    columns: Mapping[str, Sequence[Any] | Multiples],
    intervals: Mapping[str, Sequence[Any]] | None = None,
    whole: Sequence[str] = (),
) -> list[list[str]]:
    """Write the columns of a table as texts: each in one format, with the digits that its intervals justify.

    `intervals` gives the intervals of a column by its name. Without it, a column of intervals says how many digits the
    numbers in the column before it have. The columns named in `whole` count people, and are whole numbers.

    >>> format_cells({"item": [2026], "people": [1200.4], "interval": [(1150.2, 1250.9)]}, whole=["people", "interval"])
    [['2026'], ['1,200'], ['1,150 to 1,251']]
    """
    text_columns, names = [], list(columns)
    for name, after in zip(names, [*names[1:], None], strict=True):
        column = columns[name]
        if isinstance(column, Multiples):
            text_columns.append(column.texts())
            continue
        if is_name(name) or not (are_numbers(column) or are_intervals(column)):
            text_columns.append([one_line(value) for value in column])
            continue
        own_intervals: Sequence[Any] = () if intervals is None else intervals.get(name, ())
        if intervals is None and after is not None:
            beside = columns[after]
            own_intervals = beside if not isinstance(beside, Multiples) and are_intervals(beside) else ()
        text_columns.append(
            format_column(column, own_intervals, whole=name in whole, rounding=_BOUNDS.get(name, "nearest"))
        )
    return text_columns


def text_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Render a table for a terminal, its columns aligned to the right.

    >>> print(text_table(["item", "gap"], [["flu", "12"]]))
    item  gap
     flu   12
    """
    return join_columns(list(zip(names, *rows, strict=True)))


def join_columns(columns: Sequence[Sequence[str]]) -> str:
    """Render a table for a terminal from its columns, each with its name before its cells.

    >>> print(join_columns([["item", "flu"], ["gap", "12"]]))
    item  gap
     flu   12
    """
    return "\n".join(map("  ".join, zip(*map(_align, columns), strict=True)))


def _align(cells: Sequence[str]) -> list[str]:
    """Fill up the cells of a column with spaces, from the left, until they take as many places as the widest."""
    if "".join(cells).isascii():
        width = max(map(len, cells))
        return [*map(str.rjust, cells, repeat(width))]
    widths = [*map(display_width, cells)]
    return [" " * (max(widths) - width) + cell for cell, width in zip(cells, widths, strict=True)]


def html_table(names: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    """Render a table for a notebook. Text in it stays text.

    >>> html_table(["item"], [["<b>"]], "one & all").split("<thead>")[0]
    '<table><caption>one &amp; all</caption>'
    """
    from html import escape

    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_section(
    title: str, names: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str], chart: str = ""
) -> str:
    """Render a title, a chart, a table and its notes, for a notebook. A narrow table breaks no other line.

    >>> html_section("Top <3>", ["item"], [["flu"]], ["All is well."]).partition("<table>")[0]
    '<p><strong>Top &lt;3&gt;</strong></p>'
    """
    from html import escape

    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<p><strong>{escape(title)}</strong></p>{chart}{html_table(names, rows, '')}{paragraphs}"


def one_line(value: object) -> str:
    """Write a value in one line of text. Characters that would move the cursor of a terminal are written out."""
    text = "" if value is None else str(value)
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else _escape(character) for character in text)


def display_width(text: str) -> int:
    """Return how many places of a terminal a text takes: characters of Chinese, Japanese and Korean take two.

    >>> display_width("flu"), display_width("流感")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_character_width, text))


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
