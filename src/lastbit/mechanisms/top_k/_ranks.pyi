from typing import Any

import numpy as np
from numpy.typing import NDArray

from lastbit.chance._cells import Cells

def contenders(
    values: NDArray[Any], width: int, k: int, reach: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None: ...
def near(values: NDArray[Any], kept: int, below: int) -> NDArray[Any]: ...
def named(numbers: NDArray[Any], places: NDArray[Any]) -> tuple[int, ...]: ...
def pick_items(items: tuple[Any, ...], places: NDArray[Any]) -> tuple[Any, ...]: ...
def ranked(steps: NDArray[Any], places: NDArray[Any], kept: int) -> tuple[NDArray[np.int64], NDArray[Any]]: ...
def selected(
    words: NDArray[Any] | bytes,
    law: Cells,
    values: NDArray[Any],
    factor: int,
    edge: int,
    limit: int,
    k: int,
    width: int,
    few: int,
) -> tuple[tuple[int, ...], NDArray[Any]] | None: ...
def among_equals(values: NDArray[Any], turned: NDArray[Any], places: NDArray[Any]) -> tuple[int, ...]: ...
