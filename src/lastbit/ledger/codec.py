"""Published releases as text and back, exactly: tagged JSON, so that the books give back what was published.

Plain JSON stands for text, True, False, None and whole numbers. Everything else is an object with one key, its tag. The
classes of releases, and of the mechanisms that some of them name, are looked up among lastbit's own.
"""

from __future__ import annotations

import base64
import hashlib
import json
import pkgutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib import import_module
from typing import Any, Final

import numpy as np

from lastbit import mechanisms
from lastbit.errors import LedgerError
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta
from lastbit.privacy.rate import Rate
from lastbit.release import Release

_LONG: Final = 1 << 20
_LARGEST: Final = 1 << 26
"""Longer texts are not kept: no release may be lost because a database does not take its text."""

_COSTS: Final[dict[str, type]] = {"Cost": Cost, "Eta": Eta, "Rate": Rate}
_KNOWN: Final[dict[str, type]] = dict(_COSTS)
"""These, and the releases and mechanisms that were looked up."""
_FIELDS: Final[dict[type, tuple[str, ...]]] = {}
"""The fields that build an object of a class."""
_ARRAYS: Final = "biufcSUmM"
"""The kinds of arrays that are bytes and nothing else."""


class _Unknown(Exception):
    """A value of a type that this codec does not know."""


def encode(release: Release) -> str | None:
    """Return a release as text: all its fields, and its `to_dict()` for whoever does not know its class.

    Fields that would not come back exactly are left out. None where nothing can be written.

    >>> import lastbit as lb
    >>> release = lb.NoisyMax(epsilon=1).release(lb.Counts(items=["flu", "cold"], values=[120, 80]))
    >>> decode(encode(release)) == release
    True
    """
    # It is drawn and charged: whatever a class of somebody else does here must not lose it.
    parts = {}
    with suppress(Exception):
        text = json.dumps(_encode(release))
        if json.dumps(_encode(_decode(json.loads(text)))) == text:
            parts["release"] = text
    if len(parts.get("release", "")) <= _LONG:  # a long one is not written twice
        with suppress(Exception):
            parts["shown"] = json.dumps(release.to_dict())
    document = "{" + ", ".join(f'"{name}": {text}' for name, text in parts.items()) + "}"
    return document if parts and len(document) <= _LARGEST else None


def decode(text: str) -> Any:
    """Return the release that a text holds; its `to_dict()` where this lastbit cannot build it."""
    data: Any = None
    with suppress(ValueError):
        data = json.loads(text)
    if isinstance(data, dict):
        with suppress(Exception):  # a class may refuse in any way what somebody wrote by hand
            release = _decode(data["release"])
            if isinstance(release, Release):
                return release
        if isinstance(data.get("shown"), dict):
            return data["shown"]
    raise LedgerError(
        "the published release cannot be read: it was changed, or a lastbit with other mechanisms wrote it. Nothing "
        "was drawn and nothing was charged."
    )


def digest(entry_digest: str, text: str) -> str:
    """Return the SHA-256 that ties a published release to its entry."""
    return hashlib.sha256(json.dumps([entry_digest, text]).encode("ascii")).hexdigest()


def encode_value(value: Any) -> str | None:
    """Return a value of the types known here as text, the same for equal values; None for other types."""
    try:
        return json.dumps(_encode(value))
    except (_Unknown, TypeError, RecursionError):
        return None


