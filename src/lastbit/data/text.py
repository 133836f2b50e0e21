"""CSV, TSV and JSON lines, as a relation of text."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from lastbit.data.form import SEPARATORS, Form
from lastbit.data.json_numbers import keep_numbers
from lastbit.data.lines import Lines, batches
from lastbit.data.places import Place
from lastbit.data.relation import Opened, Wanted, literal, selection, streamed
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb


def delimited(connection: duckdb.DuckDBPyConnection, path: Place, wanted: Wanted, form: Form, name: str) -> Opened:
    """Lines of fields under a first line that names them. An empty field is null, in quotes or not.

    A field that begins with a quote ends with one, in the same line, and two quotes inside are one. A line with another
    number of fields than the first, or with a quoted field that does not end as it should, is left out.
    """
    lines, separator, header = _first_line(path, form, name)
    wanted.check(header)
    names = list(dict.fromkeys(wanted.names))
    places = [names.index(name) if name in names else -1 for name in header]
    fields = [f"NULLIF(c{names.index(name)}, '')" for name in wanted.names]
    return _streamed(connection, lines, places, separator, selection(wanted, fields, comma=form.comma))


def delimited_columns(path: Place, form: Form, name: str) -> list[str]:
    """The names in the first line of a file of fields."""
    return _first_line(path, form, name)[2]


def _first_line(path: Place, form: Form, name: str) -> tuple[Lines, str, list[str]]:
    """The lines of a file of fields, what stands between the fields, and the names in the first line."""
    kind, packing = form.endings(name)
    separator = form.separator or SEPARATORS[kind or ".csv"]
    lines = Lines(path, header=True, packing=packing, encoding=form.encoding)
    return lines, separator, _names(lines.first(), path, separator)


def json_lines(connection: duckdb.DuckDBPyConnection, path: Place, wanted: Wanted, form: Form, name: str) -> Opened:
    """Lines that are one JSON object each. A key that a line does not have is null in it; no other key is looked at.

    Text is itself, a whole number its digits, any other number its shortest float, or its digits where that float is
    another number; true and false are these words, a list or an object is its JSON. Of a key that is there twice the
    first counts. A line that is no object is left out. A comma behind the last value, and NaN and Infinity, which
    Python's own writer makes, are taken though JSON has none.
    """
    wanted.check([name for name in wanted.names if name])
    # As pointers, which can name any key. In a list they would be indices, so that only objects may come this far.
    keys = ", ".join(literal("/" + name.replace("~", "~0").replace("/", "~1")) for name in wanted.names)
    # A text is an object if it begins as one, and no JSON if nothing can be extracted. Unnested, because the engine
    # would otherwise look at the line again for every condition on a column.
    found = f"unnest([TRY(json_extract_string(c0, [{keys}]))]) AS found"
    lines = Lines(path, header=False, packing=form.endings(name)[1], encoding=form.encoding)
    begins = "ltrim(c0, chr(32) || chr(9) || chr(13)) ^@ '{'"
    opened = _streamed(connection, lines, [0], "\n", found, begins)
    values = [f"found[{place}]" for place in range(1, len(wanted.names) + 1)]
    chosen = selection(wanted, values, comma=form.comma)
    return opened.changed(lambda rows: rows.filter("found IS NOT NULL").project(chosen))


def _names(line: bytes | None, path: Place, separator: str) -> list[str]:
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


def _streamed(
    connection: duckdb.DuckDBPyConnection,
    lines: Lines,
    places: list[int],
    separator: str,
    chosen: str,
    condition: str = "true",
) -> Opened:
    import pyarrow as pa

    schema = pa.schema([(f"c{column}", pa.string()) for column in range(max(places) + 1)])
    quotes = lines.header
    parts = batches(lines, schema, places, separator, quotes=quotes)
    rows = streamed(connection, schema, parts if quotes else map(keep_numbers, parts))
    relation = rows.filter(condition).project(chosen)
    return Opened(relation, connection, lines.done, lambda: lines.problem)
