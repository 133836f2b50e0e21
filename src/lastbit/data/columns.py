"""Columns in memory in their normal form: the places of their items, the codes of their units, their weights in steps.

There are three forms: whole numbers of 64 bits, bytes, and Python objects. Each says which rows are missing. A fourth
form is a dictionary: a few entries in one of these forms, and which of them each row has. It is never written out.
"""

from __future__ import annotations

import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lastbit.data import kinds, objects
from lastbit.data.kinds import Kind
from lastbit.data.long_texts import PREFIX
from lastbit.data.weights import Weights

Integers: TypeAlias = NDArray[np.int64]
Keys: TypeAlias = Sequence[Hashable | None]

_TABLE: Final = 1 << 22
"""Items that lie within this many whole numbers are looked up in a table."""

_INFINITE: Final = 0x7FF << 52
"""The bits of an infinite float: a NaN has larger bits."""

_SURE: Final = len(PREFIX)
"""Shorter texts stand for themselves."""

_SIGN_LESS: Final = (1 << 63) - 1


@dataclass(frozen=True)
class Words:
    """Whole numbers of 64 bits: counts of a unit of time, bits of a float, or numbers themselves."""

    kind: Kind
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
    def of_floats(cls, bits: Integers, missing: NDArray[np.bool_] | None) -> Words:
        """Floats by their bits, with one zero, and NaN as missing. No float is touched: a signaling NaN would warn."""
        size = bits & _SIGN_LESS
        unknown = size > _INFINITE
        known = np.where(size == 0, 0, bits)
        return cls(kinds.REAL, known, unknown if missing is None else unknown | missing)

    def place_of(self, key: Any) -> int | None:
        """The form of this column that has a given normal form; None where there is none."""
        if self.kind is kinds.REAL:
            return int.from_bytes(struct.pack("<d", key), "little", signed=True)
        if self.kind is kinds.DECIMAL:
            key *= Fraction(10) ** self.scale
            return int(key) if key.denominator == 1 and -(1 << 63) <= key < 1 << 63 else None
        whole, rest = divmod(int(key), self.unit)
        if rest or not (0 <= whole < 1 << 64 if self.unsigned else -(1 << 63) <= whole < 1 << 63):
            return None
        return whole - (whole >> 63 << 64) if self.unsigned else whole

    def places(self, keys: Keys) -> Integers:
        """Where in the domain the item of each row is; -1 where it is not."""
        found = {self.place_of(key): place for place, key in enumerate(keys) if key is not None}
        found.pop(None, None)
        items = np.fromiter(found.keys(), np.int64, len(found))
        numbers = np.fromiter(found.values(), np.int64, len(found))
        where = _looked_up(self.values, items, numbers)
        return where if self.missing is None else np.where(self.missing, -1, where)

    def only(self, kept: NDArray[np.bool_]) -> Words:
        """Some of the rows."""
        missing = None if self.missing is None else self.missing[kept]
        return Words(self.kind, self.values[kept], missing, self.unit, self.scale, self.unsigned)

    def taken(self, indices: Integers) -> Words:
        """Rows by their indices; missing where the index is negative."""
        outside = indices < 0
        values = self.values[indices] if len(self.values) else np.zeros(len(indices), np.int64)
        missing = outside if self.missing is None or not len(self.missing) else outside | self.missing[indices]
        return Words(self.kind, values, missing, self.unit, self.scale, self.unsigned)

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """A number for each row, the same for the same unit, and which rows have none."""
        return self.values, self.missing

    def steps(self, weights: Weights) -> Integers:
        """The weight of each row in steps."""
        if self.kind is kinds.REAL:
            held: NDArray[Any] = self.values.view(np.float64)
            if self.missing is not None:
                held = np.where(self.missing, 0.0, held)
        else:
            held = self.values.view(np.uint64) if self.unsigned else self.values
        return weights.steps_of(held, self.missing, self.scale)

    def absent(self) -> NDArray[np.bool_] | None:
        """Which rows have no value; None where all have one."""
        return self.missing