def _encode(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (str, bool):
        return value
    if kind is int:
        return value if abs(value) < 1 << 63 else {"int": hex(value)}
    if kind in _ENCODERS:
        tag, encode_plain = _ENCODERS[kind]
        return {tag: encode_plain(value)}
    if kind in (tuple, list):
        return {kind.__name__: [_encode(item) for item in value]}
    if kind is dict:
        return {"dict": [[_encode(name), _encode(item)] for name, item in value.items()]}
    if kind is np.ndarray and value.dtype.kind in _ARRAYS:
        array = np.ascontiguousarray(value)
        return {"array": [array.dtype.str, list(value.shape), base64.b64encode(array.tobytes()).decode("ascii")]}
    if kind is np.ndarray and value.dtype == object:
        return {"objects": [list(value.shape), [_encode(item) for item in value.ravel().tolist()]]}
    if isinstance(value, np.generic) and value.dtype.kind in _ARRAYS:
        return {"scalar": [value.dtype.str, base64.b64encode(value.tobytes()).decode("ascii")]}
    if kind in _COSTS.values() or (issubclass(kind, Release | Mechanism) and _is_ours(kind)):
        if kind not in _FIELDS:
            _FIELDS[kind] = tuple(field.name for field in fields(kind) if field.init)
        return {kind.__name__: {name: _encode(getattr(value, name)) for name in _FIELDS[kind]}}
    raise _Unknown


def _decode(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    ((tag, content),) = data.items()
    if tag in _DECODERS:
        return _DECODERS[tag](content)
    kind = _class_of(tag)
    if kind is None:
        raise _Unknown
    return kind(**{name: _decode(item) for name, item in content.items()})


def _class_of(name: str) -> Any:
    """Return the class of this name among lastbit's own costs, releases and mechanisms."""
    if name not in _KNOWN:
        kind = _find_loaded(name)
        if kind is None:
            _load_all()
            kind = _find_loaded(name)
        if kind is None:
            return None
        _KNOWN[name] = kind
    return _KNOWN[name]


def _find_loaded(name: str) -> Any:
    waiting: list[type] = [Release, Mechanism]
    while waiting:
        kinds: list[type] = waiting.pop().__subclasses__()
        for kind in kinds:
            if kind.__name__ == name and _is_ours(kind):
                return kind
        waiting += kinds
    return None


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("lastbit.")


@cache
def _load_all() -> None:
    """Load every mechanism: only a loaded class is found. Who writes a release has loaded its class."""
    for module in pkgutil.walk_packages(mechanisms.__path__, f"{mechanisms.__name__}."):
        with suppress(ImportError):  # one that needs an extra
            import_module(module.name)


def _parse_hex(text: str) -> int:
    return int(text, 16)


_ENCODERS: Final[dict[type, tuple[str, Callable[[Any], Any]]]] = {
    Fraction: ("fraction", lambda value: [hex(value.numerator), hex(value.denominator)]),
    float: ("float", float.hex),
    Decimal: ("decimal", str),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode("ascii")),
    range: ("range", lambda value: [value.start, value.stop, value.step]),
    datetime: ("datetime", lambda value: [value.isoformat(), value.fold]),
    date: ("date", lambda value: [value.isoformat()]),
    time: ("time", lambda value: [value.isoformat(), value.fold]),
    timedelta: ("timedelta", lambda value: [value.days, value.seconds, value.microseconds]),
}

_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _parse_hex,
    "fraction": lambda content: Fraction(*map(_parse_hex, content)),
    "float": float.fromhex,
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "range": lambda content: range(*content),
    "datetime": lambda content: datetime.fromisoformat(content[0]).replace(fold=content[1]),
    "date": lambda content: date.fromisoformat(content[0]),
    "time": lambda content: time.fromisoformat(content[0]).replace(fold=content[1]),
    "timedelta": lambda content: timedelta(*content),
    "tuple": lambda content: tuple(map(_decode, content)),
    "list": lambda content: [*map(_decode, content)],
    "dict": lambda content: {_decode(name): _decode(item) for name, item in content},
    "array": lambda content: _array(*content),
    "objects": lambda content: _objects(*content),
    "scalar": lambda content: np.frombuffer(base64.b64decode(content[1]), content[0])[0],
}


def _array(kind: str, shape: list[int], content: str) -> Any:
    # A copy, because an array made of bytes cannot be written to and the one that was published could.
    return np.frombuffer(base64.b64decode(content), kind).reshape(shape).copy()


def _objects(shape: list[int], content: list[Any]) -> Any:
    array = np.empty(len(content), object)
    for index, item in enumerate(content):  # one by one: NumPy would take a list of tuples for a table
        array[index] = _decode(item)
    return array.reshape(shape)
