"""The first file of a study, made of the names of columns and the types that a file declares, and of no row."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from lastbit.errors import ParameterError
from lastbit.questions.columns_file import list_facts, read_names, write_text
from lastbit.questions.kinds import KINDS

_LIKELY_UNITS: Final = ("patient", "person", "user", "customer", "member", "household", "device", "id")
"""Names of columns that often say whom a row belongs to."""


_KINDS: Final = ("share", "sum", "mean", "median", "quantile", "top", "tables")
"""What a first file names besides counts."""


def write_first_file(
    source: str, *, unit: str | None = None, table: str | None = None, folder: Path | None = None
) -> str:
    """Return a commented study file about a table: no value, range or number of rows gets in. No row is read.

    `folder` is where the file will stand: the table is named from there.
    """
    columns = read_names(source, table)
    if unit is not None and unit not in columns:
        raise ParameterError(f"there is no column {unit!r}. Use one of {', '.join(columns)}. Nothing was read.")
    name = _name_from(source, folder)
    guess = unit or _guess_unit(columns)
    stem = "".join(filter(str.isprintable, Path(source).name.split(".")[0])) or "study"
    whom = write_text(guess)
    space = " " * max(1, 28 - len(guess))
    table_line = "" if table is None else f"table = {write_text(table)}\n"
    facts = "\n".join(list_facts(source, table, [column for column in columns if column != guess]))
    kinds = ", ".join(name for name in _KINDS if name in KINDS)
    return f"""# What is published about {stem}, about whom, and at what cost.
# Nothing in this file comes from the rows: it may be read, reviewed and published before the first row is.
# lastbit publish check FILE says what is wrong with it, lastbit publish plan FILE how accurate it will be.

[study]
title   = {write_text(f"About {stem}")}
by      = ""                          # who publishes it
edition = "1"                         # the same file with another edition is another charge

[data]
files = {write_text(name)}
{table_line}unit  = {whom}{space}# WHO IS PROTECTED: all rows with one value of this column. Check this first
noun  = ["person", "people"]          # what one of them is called, and several
about = 1000                          # a public guess how many there are, for the plan

[budget]
epsilon = 1
# ledger  = "budget.db"               # who pays: lastbit budget create NAME --ledger budget.db --epsilon 1
# dataset = {write_text(stem)}

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
folder  = {write_text(f"report-{stem}")}
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
