"""The items that occur in a column in memory, in the fixed order of items; and a hash of every row's value."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data import column_types, object_keys
from lastbit.data.memory.arrays import read_indices
from lastbit.data.memory.columns import (
    BytesColumn,
    Column,
    DictionaryColumn,
    ObjectColumn,
    WordColumn,
    normalize_objects,
)
from lastbit.data.memory.hashing import Hashes, hash_bytes, hash_texts, hash_words
from lastbit.data.table import Integers
from lastbit.values.unlisted import sort_key

_DAY: Final = 86_400 * 10**9
_CALENDAR: Final = (-719_162 * _DAY, 2_932_897 * _DAY)
"""Nanoseconds from 1970 to the beginning of the year 1 and to the end of the year 9999."""

_ENDS: Final = {
    column_types.TIMESTAMP: _CALENDAR,
    column_types.ZONED_TIMESTAMP: _CALENDAR,
    column_types.TIME: (0, _DAY),
    column_types.DURATION: (-999_999_999 * _DAY, 10**9 * _DAY),
}
"""The first time that Python has an item for, and the first that it has none for any more."""


def rank_items(column: Column) -> tuple[Integers, Column]:
    """Return the rank of each row's item among the items that occur, -1 where a row has none; and the items, in order.

    >>> ranks, items = rank_items(WordColumn(column_types.INTEGER, np.array([7, -1, 7])))
    >>> ranks.tolist(), list_items(items)
    ([1, 0, 1], [-1, 7])
    """
    if isinstance(column, DictionaryColumn):
        # Entries that no row has count zero.
        ranks, items = rank_items(column.entries)
        return column.expand(ranks, -1), items
    if isinstance(column, WordColumn):
        return _rank_words(column)
    return _rank_bytes(column) if isinstance(column, BytesColumn) else _rank_objects(column)


def list_items(column: Column) -> list[Any]:
    """Return the items of rows that all have one."""
    if isinstance(column, DictionaryColumn):
        return list_items(column.entries.take(column.indices))
    if isinstance(column, ObjectColumn):
        return list(column.values.tolist())
    return [column.type.item(key) for key in _keys(column)]


def hash_rows(column: Column, key: int) -> Hashes:
    """Return a hash of each row's normal form under a key. Rows without a normal form have any."""
    if isinstance(column, DictionaryColumn):
        return column.expand(hash_rows(column.entries, key), 0)
    if isinstance(column, WordColumn):
        return hash_words(column.values, key)
    if isinstance(column, BytesColumn):
        codes, dictionary = _encode_dictionary(column)
        hashes = hash_bytes(dictionary, key)
    else:
        codes, forms = _code_objects(column)
        hashes = hash_texts([object_keys.encode_key(form) for form in forms], key)
    return np.append(hashes, np.uint64(0))[codes]


def _rank_words(column: WordColumn) -> tuple[Integers, WordColumn]:
    known = _nameable(column)
    values = column.values[known]
    forms: Any = values
    if column.type is column_types.FLOAT:
        forms = values.view(np.float64)
    elif column.unsigned:
        forms = values.view(np.uint64)
    distinct, inverse = np.unique(forms, return_inverse=True)
    ranks = np.full(len(known), -1, np.int64)
    ranks[known] = inverse
    return ranks, WordColumn(column.type, distinct.view(np.int64), None, column.unit, column.scale, column.unsigned)


