"""Columns in memory in their normal form: positions of items, codes of units, weights in steps.

There are three forms: whole numbers of 64 bits, bytes, and Python objects. Each says which rows are missing. A fourth
form is a dictionary: a few entries in one of these forms, and which of them each row has. It is never written out.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lastbit.data import column_types, object_keys
from lastbit.data.column_types import ColumnType
from lastbit.data.long_texts import PREFIX
from lastbit.data.memory.arrays import LARGEST_WORD, look_up_integers, read_buffer, read_indices, wide_steps
from lastbit.data.profiles import DAY
from lastbit.data.table import Integers, Keys
from lastbit.data.weights import Weights

_INFINITE: Final = 0x7FF << 52
"""The bits of an infinite float: a NaN has larger bits."""

_SURE: Final = len(PREFIX)
"""Shorter texts stand for themselves."""


@dataclass(frozen=True)
class WordColumn:
    """Whole numbers of 64 bits: counts of a unit of time, bits of a float, or numbers themselves."""

    type: ColumnType
    values: Integers
    missing: NDArray[np.bool_] | None = None
    unit: int = 1
    """How many nanoseconds one is, where these are times."""
    scale: int = 0
    """How many digits stand after the point, where these are decimals."""
    unsigned: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @classmethod
    def from_floats(cls, bits: Integers, missing: NDArray[np.bool_] | None) -> WordColumn:
        """Return floats by their bits, with one zero, and NaN as missing. No float is touched: a NaN could warn."""
        size = bits & LARGEST_WORD
        unknown = size > _INFINITE
        known = np.where(size == 0, 0, bits)
        return cls(column_types.FLOAT, known, unknown if missing is None else unknown | missing)

    def encode(self, key: Any) -> int | None:
        """Return the form of this column that has a given normal form; None where there is none."""
        if self.type is column_types.FLOAT:
            return int.from_bytes(struct.pack("<d", key), "little", signed=True)
        if self.type is column_types.DECIMAL:
            key *= Fraction(10) ** self.scale
            return int(key) if key.denominator == 1 and -(1 << 63) <= key < 1 << 63 else None
        whole, rest = divmod(int(key), self.unit)
        if rest or not (0 <= whole < 1 << 64 if self.unsigned else -(1 << 63) <= whole < 1 << 63):
            return None
        return whole - (whole >> 63 << 64) if self.unsigned else whole

    def look_up(self, keys: Keys) -> Integers:
        """Return where in the domain the item of each row is; -1 where it is not."""
        index = {self.encode(key): position for position, key in enumerate(keys) if key is not None}
        index.pop(None, None)
        items = np.fromiter(index.keys(), np.int64, len(index))
        numbers = np.fromiter(index.values(), np.int64, len(index))
        where = look_up_integers(self.values, items, numbers)
        return where if self.missing is None else np.where(self.missing, -1, where)

    def filter(self, mask: NDArray[np.bool_]) -> WordColumn:
        """Return some of the rows."""
        missing = None if self.missing is None else self.missing[mask]
        return WordColumn(self.type, self.values[mask], missing, self.unit, self.scale, self.unsigned)

    def take(self, indices: Integers) -> WordColumn:
        """Return rows by their indices; missing where the index is negative."""
        outside = indices < 0
        values = self.values[indices] if len(self.values) else np.zeros(len(indices), np.int64)
        missing = outside if self.missing is None or not len(self.missing) else outside | self.missing[indices]
        return WordColumn(self.type, values, missing, self.unit, self.scale, self.unsigned)

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """Return a number for each row, the same for the same unit, and which rows have none."""
        return self.values, self.missing

    def steps(self, weights: Weights) -> Integers:
        """Return the weight of each row in steps."""
        if self.type is column_types.FLOAT:
            held: NDArray[Any] = self.values.view(np.float64)
            if self.missing is not None:
                held = np.where(self.missing, 0.0, held)
        else:
            held = self.values.view(np.uint64) if self.unsigned else self.values
        return weights.steps_of(held, self.missing, self.scale)

    def days(self) -> Integers:
        """Return the day of each row since 1970, where these are dates or times."""
        return self.values if self.type is column_types.DATE else self.values // (DAY // self.unit)

    def missing_mask(self) -> NDArray[np.bool_] | None:
        """Return which rows have no value; None where all have one."""
        return self.missing


@dataclass(frozen=True)
class BytesColumn:
    """Bytes of any length, as an Arrow array: text, or numbers too long for a word, least byte first."""

    type: ColumnType
    values: Any
    scale: int = 0
    unsigned: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def encode(self, key: Any) -> bytes | None:
        """Return the form of this column that has a given normal form; None where there is none."""
        if self.type in (column_types.TEXT, column_types.BINARY):
            return bytes(key)
        width = self.values.type.byte_width
        if self.type is column_types.UUID:
            return int(key).to_bytes(width, "big")
        number = Fraction(key) * Fraction(10) ** self.scale
        try:
            return int(number).to_bytes(width, "little", signed=not self.unsigned) if number.denominator == 1 else None
        except OverflowError:
            return None

    def look_up(self, keys: Keys) -> Integers:
        """Return where in the domain the item of each row is; -1 where it is not."""
        import pyarrow as pa
        import pyarrow.compute as pc

        index = {self.encode(key): position for position, key in enumerate(keys) if key is not None}
        index.pop(None, None)
        items = pa.array(index.keys(), self.values.type)
        numbers = np.fromiter([*index.values(), -1], np.int64, len(index) + 1)
        return numbers[read_indices(pc.index_in(self.values, value_set=items))]

    def filter(self, mask: NDArray[np.bool_]) -> BytesColumn:
        """Return some of the rows."""
        import pyarrow as pa

        return BytesColumn(self.type, self.values.filter(pa.array(mask)), self.scale, self.unsigned)

    def take(self, indices: Integers) -> BytesColumn:
        """Return rows by their indices; missing where the index is negative."""
        import pyarrow as pa

        return BytesColumn(self.type, self.values.take(pa.array(indices, mask=indices < 0)), self.scale, self.unsigned)

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """Return a number for each row, the same for the same unit, and which rows have none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = pc.dictionary_encode(self.values)
        chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
        indices = pa.chunked_array([chunk.indices for chunk in chunks], pa.int32())
        codes = read_indices(indices)
        return codes, codes < 0

    def steps(self, weights: Weights) -> Integers:
        """Return the weight of each row in steps."""
        import pyarrow as pa

        chunks = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        parts = [wide_steps(chunk, weights, self.scale, self.unsigned) for chunk in chunks]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def days(self) -> Integers:
        """Raise: no date takes more than 64 bits."""
        raise NotImplementedError

    def missing_mask(self) -> NDArray[np.bool_] | None:
        """Return which rows have no value."""
        import pyarrow as pa

        chunks = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        parts = [~read_buffer(chunk.is_valid().cast("uint8"), np.uint8).view(np.bool_) for chunk in chunks]
        return np.concatenate([np.empty(0, np.bool_), *parts])


