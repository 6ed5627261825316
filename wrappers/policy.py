"""Policy: what plays from observations, in batches."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Policy(Protocol):
    """Plays any number of seats at once."""

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action number per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        ...
