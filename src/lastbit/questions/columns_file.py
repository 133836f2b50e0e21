"""A file of facts about columns to fill in, made of their names and the types that a file declares, and of no row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Final

from lastbit.data.files.open_table import ColumnSelection, list_columns, open_table
from lastbit.errors import LastbitError, ParameterError

_VALUES: Final = '# values = ["...", "..."]           # the public list of its values'
_EDGES: Final = "# edges  = [0, 18, 65]              # numbers as groups: under 18, 18 to 64, 65 and over"
_BOUNDS: Final = "# bounds = [0, 1000]                # numbers: the range that each is clamped to"
_MONTHS: Final = (
    '# every  = "month"                  # dates: one group a month\n# from   = "2024-01"\n# to     = "2024-12"'
)
_HINTS: Final = {
    "text": (_VALUES,),
    "number": (f"{_EDGES}; or", _BOUNDS),
    "date": (_MONTHS,),
    "": (f"{_VALUES}; or", f"{_EDGES}; or", _BOUNDS),
}
"""What may be said of a column, by the type that its file declares."""
_NUMBERS: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "U", "FLOAT", "DOUBLE", "DECIMAL")


def _declared_kind(source: str, table: str | None, column: str) -> str:
    """Return what a file declares a column to hold; "" where only its rows know. Of a type only its name is read."""
    try:
        opened = open_table(source, ColumnSelection((column,)), table, with_rows=False)
    except LastbitError:  # no question can be asked of such a column
        return ""
    with closing(opened.connection):
        name = str(opened.relation.types[0])
    if name.startswith(_NUMBERS):
        return "number"
    if name.startswith(("DATE", "TIMESTAMP")):
        return "date"
    return "text" if name.startswith("ENUM") or column in opened.text_columns else ""


def read_names(source: str, table: str | None = None) -> list[str]:
    """Return the names of the columns that a file or a table declares; refused where only its rows name them."""
    columns = list_columns(source, table)
    if not columns:
        raise ParameterError(
            "the columns of this file are only named by its rows, which are private. Write the file by hand, or use "
            "CSV, Parquet or a database. Nothing was read."
        )
    return columns


def write_columns(source: str, table: str | None = None) -> str:
    """Return a file of facts to fill in. No value and no row gets in."""
    lines = ["# Public facts about columns. Take out the # before what is known without looking at the rows.", ""]
    return "\n".join([*lines, *list_facts(source, table, read_names(source, table))]) + "\n"


def list_facts(source: str, table: str | None, columns: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a file that say which facts each column may have."""
    for column in columns:
        yield f"# [columns.{write_key(column)}]"
        yield from _HINTS[_declared_kind(source, table, column)]


def write_key(name: str) -> str:
    """Return a name as a key of TOML, in ASCII."""
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else write_text(name)


def write_text(value: str) -> str:
    """Return a text as TOML writes it, in ASCII.

    >>> write_text('a "b"'), write_text("\\U0001f600")
    ('"a \\\\"b\\\\""', '"\\\\U0001f600"')
    """
    return '"' + "".join(map(_escape, value)) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if character.isascii() and character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) < 1 << 16 else f"\\U{ord(character):08x}"