@dataclass(frozen=True)
class ObjectColumn:
    """Python objects, one by one."""

    type: ColumnType
    values: NDArray[np.object_]
    scale: ClassVar[int] = 0

    def __len__(self) -> int:
        return len(self.values)

    def look_up(self, keys: Keys) -> Integers:
        """Return where in the domain the item of each row is; -1 where it is not."""
        if self.type is column_types.TEXT:
            keys = [key.decode() if isinstance(key, bytes) else None for key in keys]
        index = {key: position for position, key in enumerate(keys) if key is not None}
        get, form = index.get, object_keys.key
        # Most are text, which stands for itself: a call for each would take as long as everything else.
        positions = [
            get(value if type(value) is str and len(value) < _SURE else form(value), -1)
            for value in self.values.tolist()
        ]
        return np.array(positions, np.int64)

    def filter(self, mask: NDArray[np.bool_]) -> ObjectColumn:
        """Return some of the rows."""
        return ObjectColumn(self.type, self.values[mask])

    def take(self, indices: Integers) -> ObjectColumn:
        """Return rows by their indices; missing where the index is negative."""
        held = np.empty(len(self.values) + 1, object)
        held[:-1] = self.values
        return ObjectColumn(self.type, held[np.where(indices < 0, len(self.values), indices)])

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """Return a number for each row, the same for the same unit, and which rows have none."""
        keys = normalize_objects(self.values)
        codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        if None in codes:
            codes[None] = -1
        numbers = np.fromiter(map(codes.__getitem__, keys), np.int64, len(keys))
        return numbers, numbers < 0

    def steps(self, weights: Weights) -> Integers:
        """Raise: weights have a declared type, and objects have none."""
        raise NotImplementedError

    missing_mask: Any = steps
    days: Any = steps


@dataclass(frozen=True)
class DictionaryColumn:
    """Rows that have one of a few entries: their indices among the entries, -1 where a row has none."""

    entries: WordColumn | BytesColumn | ObjectColumn
    """Several may be alike, and some may be those of no row."""
    indices: Integers

    @property
    def type(self) -> ColumnType:
        """The type of the entries."""
        return self.entries.type

    @property
    def scale(self) -> int:
        """How many digits the entries have after the point, where they are decimals."""
        return self.entries.scale

    def __len__(self) -> int:
        return len(self.indices)

    def expand(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """Return the value of each row, from those of the entries."""
        return np.append(values, np.array([missing], values.dtype))[self.indices]

    def look_up(self, keys: Keys) -> Integers:
        """Return where in the domain the item of each row is; -1 where it is not."""
        return self.expand(self.entries.look_up(keys), -1)

    def filter(self, mask: NDArray[np.bool_]) -> DictionaryColumn:
        """Return some of the rows."""
        return DictionaryColumn(self.entries, self.indices[mask])

    def take(self, indices: Integers) -> DictionaryColumn:
        """Return rows by their indices; missing where the index is negative."""
        return DictionaryColumn(self.entries, np.append(self.indices, -1)[np.where(indices < 0, len(self), indices)])

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """Return a number for each row, the same for the same unit, and which rows have none."""
        codes, unknown = self.entries.codes()
        missing = self.indices < 0 if unknown is None else self.expand(unknown, True)
        return self.expand(codes, 0), missing

    def steps(self, weights: Weights) -> Integers:
        """Return the weight of each row in steps."""
        # The last entry is the one of rows that have none.
        behind = self.entries.take(np.append(np.arange(len(self.entries)), -1))
        return behind.steps(weights)[self.indices]

    def days(self) -> Integers:
        """Return the day of each row since 1970, where these are dates or times."""
        return self.expand(self.entries.days(), 0)

    def missing_mask(self) -> NDArray[np.bool_] | None:
        """Return which rows have no value."""
        unknown = self.entries.missing_mask()
        return self.indices < 0 if unknown is None else self.expand(unknown, True)


Column: TypeAlias = WordColumn | BytesColumn | ObjectColumn | DictionaryColumn


def normalize_objects(values: NDArray[np.object_]) -> list[Any]:
    """Return the normal forms of Python objects. Most are short text, which stands for itself without a call."""
    form = object_keys.key
    return [value if type(value) is str and len(value) < _SURE else form(value) for value in values.tolist()]
