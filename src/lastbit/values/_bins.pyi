from typing import Any

import numpy as np
from numpy.typing import NDArray

class Thresholds:
    def __init__(self, thresholds: NDArray[np.float64] | NDArray[np.int64]) -> None: ...
    def count(self, values: NDArray[Any], counts: NDArray[np.int64]) -> None: ...
