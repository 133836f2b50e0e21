"""Answers as files of data: CSV that no spreadsheet runs, and Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

from lastbit.errors import LastbitError
from lastbit.output.json_values import COMPARISON_SCHEMA, SCHEMA

_MARK: Final = "lastbit.answer"
"""The key of a Parquet file's metadata by which an answer is known again."""
Columns = Mapping[str, Sequence[Any]]
"""A table, column by column."""


def plain_columns(columns: Columns) -> dict[str, list[Any]]:
    """Return columns of whole numbers, floats, text and nothing else, as files have them.

    >>> plain_columns({"value": [Fraction(5), Fraction(1, 2), None, float("nan")]})
    {'value': [5, 0.5, None, None]}
    """
    return {str(name): [_plain_cell(cell) for cell in column] for name, column in columns.items()}


def _plain_cell(cell: Any) -> Any:
    item = getattr(cell, "item", None)  # a number of NumPy
    cell = item() if callable(item) else cell
    if isinstance(cell, Fraction):
        cell = int(cell) if cell.denominator == 1 and abs(cell) < 1 << 53 else _nearest_float(cell)
    if cell is None or isinstance(cell, bool | int | float | str):
        return None if isinstance(cell, float) and not isfinite(cell) else cell
    return str(cell)


def _nearest_float(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf  # no file has it


def escape_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula.

    >>> escape_cell("=1+1"), escape_cell("flu"), escape_cell(-3)
    ("'=1+1", 'flu', -3)
    """
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r", "\n") else value


def csv_text(columns: Columns) -> str:
    """Return columns as the text of a CSV file: the same text for the same columns. Text in it stays text.

    >>> csv_text({"month": ["2024-01", "=1+1"], "value": [Fraction(3), Fraction(1, 2)], "high": [None, 7]})
    "month,value,high\\n2024-01,3,\\n'=1+1,0.5,7\\n"
    """
    plain = plain_columns(columns)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(escape_cell, plain))
    writer.writerows([escape_cell(cell) for cell in row] for row in zip(*plain.values(), strict=True))
    return text.getvalue()


def csv_bytes(columns: Columns) -> bytes:
    """Return columns as a CSV file. Half a character, which no file can hold, is written as its number.

    >>> csv_bytes({"item": ["caf\\u00e9"]})
    b'item\\ncaf\\xc3\\xa9\\n'
    """
    return csv_text(columns).encode("utf-8", "backslashreplace")


def write_parquet(path: str | Path, columns: Columns) -> None:
    """Write columns as a Parquet file: numbers are numbers, and missing ones are null.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_parquet(f"{folder}/a.parquet", {"item": ["flu"], "value": [Fraction(1, 2)]})
    ...     Path(folder, "a.parquet").read_bytes()[:4]
    b'PAR1'
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise LastbitError("Parquet needs pyarrow. Install it with: pip install 'lastbit[data]'") from None
    arrays = {name: _arrow_array(column, pa) for name, column in plain_columns(columns).items()}
    pq.write_table(pa.table(arrays).replace_schema_metadata({_MARK: "answer"}), str(path))


def is_answer_csv(head: bytes, _tail: bytes) -> bool:
    """Return whether a file that begins so is an answer as CSV: its first line has the names of `to_frame`.

    >>> is_answer_csv(b"region,value,low,high\\nnorth,1,0,2", b""), is_answer_csv(b"patient,diagnosis\\n", b"")
    (True, False)
    """
    names = head.decode("utf-8", "replace").partition("\n")[0].rstrip("\r").split(",")
    return {"low", "high"} <= {*names} or {"bounded_low", "bounded_high"} <= {*names} or names[0] == "rank"


def is_answer_json(head: bytes, _tail: bytes) -> bool:
    """Return whether a file that begins so is an answer as JSON: its first object names its schema.

    >>> is_answer_json(b'{"mechanism": "NoisyMax", "schema": "lastbit-release-1", ', b""), is_answer_json(b"{}", b"")
    (True, False)
    """
    schemas = (f'"schema": "{name}"'.encode() for name in (SCHEMA, COMPARISON_SCHEMA))
    return head.startswith(b"{") and any(schema in head for schema in schemas)


def is_answer_parquet(head: bytes, tail: bytes) -> bool:
    """Return whether a file that begins and ends so is an answer that `write_parquet` wrote."""
    return head.startswith(b"PAR1") and tail.endswith(b"PAR1") and _MARK.encode() in tail


def _arrow_array(column: Sequence[Any], pa: Any) -> Any:
    there = [cell for cell in column if cell is not None]
    if there and all(isinstance(cell, bool) for cell in there):
        return pa.array(column, pa.bool_())
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there):
        whole = bool(there) and all(isinstance(cell, int) and abs(cell) < 1 << 63 for cell in there)
        return pa.array([None if cell is None else cell if whole else float(cell) for cell in column],
                        pa.int64() if whole else pa.float64())  # fmt: skip
    texts = [None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode() for cell in column]
    return pa.array(texts, pa.string())
