import numpy as np
from numpy.typing import NDArray

def split_objects(
    block: bytes, names: list[bytes], number: int, longest: int, longest_text: int, digest: int
) -> tuple[
    int,
    int,
    NDArray[np.int32],
    NDArray[np.uint8],
    NDArray[np.uint8],
    NDArray[np.float64],
    NDArray[np.int64],
]: ...