def _nameable(column: WordColumn) -> NDArray[np.bool_]:
    """Return the rows whose value Python has an item for."""
    known = np.ones(len(column.values), np.bool_) if column.missing is None else ~column.missing
    values, unit = column.values, column.unit
    if column.type is column_types.DATE:
        return known & (values >= _CALENDAR[0] // _DAY) & (values < _CALENDAR[1] // _DAY)
    if column.type in _ENDS:
        low, high = _ENDS[column.type]
        known &= (values >= max(-(-low // unit), -(1 << 63))) & (values <= min((high - 1) // unit, (1 << 63) - 1))
        if unit == 1:
            known &= values % 1000 == 0
    return known


def _rank_bytes(column: BytesColumn) -> tuple[Integers, BytesColumn]:
    import pyarrow as pa

    codes, dictionary = _encode_dictionary(column)
    known = np.flatnonzero(_valid_text(dictionary)) if column.type is column_types.TEXT else np.arange(len(dictionary))
    items = BytesColumn(column.type, dictionary.take(pa.array(known)), column.scale, column.unsigned)
    sequence = _sort_items(items)
    ranks = np.full(len(dictionary) + 1, -1, np.int64)
    ranks[known[sequence]] = np.arange(len(known))
    return ranks[codes], items.take(sequence)


def _encode_dictionary(column: BytesColumn) -> tuple[Integers, Any]:
    """Return the code of each row, -1 where it is null, and what the codes stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(column.values)
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    codes = read_indices(pa.chunked_array([chunk.indices for chunk in chunks], pa.int32()))
    # All chunks have one dictionary in common.
    return codes, chunks[0].dictionary if chunks else pa.array([], column.values.type)


def _valid_text(dictionary: Any) -> NDArray[np.bool_]:
    import pyarrow as pa

    try:
        dictionary.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        named = column_types.TEXT.item
        return np.array([named(text) is not None for text in dictionary.to_pylist()], np.bool_)
    return np.ones(len(dictionary), np.bool_)


def _sort_items(items: BytesColumn) -> Integers:
    """Return the indices of items in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if items.type in (column_types.DECIMAL, column_types.INTEGER):  # the least byte comes first
        keys = list(_keys(items))
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    comparable = items.values.cast(pa.binary()) if pa.types.is_fixed_size_binary(items.values.type) else items.values
    return np.asarray(pc.sort_indices(comparable)).astype(np.int64)


def _rank_objects(column: ObjectColumn) -> tuple[Integers, ObjectColumn]:
    codes, forms = _code_objects(column)
    known = [
        (sort_key(item), code, item)
        for code, item in enumerate(map(column_types.OBJECT.item, forms))
        if item is not None
    ]
    known.sort(key=lambda entry: entry[0])
    ranks = np.full(len(forms) + 1, -1, np.int64)
    ranks[[code for _, code, _ in known]] = np.arange(len(known))
    items = np.empty(len(known), object)
    for rank, (_, _, item) in enumerate(known):  # one by one: NumPy would take tuples for rows
        items[rank] = item
    return ranks[codes], ObjectColumn(column.type, items)


def _code_objects(column: ObjectColumn) -> tuple[Integers, list[Any]]:
    """Return the code of each row, -1 where it has no normal form, and the normal form of each code."""
    keys = normalize_objects(column.values)
    codes: dict[Any, int] = {}
    for key in keys:
        if key is not None:
            codes.setdefault(key, len(codes))
    get = codes.get
    return np.array([-1 if key is None else get(key, -1) for key in keys], np.int64), list(codes)


def _keys(column: WordColumn | BytesColumn) -> Sequence[Any]:
    """Return the normal forms of rows that all have one: the inverse of `encode`."""
    if isinstance(column, BytesColumn):
        values = [bytes(value) for value in column.values.to_pylist()]
        if column.type in (column_types.TEXT, column_types.BINARY):
            return values
        if column.type is column_types.UUID:
            return [int.from_bytes(value, "big") for value in values]
        whole = [int.from_bytes(value, "little", signed=not column.unsigned) for value in values]
        return _decimals(whole, column.scale) if column.type is column_types.DECIMAL else whole
    if column.type is column_types.FLOAT:
        return list(column.values.view(np.float64).tolist())
    numbers: list[int] = (column.values.view(np.uint64) if column.unsigned else column.values).tolist()
    if column.type is column_types.DECIMAL:
        return _decimals(numbers, column.scale)
    return [number * column.unit for number in numbers]


def _decimals(numbers: list[int], scale: int) -> list[Fraction]:
    return [number / Fraction(10) ** scale for number in numbers]
