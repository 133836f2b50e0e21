from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

class Logarithms:
    def __init__(
        self,
        inverses: NDArray[np.uint16],
        logs: NDArray[np.uint64],
        fine_inverses: NDArray[np.uint32],
        fine_logs: NDArray[np.uint64],
    ) -> None: ...

class CurveInverter:
    def __init__(
        self,
        tables: Logarithms,
        sides: Sequence[Sequence[tuple[int, int, int, int, int]]],
        scale: int,
        bits: int,
        way: int,
        rough: bool,
        side: int,
        floor: int,
        share: int,
    ) -> None: ...
    def first(self, words: NDArray[np.uint64] | bytes, step: int, out: NDArray[np.int64]) -> list[int]: ...
    def one(self, words: NDArray[np.uint64] | bytes) -> int | None: ...
