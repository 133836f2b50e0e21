from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lastbit.chance._cells import Cells

class Logarithms:
    def __init__(
        self,
        inverses: NDArray[np.uint16],
        logs: NDArray[np.uint64],
        fine_inverses: NDArray[np.uint32],
        fine_logs: NDArray[np.uint64],
    ) -> None: ...

class CurveInverter(Cells):
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