@dataclass(frozen=True)
class Bytes:
    """Bytes of any length, as an Arrow array: text, or numbers too long for a word, least byte first."""

    kind: Kind
    values: Any
    scale: int = 0
    unsigned: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def place_of(self, key: Any) -> bytes | None:
        """The form of this column that has a given normal form; None where there is none."""
        if self.kind in (kinds.TEXT, kinds.BINARY):
            return bytes(key)
        width = self.values.type.byte_width
        if self.kind is kinds.IDENTIFIER:
            return int(key).to_bytes(width, "big")
        number = Fraction(key) * Fraction(10) ** self.scale
        try:
            return int(number).to_bytes(width, "little", signed=not self.unsigned) if number.denominator == 1 else None
        except OverflowError:
            return None

    def places(self, keys: Keys) -> Integers:
        """Where in the domain the item of each row is; -1 where it is not."""
        import pyarrow as pa
        import pyarrow.compute as pc

        found = {self.place_of(key): place for place, key in enumerate(keys) if key is not None}
        found.pop(None, None)
        items = pa.array(found.keys(), self.values.type)
        numbers = np.fromiter([*found.values(), -1], np.int64, len(found) + 1)
        return numbers[indices_of(pc.index_in(self.values, value_set=items))]

    def only(self, kept: NDArray[np.bool_]) -> Bytes:
        """Some of the rows."""
        return Bytes(self.kind, self.values.filter(_mask(kept)), self.scale, self.unsigned)

    def taken(self, indices: Integers) -> Bytes:
        """Rows by their indices; missing where the index is negative."""
        import pyarrow as pa

        return Bytes(self.kind, self.values.take(pa.array(indices, mask=indices < 0)), self.scale, self.unsigned)

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """A number for each row, the same for the same unit, and which rows have none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = pc.dictionary_encode(self.values)
        chunks = encoded.chunks if isinstance(encoded, pa.ChunkedArray) else [encoded]
        indices = pa.chunked_array([chunk.indices for chunk in chunks], pa.int32())
        codes = indices_of(indices)
        return codes, codes < 0

    def steps(self, weights: Weights) -> Integers:
        """The weight of each row in steps."""
        import pyarrow as pa

        chunks = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        parts = [_long_steps(chunk, weights, self.scale, self.unsigned) for chunk in chunks]
        return np.concatenate([np.empty(0, np.int64), *parts])

    def absent(self) -> NDArray[np.bool_] | None:
        """Which rows have no value."""
        import pyarrow as pa

        chunks = self.values.chunks if isinstance(self.values, pa.ChunkedArray) else [self.values]
        parts = [~buffer_of(chunk.is_valid().cast("uint8"), np.uint8).view(np.bool_) for chunk in chunks]
        return np.concatenate([np.empty(0, np.bool_), *parts])


@dataclass(frozen=True)
class Objects:
    """Python objects, one by one."""

    kind: Kind
    values: NDArray[np.object_]

    def __len__(self) -> int:
        return len(self.values)

    def places(self, keys: Keys) -> Integers:
        """Where in the domain the item of each row is; -1 where it is not."""
        if self.kind is kinds.TEXT:
            keys = [key.decode() if isinstance(key, bytes) else None for key in keys]
        found = {key: place for place, key in enumerate(keys) if key is not None}
        get, form = found.get, objects.key
        # Most are text, which stands for itself: a call for each would take as long as everything else.
        places = [
            get(value if type(value) is str and len(value) < _SURE else form(value), -1)
            for value in self.values.tolist()
        ]
        return np.array(places, np.int64)

    def only(self, kept: NDArray[np.bool_]) -> Objects:
        """Some of the rows."""
        return Objects(self.kind, self.values[kept])

    def taken(self, indices: Integers) -> Objects:
        """Rows by their indices; missing where the index is negative."""
        held = np.empty(len(self.values) + 1, object)
        held[:-1] = self.values
        return Objects(self.kind, held[np.where(indices < 0, len(self.values), indices)])

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """A number for each row, the same for the same unit, and which rows have none."""
        keys = keys_of(self.values)
        codes = {key: code for code, key in enumerate(dict.fromkeys(keys))}
        if None in codes:
            codes[None] = -1
        found = np.fromiter(map(codes.__getitem__, keys), np.int64, len(keys))
        return found, found < 0

    def steps(self, weights: Weights) -> Integers:
        """There are none: weights have a declared type."""
        raise NotImplementedError

    absent: Any = steps


@dataclass(frozen=True)
class Coded:
    """Rows that have one of a few entries: their places among the entries, -1 where a row has none."""

    entries: Words | Bytes | Objects
    """Several may be alike, and some may be those of no row."""
    indices: Integers

    @property
    def kind(self) -> Kind:
        """The kind of the entries."""
        return self.entries.kind

    def __len__(self) -> int:
        return len(self.indices)

    def spread(self, values: NDArray[Any], missing: Any) -> NDArray[Any]:
        """The value of each row, from those of the entries."""
        return np.append(values, np.array([missing], values.dtype))[self.indices]

    def places(self, keys: Keys) -> Integers:
        """Where in the domain the item of each row is; -1 where it is not."""
        return self.spread(self.entries.places(keys), -1)

    def only(self, kept: NDArray[np.bool_]) -> Coded:
        """Some of the rows."""
        return Coded(self.entries, self.indices[kept])

    def taken(self, indices: Integers) -> Coded:
        """Rows by their indices; missing where the index is negative."""
        return Coded(self.entries, np.append(self.indices, -1)[np.where(indices < 0, len(self), indices)])

    def codes(self) -> tuple[Integers, NDArray[np.bool_] | None]:
        """A number for each row, the same for the same unit, and which rows have none."""
        codes, unknown = self.entries.codes()
        missing = self.indices < 0 if unknown is None else self.spread(unknown, True)
        return self.spread(codes, 0), missing

    def steps(self, weights: Weights) -> Integers:
        """The weight of each row in steps."""
        # The last entry is the one of rows that have none.
        behind = self.entries.taken(np.append(np.arange(len(self.entries)), -1))
        return behind.steps(weights)[self.indices]

    def absent(self) -> NDArray[np.bool_] | None:
        """Which rows have no value."""
        unknown = self.entries.absent()
        return self.indices < 0 if unknown is None else self.spread(unknown, True)


Column: TypeAlias = Words | Bytes | Objects | Coded


def keys_of(values: NDArray[np.object_]) -> list[Any]:
    """The normal forms of Python objects. Most are short text, which stands for itself: a call for each takes long."""
    form = objects.key
    return [value if type(value) is str and len(value) < _SURE else form(value) for value in values.tolist()]


def _looked_up(values: Integers, items: Integers, numbers: Integers) -> Integers:
    if not len(items):
        return np.full(len(values), -1, np.int64)
    low, high = int(items.min()), int(items.max())
    if high - low < _TABLE:
        table = np.full(high - low + 2, -1, np.int64)
        table[items - low] = numbers
        # As if unsigned, so that values outside, on either side, are beyond the table.
        offset = values.view(np.uint64) - np.uint64(low & (1 << 64) - 1)
        np.minimum(offset, np.uint64(high - low + 1), out=offset)
        return table.take(offset.view(np.int64))
    order = np.argsort(items)
    items, numbers = items[order], numbers[order]
    where = np.searchsorted(items, values).clip(max=len(items) - 1)
    return np.where(items[where] == values, numbers[where], -1)


def indices_of(indices: Any) -> Integers:
    """The values of an Arrow array of 32-bit indices, -1 for null."""
    import pyarrow as pa

    chunks = indices.chunks if isinstance(indices, pa.ChunkedArray) else [indices]
    parts = [buffer_of(chunk.fill_null(-1), np.int32) for chunk in chunks]
    return np.concatenate([np.empty(0, np.int32), *parts]).astype(np.int64)


def buffer_of(array: Any, dtype: Any) -> NDArray[Any]:
    """The values of an Arrow array, in place: its own method would load pandas."""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(array.buffers()[1] or b"", dtype, len(array), array.offset * size if len(array) else 0)


def _mask(kept: NDArray[np.bool_]) -> Any:
    import pyarrow as pa

    return pa.array(kept)


def _long_steps(chunk: Any, weights: Weights, scale: int, unsigned: bool) -> Integers:
    """Steps of numbers longer than a word: numbers beyond 64 bits are at an end already, or counted one by one."""
    width = chunk.type.byte_width // 8
    words = np.frombuffer(chunk.buffers()[1] or b"", np.uint64)[chunk.offset * width :][: len(chunk) * width]
    words = words.reshape(len(chunk), width)
    missing = ~buffer_of(chunk.is_valid().cast("uint8"), np.uint8).view(np.bool_)
    if not weights.fits(scale):
        one = [int.from_bytes(row.tobytes(), "little", signed=not unsigned) for row in words]
        return weights.steps_of(one, missing, scale)
    low = words[:, 0].view(np.int64) if width == 1 else np.ascontiguousarray(words[:, 0]).view(np.int64)
    top = np.ascontiguousarray(words[:, -1]).view(np.int64)
    below = np.zeros(len(chunk), np.bool_) if unsigned else top < 0
    fill = np.where(below, np.uint64((1 << 64) - 1), np.uint64(0))
    beyond = (words[:, 1:] != fill[:, None]).any(axis=1) | ((low < 0) != below)
    held = np.where(beyond, np.where(below, np.int64(-_SIGN_LESS), np.int64(_SIGN_LESS)), low)
    return weights.steps_of(held, missing, scale)
