import numpy as np
from numpy.typing import NDArray

def split(
    block: bytes, separator: int, quotes: bool, places: NDArray[np.int32], wanted: int, longest: int
) -> tuple[int, NDArray[np.int32], NDArray[np.uint8]]: ...
