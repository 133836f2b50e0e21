"""How the text of a Parquet file is read, so that no text takes more memory than it takes in the file.

A text that many rows have is in the file once, in a dictionary, and a file of a few kilobytes may unpack to many
gigabytes. So columns with few different texts keep their dictionaries. Of others the engine says whether a text is
long: then they keep their dictionaries too. A row group that is itself large is read a few rows at a time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from lastbit.data.long_texts import LONGEST_TEXT
from lastbit.data.memory.arrays import read_buffer
from lastbit.data.sql import quote_identifier, quote_text

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq

_ROWS: Final = 1 << 14
"""Rows that are read at a time. More take more memory, and no less time."""

_FEW_ROWS: Final = 1 << 7
"""The same where each row may hold as much as a row group."""

_ROOM: Final = 1 << 28
"""Bytes of a column in a row group that may be in memory at once."""

_SHORT: Final = 4
"""Bytes in the file for each row, below which a column has few different texts."""

_CODED: Final = {"PLAIN", "RLE", "BIT_PACKED", "RLE_DICTIONARY", "PLAIN_DICTIONARY"}
"""Encodings that PyArrow reads into dictionaries."""


@dataclass(frozen=True)
class TextColumns:
    """The columns of text and bytes of a file, by what the file says of them."""

    few: tuple[str, ...]
    """Columns with few different texts: they are read as dictionaries."""
    many: tuple[str, ...]
    codable: tuple[str, ...]
    """Of `many`, those that can be read as dictionaries."""
    large: bool
    """Whether a row group holds more than there is room for, or may."""

    @classmethod
    def of(cls, file: pq.ParquetFile, names: list[str]) -> TextColumns:
        """Return the columns of these names, by the sizes that the row groups state."""
        facts = file.metadata
        numbers = {facts.schema.column(number).path: number for number in range(facts.num_columns)}
        few, many, codable, large = [], [], [], False
        for name in names:
            groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
            chunks = [group.column(numbers[name]) for group in groups]
            bytes_kept = all(chunk.physical_type == "BYTE_ARRAY" for chunk in chunks)
            coded = bytes_kept and all({*chunk.encodings} <= _CODED for chunk in chunks)
            sizes = [
                (chunk.total_uncompressed_size, group.num_rows) for chunk, group in zip(chunks, groups, strict=True)
            ]
            large |= any(size > _ROOM for size, _ in sizes)
            if coded and all(size <= _SHORT * rows for size, rows in sizes):
                few.append(name)
            elif bytes_kept:
                many.append(name)
                codable += [name] if coded else []
        return cls(tuple(few), tuple(many), tuple(codable), large)

    def choose_batches(
        self, connection: duckdb.DuckDBPyConnection, path: Path, declared: pa.Schema
    ) -> tuple[int, list[str], tuple[str, ...]]:
        """Return how many rows are read at a time, which columns as dictionaries, and which are known to be text."""
        if self.large:
            # PyArrow keeps the dictionary of a whole row group, which would not fit.
            return _FEW_ROWS, [*self.few], ()
        if not self.many or not _has_long(connection, path, declared, self.many):
            return _ROWS, [*self.few], self.many
        return _ROWS if self.codable == self.many else _FEW_ROWS, [*self.few, *self.codable], ()


def _has_long(connection: duckdb.DuckDBPyConnection, path: Path, declared: pa.Schema, names: tuple[str, ...]) -> bool:
    """Tell whether one of the texts is long, or one is such that the engine does not read it."""
    import duckdb

    with connection.cursor() as own:
        try:
            rows = read_rows(own, path)
            # By their numbers, because the engine takes names that differ in capitals only for one.
            numbers = [declared.get_field_index(name) for name in names]
            # Without a cast from text to bytes, which would copy all of it.
            length = ["octet_length" if rows.types[number] == "BLOB" else "strlen" for number in numbers]
            columns = [quote_identifier(rows.columns[number]) for number in numbers]
            longest = ", ".join(f"max({function}({column}))" for function, column in zip(length, columns, strict=True))
            ((*lengths,),) = rows.aggregate(longest).fetchall()
        except duckdb.Error:
            return True
    return any(length is not None and length > LONGEST_TEXT for length in lengths)


def is_text(dtype: Any) -> bool:
    """Tell whether values of this type are text or bytes of any length."""
    import pyarrow as pa

    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if isinstance(dtype, pa.BaseExtensionType):
        dtype = dtype.storage_type
    known = pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary
    return any(matches(dtype) for matches in known) or dtype in (pa.string_view(), pa.binary_view())


def replace_entries(rows: pa.DictionaryArray, entries: pa.Array) -> pa.DictionaryArray:
    """Return the same rows with other entries: null where the entry is."""
    import pyarrow as pa

    indices = rows.indices.cast(pa.int32())
    if entries.null_count:
        known = np.append(read_buffer(entries.is_valid().cast(pa.uint8()), np.uint8).view(np.bool_), False)
        rows_entries = read_buffer(indices.fill_null(-1), np.int32)
        indices = pa.array(rows_entries, pa.int32(), mask=~known[rows_entries])
        entries = entries.fill_null(
            b"" if pa.types.is_binary(entries.type) or pa.types.is_large_binary(entries.type) else ""
        )
    return pa.DictionaryArray.from_arrays(indices, entries)


def read_rows(connection: duckdb.DuckDBPyConnection, path: Path) -> duckdb.DuckDBPyRelation:
    """Return the rows of a Parquet file as the engine reads them itself."""
    name = quote_text(escape_glob(path))
    return connection.sql(f"SELECT * FROM read_parquet({name}, hive_partitioning = false)")  # noqa: S608


def escape_glob(path: Path) -> str:
    """Return a path that the engine takes for itself and not for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
