"""JSON lines, as a relation of text: different numbers stay different, also those that no float stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data._objects import split_objects
from lastbit.data.duckdb.relation import ColumnSelection, OpenTable, connect, stream_batches
from lastbit.data.duckdb.texts import parse_number, shorten_varchar
from lastbit.data.files.formats import TextFormat
from lastbit.data.files.lines import LONGEST_LINE, Lines
from lastbit.data.files.paths import Source
from lastbit.data.long_texts import DIGEST_LENGTH, LONGEST_TEXT
from lastbit.data.sql import quote_identifier, quote_text

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_UNUSUAL: Final = r"[0-9.]{17}|[0-9.][eE][+-]?[0-9]{3}|-0[.eE]"
"""Where a line may hold such a number: many digits, a far exponent, minus zero."""

_TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+\\?(?:"|$)'  # a text, or the rest of a line with a text that does not end
    r"|(?<![\w.+-])-?(?:0|[1-9]\d*+)(?:\.\d++)?(?:[eE][+-]?\d++)?(?![\w.+-])"
)
_MINUS_ZERO: Final = re.compile(b"-0")

_PART: Final = 1 << 15
_OVERLAP: Final = 20
"""Bytes that are looked at together, and those of the next ones that a number may reach into."""

_IS_OBJECT: Final = "ltrim(c0, chr(32) || chr(9) || chr(13)) ^@ '{'"
"""Whether a line begins as an object, in SQL."""

_FAR: Final = 18
"""Digits of an exponent that are read as a number."""


def open_json_lines(
    connection: duckdb.DuckDBPyConnection, path: Source, selection: ColumnSelection, text_format: TextFormat, name: str
) -> OpenTable:
    """Open a file of one JSON object in each line. A key that a line lacks is null; no other key is looked at.

    Text is itself, a whole number its digits, any other number its shortest float, or its digits where that float is
    another number; true and false are these words, a list or an object is its JSON. Of a key that is there twice the
    first counts. A line that is no object is left out. A comma behind the last value, and NaN and Infinity, which
    Python's own writer makes, are taken though JSON has none.
    """
    selection.check([name for name in selection.names if name])
    lines = Lines(path, header=False, packing=text_format.endings(name)[1], encoding=text_format.encoding)
    names = list(dict.fromkeys(selection.columns))
    chosen = [f"c{names.index(name)} AS {quote_identifier(name)}" for name in selection.columns]
    has_numbers = selection.weights is not None and not text_format.comma
    if selection.weights is not None:
        # Also where it is a column: as a number it comes without the text, in which a long one is replaced.
        weight = f"c{len(names)}"
        weight = weight if has_numbers else parse_number(weight, comma=True)
        chosen.append(f"{weight} AS {quote_identifier(selection.weights)}")
        names.append(selection.weights)
    rows = stream_batches(connection, *_read_objects(lines, names, selection.weights is not None, has_numbers))
    return OpenTable(rows.project(", ".join(chosen)), connection, lines.percent_read, lambda: lines.problem)


def find_keys(connection: duckdb.DuckDBPyConnection, path: Source, text_format: TextFormat, name: str) -> list[str]:
    """Find all keys of the objects in a file, where its lines are public."""
    from lastbit.data.files.csv import stream_lines

    lines = Lines(path, header=False, packing=text_format.endings(name)[1], encoding=text_format.encoding)
    is_object = "ltrim(c0, chr(32) || chr(9) || chr(13)) ^@ '{'"
    chosen = f"unnest(CASE WHEN {is_object} THEN TRY(json_keys(c0)) END) AS key"
    table = stream_lines(connection, lines, [0], "\n", chosen)
    keys = [str(key) for (key,) in table.relation.filter("key IS NOT NULL").aggregate("key", "key").fetchall()]
    table.check()
    return keys


def _read_objects(
    lines: Lines, names: list[str], has_weights: bool, has_numbers: bool
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Return the values of the keys, text in its normal form. The last key may have weights, as numbers or as text."""
    import pyarrow as pa

    number = len(names) - 1 if has_numbers else -1
    types = [pa.float64() if column == number else pa.string() for column in range(len(names))]
    schema = pa.schema([(f"c{column}", dtype) for column, dtype in enumerate(types)])
    keys = [name.encode("utf-8", "surrogatepass") for name in names]

    def batches() -> Iterator[pa.RecordBatch]:
        parse = cache(partial(_make_parser, schema, names, has_weights))
        for block in lines.blocks():
            rows, unusual, ends, text, known, numbers, places = split_objects(
                block, keys, number, LONGEST_LINE, LONGEST_TEXT, DIGEST_LENGTH
            )
            bits = np.packbits(known[:, :rows], axis=1, bitorder="little")
            columns = [
                pa.Array.from_buffers(dtype, rows, [pa.py_buffer(part) for part in (bits[column], *data)])
                for column, dtype in enumerate(types)
                for data in [[numbers] if column == number else [ends[column], text[column, : ends[column, rows]]]]
            ]
            batch = pa.record_batch(columns, schema=schema)
            if unusual:
                data = [None, *map(pa.py_buffer, (ends[-1], text[-1, : ends[-1, unusual]]))]
                parsed, behind = parse()(pa.Array.from_buffers(pa.string(), unusual, data), places[:unusual])
                order = np.argsort(np.concatenate([2 * np.arange(rows) + 1, 2 * behind]), kind="stable")
                batch = pa.concat_batches([batch, parsed]).take(pa.array(order))
            yield batch

    return schema, batches()


