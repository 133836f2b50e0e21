"""The first file of a study, made of the names of columns and the types that a file declares, and of no row."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Final

from lastbit.data.files.open_table import ColumnSelection, list_columns, open_table
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.kinds import KINDS

_LIKELY_UNITS: Final = ("patient", "person", "user", "customer", "member", "household", "device", "id")
"""Names of columns that often say whom a row belongs to."""


_KINDS: Final = ("share", "sum", "mean", "median", "quantile", "top", "tables")
"""What a first file names besides counts."""
_VALUES: Final = '# values = ["...", "..."]           # the public list of its values'
_EDGES: Final = "# edges  = [0, 18, 65]              # numbers as groups: under 18, 18 to 64, 65 and over"
_BOUNDS: Final = "# bounds = [0, 1000]                # numbers: the range that each is clamped to"
_MONTHS: Final = (
    '# every  = "month"                  # dates: one group a month\n# from   = "2024-01"\n# to     = "2024-12"'
)
_HINTS: Final = {
    "text": (_VALUES,),
    "number": (f"{_EDGES}; or", _BOUNDS),
    "date": (_MONTHS, '# from   = "2024-01"', '# to     = "2024-12"'),
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


def write_first_file(
    source: str, *, unit: str | None = None, table: str | None = None, folder: Path | None = None
) -> str:
    """Return a commented study file about a table: no value, range or number of rows gets in. No row is read.

    `folder` is where the file will stand: the table is named from there.
    """
    columns = list_columns(source, table)
    if not columns:
        raise ParameterError(
            "the columns of this file are only named by its rows, which are private. Write the file by hand, or use "
            "CSV, Parquet or a database. Nothing was read."
        )
    if unit is not None and unit not in columns:
        raise ParameterError(f"there is no column {unit!r}. Use one of {', '.join(columns)}. Nothing was read.")
    name = _name_from(source, folder)
    guess = unit or _guess_unit(columns)
    stem = "".join(filter(str.isprintable, Path(source).name.split(".")[0])) or "study"
    space = " " * max(1, 28 - len(guess))
    table_line = "" if table is None else f"table = {_text(table)}\n"
    facts = "\n".join(
        "\n".join([f"# [columns.{_key(column)}]", *_HINTS[_declared_kind(source, table, column)]])
        for column in columns
        if column != guess
    )
    kinds = ", ".join(name for name in _KINDS if name in KINDS)
    return f"""# What is published about {stem}, about whom, and at what cost.
# Nothing in this file comes from the rows: it may be read, reviewed and published before the first row is.
# lastbit publish check FILE says what is wrong with it, lastbit publish plan FILE how accurate it will be.

[study]
title   = {_text(f"About {stem}")}
by      = ""                          # who publishes it
edition = "1"                         # the same file with another edition is another charge

[data]
files = {_text(name)}
{table_line}unit  = {_text(guess)}{space}# WHO IS PROTECTED: all rows with one value of this column. Check this first
noun  = ["person", "people"]          # what one of them is called, and several
about = 1000                          # a public guess how many there are, for the plan

[budget]
epsilon = 1
# ledger  = "budget.db"               # who pays: lastbit budget create NAME --ledger budget.db --epsilon 1
# dataset = {_text(stem)}

# Public facts about columns, typed once and used by every question
{facts}

[[question]]
name = "people"
ask  = "count"

# [[question]]
# name = "by_group"
# ask  = "count"                      # or {kinds}
# by   = "..."

[output]
folder  = {_text(f"report-{stem}")}
formats = ["html", "csv", "parquet", "svg"]
"""


def _guess_unit(columns: list[str]) -> str:
    """Return the column that most likely says whom a row belongs to, by its name.

    >>> _guess_unit(["day", "patient_id"]), _guess_unit(["a", "b"])
    ('patient_id', 'a')
    """
    lower = [column.lower() for column in columns]
    for likely in _LIKELY_UNITS:
        for column, name in zip(columns, lower, strict=True):
            if name == likely or name.startswith(f"{likely}_") or name.endswith(f"_{likely}"):
                return column
    return columns[0]


def _name_from(source: str, folder: Path | None) -> str:
    if "://" in source or folder is None:
        return source
    try:
        return Path(source).resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return str(Path(source).resolve())


def _text(value: str) -> str:
    """Return a text as TOML writes it, in ASCII.

    >>> _text('a "b"'), _text("\\U0001f600")
    ('"a \\\\"b\\\\""', '"\\\\U0001f600"')
    """
    return '"' + "".join(map(_escape, value)) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isascii() and character.isprintable() else f"\\U{ord(character):08x}"


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _text(name)
