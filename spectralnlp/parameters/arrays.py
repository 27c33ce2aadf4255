"""Types of the arrays that parameters are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Floats = NDArray[np.float64]
