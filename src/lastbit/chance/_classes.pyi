from typing import Any

from numpy.typing import NDArray

class ClassWeights:
    def __init__(self, factors: NDArray[Any], digits: int, last: int) -> None: ...
    def total(self, exponents: NDArray[Any], times: NDArray[Any], least: int) -> int: ...
    def warm(self) -> int: ...
    def place(
        self,
        exponents: NDArray[Any],
        times: NDArray[Any],
        least: int,
        error_high: int,
        error_low: int,
        word: int,
    ) -> int: ...
