"""The observation spaces of an environment: nested dicts with the fields of TurnState, or flat arrays."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .checks import require_choice
from .immutable import Immutable
from .layout import Layout


class ObservationMode(Immutable):
    """One way to give observations to agents: ``{"observation": …, "action_mask": …}``.

    Args:
        name: ``"dict"`` (nested dict with the fields of TurnState) or ``"flat"`` (float32[D]).
        layout: the encoder's layout.
        mask_space: the space of the masks.

    Attributes:
        space: the space of the observations.

    Raises:
        ValueError: for an unknown name.
    """

    def __init__(self, name: str, layout: Layout, mask_space: spaces.Space[Any]) -> None:
        require_choice("observation", name, ("dict", "flat"))
        self._layout, self._nested = layout, name == "dict"
        shown = layout.dict_space() if self._nested else layout.flat_space()
        self.space = spaces.Dict({"observation": shown, "action_mask": mask_space})

    def observation(self, flat: NDArray[np.float32], mask: Any) -> dict[str, Any]:
        """Return an element of the space: `flat` (float32[D]) in this mode's form, and the mask as it is."""
        return {"observation": self._layout.tree(flat) if self._nested else flat, "action_mask": mask}
