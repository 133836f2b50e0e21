from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

Number = tuple[int, int]

class Factors:
    def __init__(self, words: NDArray[Any], exponents: NDArray[Any]) -> None: ...
    def __getitem__(self, place: int) -> Number: ...

class ScaledPowers:
    def __init__(self, powers: Factors, rests: Factors) -> None: ...
    def __call__(self, e: int) -> tuple[Number, Number]: ...
    def heads(self, heads: NDArray[Any], starts: NDArray[Any], k: int, shared: Factors) -> Factors: ...

class Rows:
    def __init__(
        self,
        powers: ScaledPowers,
        many: Factors,
        shared: Factors | None,
        starts: NDArray[Any],
        ends: NDArray[Any],
        tails: NDArray[Any],
        k: int,
        base: int,
    ) -> None: ...
    def sums(self) -> tuple[NDArray[Any], NDArray[Any]]: ...
    def prefixes(
        self,
        words: NDArray[Any],
        exponents: NDArray[Any],
        heads: Factors,
        common_high: int,
        common_low: int,
        common_e: int,
        alone_high: int,
        alone_low: int,
        alone_e: int,
    ) -> tuple[NDArray[Any], int]: ...
    def locate(self, row: int, most: int, goal_high: int, goal_middle: int, goal_low: int) -> tuple[int, int, int]: ...

def running_products(n: int, high: int, middle: int, low: int, e: int, rising: bool) -> Factors: ...
def runs(ranked: NDArray[Any]) -> tuple[NDArray[Any], int]: ...
def numbers(values: Sequence[int]) -> Factors: ...
