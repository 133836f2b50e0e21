import numpy as np
from numpy.typing import NDArray

def count_ranks(
    masks: NDArray[np.int64], units: NDArray[np.uint64], items: NDArray[np.uint64]
) -> NDArray[np.int64]: ...
