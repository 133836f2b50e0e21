"""The items that occur in a column in memory, in the fixed order of items; and a hash of every row's value."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from lastbit.data import kinds, objects
from lastbit.data.columns import Bytes, Coded, Column, Integers, Objects, Words, indices_of, keys_of
from lastbit.data.keyed import Marks, hashed_bytes, hashed_texts, hashed_words
from lastbit.values.unlisted import order

_DAY: Final = 86_400 * 10**9
_CALENDAR: Final = (-719_162 * _DAY, 2_932_897 * _DAY)
"""Nanoseconds from 1970 to the beginning of the year 1 and to the end of the year 9999."""

_ENDS: Final = {
    kinds.MOMENT: _CALENDAR,
    kinds.INSTANT: _CALENDAR,
    kinds.TIME: (0, _DAY),
    kinds.SPAN: (-999_999_999 * _DAY, 10**9 * _DAY),
}
"""The first time that Python has an item for, and the first that it has none for any more."""


def ranked(column: Column) -> tuple[Integers, Column]:
    """The rank of each row's item among the items that occur, -1 where a row has none; and the items, in order.

    >>> ranks, items = ranked(Words(kinds.WHOLE, np.array([7, -1, 7])))
    >>> ranks.tolist(), items_of(items)
    ([1, 0, 1], [-1, 7])
    """
    if isinstance(column, Coded):
        # Entries that no row has count zero.
        ranks, items = ranked(column.entries)
        return column.spread(ranks, -1), items
    if isinstance(column, Words):
        return _ranked_words(column)
    return _ranked_bytes(column) if isinstance(column, Bytes) else _ranked_objects(column)


def items_of(column: Column) -> list[Any]:
    """The items of rows that all have one."""
    if isinstance(column, Coded):
        return items_of(column.entries.taken(column.indices))
    if isinstance(column, Objects):
        return list(column.values.tolist())
    return [column.kind.named(key) for key in _keys(column)]


def marks(column: Column, key: int) -> Marks:
    """A hash of each row's normal form under a key. Rows without a normal form have any."""
    if isinstance(column, Coded):
        return column.spread(marks(column.entries, key), 0)
    if isinstance(column, Words):
        return hashed_words(column.values, key)
    if isinstance(column, Bytes):
        codes, dictionary = _encoded(column)
        found = hashed_bytes(dictionary, key)
    else:
        codes, forms = _forms(column)
        found = hashed_texts([objects.written(form) for form in forms], key)
    return np.append(found, np.uint64(0))[codes]


def _ranked_words(column: Words) -> tuple[Integers, Words]:
    known = _nameable(column)
    values = column.values[known]
    forms: Any = values
    if column.kind is kinds.REAL:
        forms = values.view(np.float64)
    elif column.unsigned:
        forms = values.view(np.uint64)
    distinct, inverse = np.unique(forms, return_inverse=True)
    ranks = np.full(len(known), -1, np.int64)
    ranks[known] = inverse
    return ranks, Words(column.kind, distinct.view(np.int64), None, column.unit, column.scale, column.unsigned)


def _nameable(column: Words) -> NDArray[np.bool_]:
    """The rows whose value Python has an item for."""
    known = np.ones(len(column.values), np.bool_) if column.missing is None else ~column.missing
    values, unit = column.values, column.unit
    if column.kind is kinds.DATE:
        return known & (values >= _CALENDAR[0] // _DAY) & (values < _CALENDAR[1] // _DAY)
    if column.kind in _ENDS:
        low, high = _ENDS[column.kind]
        known &= (values >= max(-(-low // unit), -(1 << 63))) & (values <= min((high - 1) // unit, (1 << 63) - 1))
        if unit == 1:
            known &= values % 1000 == 0
    return known


def _ranked_bytes(column: Bytes) -> tuple[Integers, Bytes]:
    import pyarrow as pa

    codes, dictionary = _encoded(column)
    known = np.flatnonzero(_valid_text(dictionary)) if column.kind is kinds.TEXT else np.arange(len(dictionary))
    items = Bytes(column.kind, dictionary.take(pa.array(known)), column.scale, column.unsigned)
    sequence = _sequence(items)
    ranks = np.full(len(dictionary) + 1, -1, np.int64)
    ranks[known[sequence]] = np.arange(len(known))
    return ranks[codes], items.taken(sequence)


def _encoded(column: Bytes) -> tuple[Integers, Any]:
    """The code of each row, -1 where it is null, and what the codes stand for."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(column.values)
    chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
    codes = indices_of(pa.chunked_array([chunk.indices for chunk in chunks], pa.int32()))
    # All chunks have one dictionary in common.
    return codes, chunks[0].dictionary if chunks else pa.array([], column.values.type)


def _valid_text(dictionary: Any) -> NDArray[np.bool_]:
    import pyarrow as pa

    try:
        dictionary.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:
        named = kinds.TEXT.named
        return np.array([named(text) is not None for text in dictionary.to_pylist()], np.bool_)
    return np.ones(len(dictionary), np.bool_)


def _sequence(items: Bytes) -> Integers:
    """The indices of items in their order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if items.kind in (kinds.DECIMAL, kinds.WHOLE):  # the least byte comes first
        keys = list(_keys(items))
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)
    comparable = items.values.cast(pa.binary()) if pa.types.is_fixed_size_binary(items.values.type) else items.values
    return np.asarray(pc.sort_indices(comparable)).astype(np.int64)


def _ranked_objects(column: Objects) -> tuple[Integers, Objects]:
    codes, forms = _forms(column)
    known = [(order(item), code, item) for code, item in enumerate(map(kinds.ANY.named, forms)) if item is not None]
    known.sort(key=lambda each: each[0])
    ranks = np.full(len(forms) + 1, -1, np.int64)
    ranks[[code for _, code, _ in known]] = np.arange(len(known))
    items = np.empty(len(known), object)
    for rank, (_, _, item) in enumerate(known):  # one by one: NumPy would take tuples for rows
        items[rank] = item
    return ranks[codes], Objects(column.kind, items)


def _forms(column: Objects) -> tuple[Integers, list[Any]]:
    """The code of each row, -1 where it has no normal form, and the normal form of each code."""
    keys = keys_of(column.values)
    codes: dict[Any, int] = {}
    for key in keys:
        if key is not None:
            codes.setdefault(key, len(codes))
    get = codes.get
    return np.array([-1 if key is None else get(key, -1) for key in keys], np.int64), list(codes)


def _keys(column: Words | Bytes) -> Sequence[Any]:
    """The normal forms of rows that all have one: the inverse of `place_of`."""
    if isinstance(column, Bytes):
        values = [bytes(value) for value in column.values.to_pylist()]
        if column.kind in (kinds.TEXT, kinds.BINARY):
            return values
        if column.kind is kinds.IDENTIFIER:
            return [int.from_bytes(value, "big") for value in values]
        whole = [int.from_bytes(value, "little", signed=not column.unsigned) for value in values]
        return _decimals(whole, column.scale) if column.kind is kinds.DECIMAL else whole
    if column.kind is kinds.REAL:
        return list(column.values.view(np.float64).tolist())
    numbers: list[int] = (column.values.view(np.uint64) if column.unsigned else column.values).tolist()
    if column.kind is kinds.DECIMAL:
        return _decimals(numbers, column.scale)
    return [number * column.unit for number in numbers]


def _decimals(numbers: list[int], scale: int) -> list[Fraction]:
    return [number / Fraction(10) ** scale for number in numbers]
