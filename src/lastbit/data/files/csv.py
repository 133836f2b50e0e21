"""CSV and TSV files, as a relation of text."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, stream_batches
from lastbit.data.duckdb.texts import select_columns
from lastbit.data.files.formats import SEPARATORS, TextFormat
from lastbit.data.files.lines import Lines, batches
from lastbit.data.files.paths import Source
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb


def open_delimited(
    connection: duckdb.DuckDBPyConnection, path: Source, selection: ColumnSelection, text_format: TextFormat, name: str
) -> OpenTable:
    """Open a file of fields under a first line that names them. An empty field is null, in quotes or not.

    A field that begins with a quote ends with one, in the same line, and two quotes inside are one. A line with another
    number of fields than the first, or with a quoted field that does not end as it should, is left out.
    """
    lines, separator, header = _read_first_line(path, text_format, name)
    selection.check(header)
    names = list(dict.fromkeys(selection.names))
    targets = [names.index(name) if name in names else -1 for name in header]
    fields = [f"NULLIF(c{names.index(name)}, '')" for name in selection.names]
    return stream_lines(
        connection, lines, targets, separator, select_columns(selection, fields, comma=text_format.comma)
    )


def read_header(path: Source, text_format: TextFormat, name: str) -> list[str]:
    """Return the names in the first line of a file of fields."""
    return _read_first_line(path, text_format, name)[2]


def _read_first_line(path: Source, text_format: TextFormat, name: str) -> tuple[Lines, str, list[str]]:
    """Return the lines of a file of fields, what stands between the fields, and the names in the first line."""
    ending, packing = text_format.endings(name)
    separator = text_format.separator or SEPARATORS[ending or ".csv"]
    lines = Lines(path, header=True, packing=packing, encoding=text_format.encoding)
    return lines, separator, _parse_names(lines.first(), path, separator)


def _parse_names(line: bytes | None, path: Source, separator: str) -> list[str]:
    try:
        text = "" if line is None else line.decode()
        names = next(csv.reader([text], delimiter=separator, strict=True), [])
    except (UnicodeDecodeError, csv.Error):
        names = []
    if not names and line is not None and len(line) > csv.field_size_limit():
        raise ParameterError(
            f"the first line of {path} must name its columns, each in at most {csv.field_size_limit():,} bytes. "
            "Check that the file has a header, and line feeds."
        )
    # A carriage return would be a file that has no other line ends, and the names would be its rows.
    if not names or any("\0" in name or "\r" in name for name in names):
        raise ParameterError(
            f"the first line of {path} must name its columns, in UTF-8, and end with a line feed. "
            "Write the file with a header, and no line break inside quotes."
        )
    if len(set(names)) != len(names):
        raise ParameterError(f"the columns of {path} must have different names. Rename the columns that are alike.")
    return names


def stream_lines(
    connection: duckdb.DuckDBPyConnection,
    lines: Lines,
    targets: list[int],
    separator: str,
    chosen: str,
) -> OpenTable:
    """Return the lines as a relation of what is chosen of their fields.

    targets: for each field of a line its column, or -1.
    """
    import pyarrow as pa

    schema = pa.schema([(f"c{column}", pa.string()) for column in range(max(targets) + 1)])
    rows = stream_batches(connection, schema, batches(lines, schema, targets, separator, quotes=lines.header))
    return OpenTable(rows.project(chosen), connection, lines.percent_read, lambda: lines.problem)
