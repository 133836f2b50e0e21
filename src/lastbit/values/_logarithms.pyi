from typing import Any

from numpy.typing import NDArray

class BinaryLogarithms:
    def __init__(
        self,
        first: NDArray[Any],
        second: NDArray[Any],
        first_logs: NDArray[Any],
        second_logs: NDArray[Any],
        constants: NDArray[Any],
    ) -> None: ...
    def fill(self, numbers: NDArray[Any], bits: int, exponents: NDArray[Any], parts: NDArray[Any]) -> list[int]: ...
