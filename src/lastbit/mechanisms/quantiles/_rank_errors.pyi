from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.chance._classes import ClassWeights

def gap_sizes(values: NDArray[np.int64], low: int, high: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
def rank_errors(first_of_equals: NDArray[np.uint8], a: int, b: int) -> NDArray[np.int64]: ...
def tally(steps: NDArray[np.int64], low: int, counts: NDArray[np.int64]) -> None: ...
def pick_point(
    values: NDArray[np.int64],
    low: int,
    high: int,
    a: int,
    b: int,
    weights: ClassWeights,
    weight_error: int,
    words: Any,
) -> int | None: ...
