from collections.abc import Hashable
from typing import Any, Self

class FloatName(str): ...

def hashable(value: object) -> Hashable: ...

class Compared:
    @classmethod
    def made(cls, *values: Any) -> Self: ...
