"""A memory with an end: the oldest things are forgotten where there are too many, or where they weigh too much."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class BoundedMap(Generic[Value]):
    """So many values by their keys, of so much weight together.

    >>> lists = BoundedMap(3, 100)
    >>> for name, length in (("a", 60), ("b", 30), ("c", 20), ("d", 1000)):
    ...     lists.put(name, name.upper(), length)
    >>> [lists.get(name) for name in "abcd"], lists.weight
    ([None, None, None, 'D'], 1000)
    """

    def __init__(self, most: int, most_weight: int) -> None:
        self._most, self._most_weight = most, most_weight
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self.weight = 0
        self._lock = Lock()

    def put(self, key: str, value: Value, weight: int) -> None:
        """Remember a value as the newest one. The newest one is never forgotten for its weight."""
        with self._lock:
            self.weight += weight - self._values.pop(key, (value, 0))[1]
            self._values[key] = (value, weight)
            while len(self._values) > self._most or (self.weight > self._most_weight and len(self._values) > 1):
                self.weight -= self._values.popitem(last=False)[1][1]

    def get(self, key: str) -> Value | None:
        """Return the value of a key; None where it is forgotten or was never there."""
        value, _ = self._values.get(key, (None, 0))
        return value

    def clear(self) -> dict[str, Value]:
        """Forget everything, and return it."""
        with self._lock:
            values = {key: value for key, (value, _) in self._values.items()}
            self._values.clear()
            self.weight = 0
            return values
