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

_OWN: Final[dict[str, type]] = {"Cost": Cost, "Eta": Eta, "Rate": Rate}
_KNOWN: Final[dict[str, type]] = dict(_OWN)
"""These, and the releases and mechanisms that were looked up."""
_GIVEN: Final[dict[type, tuple[str, ...]]] = {}
"""The fields that build an object of a class."""
_ARRAYS: Final = "biufcSUmM"
"""The kinds of arrays that are bytes and nothing else."""


class _Unknown(Exception):
    """A value of a type that this codec does not know."""


def write(release: Release) -> str | None:
    """A release as text: all its fields, and its `to_dict()` for people and for a lastbit that does not know its class.

    Fields that would not come back exactly are left out. None where nothing can be written.

    >>> import lastbit as lb
    >>> release = lb.NoisyMax(epsilon=1).release(lb.Counts(items=["flu", "cold"], values=[120, 80]))
    >>> read(write(release)) == release
    True
    """
    # It is drawn and charged: whatever a class of somebody else does here must not lose it.
    parts = {}
    with suppress(Exception):
        text = json.dumps(_written(release))
        if json.dumps(_written(_read(json.loads(text)))) == text:
            parts["release"] = text
    if len(parts.get("release", "")) <= _LONG:  # a long one is not written twice
        with suppress(Exception):
            parts["shown"] = json.dumps(release.to_dict())
    whole = "{" + ", ".join(f'"{name}": {text}' for name, text in parts.items()) + "}"
    return whole if parts and len(whole) <= _LARGEST else None


def read(text: str) -> Any:
    """The release again; its `to_dict()` where this lastbit cannot build it."""
    found: Any = None
    with suppress(ValueError):
        found = json.loads(text)
    if isinstance(found, dict):
        with suppress(Exception):  # a class may refuse in any way what somebody wrote by hand
            release = _read(found["release"])
            if isinstance(release, Release):
                return release
        if isinstance(found.get("shown"), dict):
            return found["shown"]
    raise LedgerError(
        "the published release cannot be read: it was changed, or a lastbit with other mechanisms wrote it. Nothing "
        "was drawn and nothing was charged."
    )


def digest(entry_digest: str, text: str) -> str:
    """The SHA-256 that ties a published release to its entry."""
    return hashlib.sha256(json.dumps([entry_digest, text]).encode("ascii")).hexdigest()


def text_of(value: Any) -> str | None:
    """Any value of the types known here as text, the same for the same values; None for other types."""
    try:
        return json.dumps(_written(value))
    except (_Unknown, TypeError, RecursionError):
        return None


def _written(value: Any) -> Any:
    kind = type(value)
    if value is None or kind in (str, bool):
        return value
    if kind is int:
        return value if abs(value) < 1 << 63 else {"int": hex(value)}
    if kind in _PLAIN:
        tag, write_one = _PLAIN[kind]
        return {tag: write_one(value)}
    if kind in (tuple, list):
        return {kind.__name__: [_written(each) for each in value]}
    if kind is dict:
        return {"dict": [[_written(name), _written(each)] for name, each in value.items()]}
    if kind is np.ndarray and value.dtype.kind in _ARRAYS:
        array = np.ascontiguousarray(value)
        return {"array": [array.dtype.str, list(value.shape), base64.b64encode(array.tobytes()).decode("ascii")]}
    if kind is np.ndarray and value.dtype == object:
        return {"objects": [list(value.shape), [_written(each) for each in value.ravel().tolist()]]}
    if isinstance(value, np.generic) and value.dtype.kind in _ARRAYS:
        return {"scalar": [value.dtype.str, base64.b64encode(value.tobytes()).decode("ascii")]}
    if kind in _OWN.values() or (issubclass(kind, Release | Mechanism) and _is_ours(kind)):
        if kind not in _GIVEN:
            _GIVEN[kind] = tuple(each.name for each in fields(kind) if each.init)
        return {kind.__name__: {name: _written(getattr(value, name)) for name in _GIVEN[kind]}}
    raise _Unknown


def _read(found: Any) -> Any:
    if not isinstance(found, dict):
        return found
    ((tag, inside),) = found.items()
    if tag in _READ:
        return _READ[tag](inside)
    kind = _class_of(tag)
    if kind is None:
        raise _Unknown
    return kind(**{name: _read(each) for name, each in inside.items()})


def _class_of(name: str) -> Any:
    """The class of this name among lastbit's own costs, releases and mechanisms."""
    if name not in _KNOWN:
        found = _loaded(name)
        if found is None:
            _load_all()
            found = _loaded(name)
        if found is None:
            return None
        _KNOWN[name] = found
    return _KNOWN[name]


def _loaded(name: str) -> Any:
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


def _whole(text: str) -> int:
    return int(text, 16)


_PLAIN: Final[dict[type, tuple[str, Callable[[Any], Any]]]] = {
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

_READ: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _whole,
    "fraction": lambda inside: Fraction(*map(_whole, inside)),
    "float": float.fromhex,
    "decimal": Decimal,
    "bytes": base64.b64decode,
    "range": lambda inside: range(*inside),
    "datetime": lambda inside: datetime.fromisoformat(inside[0]).replace(fold=inside[1]),
    "date": lambda inside: date.fromisoformat(inside[0]),
    "time": lambda inside: time.fromisoformat(inside[0]).replace(fold=inside[1]),
    "timedelta": lambda inside: timedelta(*inside),
    "tuple": lambda inside: tuple(map(_read, inside)),
    "list": lambda inside: [*map(_read, inside)],
    "dict": lambda inside: {_read(name): _read(each) for name, each in inside},
    "array": lambda inside: _array(*inside),
    "objects": lambda inside: _objects(*inside),
    "scalar": lambda inside: np.frombuffer(base64.b64decode(inside[1]), inside[0])[0],
}


def _array(kind: str, shape: list[int], content: str) -> Any:
    # A copy, because an array made of bytes cannot be written to and the one that was published could.
    return np.frombuffer(base64.b64decode(content), kind).reshape(shape).copy()


def _objects(shape: list[int], inside: list[Any]) -> Any:
    made = np.empty(len(inside), object)
    for place, each in enumerate(inside):  # one by one: NumPy would take a list of tuples for a table
        made[place] = _read(each)
    return made.reshape(shape)