def _make_parser(
    schema: pa.Schema, names: list[str], has_weights: bool
) -> Callable[[pa.Array, NDArray[np.int64]], tuple[pa.RecordBatch, NDArray[np.int64]]]:
    """Return a function that has an engine of its own read lines, each by itself, and says behind how many rows."""
    import pyarrow as pa

    # As pointers, which can name any key. In a list they would be indices, so that only objects may come this far.
    keys = ", ".join(quote_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in names)
    values = [shorten_varchar(f"extracted[{column + 1}]") for column in range(len(names))]
    if has_weights:
        weight = f"extracted[{len(names)}]"
        values[-1] = parse_number(weight) if pa.types.is_floating(schema.types[-1]) else weight
    chosen = ", ".join(f"{value} AS c{column}" for column, value in enumerate(values))
    engine = connect()

    def parse(lines: pa.Array, places: NDArray[np.int64]) -> tuple[pa.RecordBatch, NDArray[np.int64]]:
        rows = engine.from_arrow(pa.table({"line": _preserve_numbers(lines), "place": places}))
        # A text is no JSON if nothing can be extracted. Unnested, because the engine would otherwise look at the line
        # again for every column.
        rows = rows.project(f"unnest([TRY(json_extract_string(line, [{keys}]))]) AS extracted, place")
        table = rows.filter("extracted IS NOT NULL").project(f"{chosen}, place").to_arrow_table().combine_chunks()
        columns = [table.column(column).cast(dtype).combine_chunks() for column, dtype in enumerate(schema.types)]
        return pa.record_batch(columns, schema=schema), table.column("place").to_numpy()

    return parse


def _preserve_numbers(lines: pa.Array) -> pa.Array:
    """Return the same lines, in which every number has a text of its own.

    The engine reads a number with a point or an exponent as a float. Where the shortest digits of this float are
    another number, the number becomes a text of its own digits, in one form: 0.10000000000000000001 and
    0.10000000000000000002 are two, and 0.0 and -0.0 are one.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _may_hold(np.frombuffer(lines.buffers()[2] or b"", np.uint8)):
        return lines
    unusual = pc.match_substring_regex(lines, _UNUSUAL)
    if not pc.any(unusual).as_py():
        return lines
    exact = [_TOKEN.sub(_write_exactly, line) for line in lines.filter(unusual).to_pylist()]
    return pc.replace_with_mask(lines, unusual, pa.array(exact, pa.string()))


def _may_hold(text: NDArray[np.uint8]) -> bool:
    """Tell whether the lines may hold such a number: a quick look, as much as the caches hold at a time."""
    parts = (text[start : start + _PART + _OVERLAP] for start in range(0, len(text), _PART))
    return any(map(_part_may_hold, parts)) or _MINUS_ZERO.search(text.data) is not None


def _part_may_hold(text: NDArray[np.uint8]) -> bool:
    digits = (text - np.uint8(ord("."))) < 12
    # Of seventeen digits in a row, four stand at multiples of four, one after the other.
    some = digits[::4]
    powers = (text[1:] | np.uint8(32)) == ord("e")
    powers &= digits[:-1]
    return bool(powers.any() or (some[3:] & some[2:-1] & some[1:-2] & some[:-3]).any())


def _write_exactly(match: re.Match[str]) -> str:
    token = match[0]
    if token[0] == '"' or not any(sign in token for sign in ".eE"):
        return token
    form = _form(token)
    if form == "0":
        return "0.0"
    return token if form == _form(repr(float(token))) else f'"{form}"'


def _form(text: str) -> str:
    """Return a number in one form, which no two numbers share.

    >>> _form("0.10"), _form("-12.5e3"), _form("-0.0"), _form("inf")
    ('1e-1', '-125e2', '0', 'inf')
    """
    mantissa, _, power = text.lower().partition("e")
    if len(power) > _FAR or not mantissa[-1].isdigit():
        return text
    sign = "-" if mantissa[0] == "-" else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = (whole + fraction).lstrip("0")
    short = digits.rstrip("0")
    exponent = int(power or "0") - len(fraction) + len(digits) - len(short)
    return f"{sign}{short}e{exponent}" if short else "0"
