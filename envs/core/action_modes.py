"""The action spaces of an environment: action indices, documented payloads, or a grid of choices."""

from collections.abc import Mapping
from copy import deepcopy
from operator import index
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .game import Game
from .match import Match
from .turn_state import Action
from .view import ActionGrid

Mask = NDArray[np.int8] | tuple[NDArray[np.int8], ...]


class IllegalAction(ValueError):
    """An action that is not legal now, such as a raise that is too small."""


class PayloadSpace(spaces.Dict):
    """The space of documented payloads. `sample` also takes the observation's mask, int8 over the action types."""

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """Return a random action.

        Args:
            mask: int8[types], 1 for the action types that may be drawn; or a dict, as `spaces.Dict.sample` takes. A
                mask says nothing of the payload: an amount is drawn from its whole space.
            probability: see `spaces.Dict.sample`.
        """
        if mask is None or isinstance(mask, dict):
            return super().sample(mask, probability)
        sample = super().sample()
        sample["action_type"] = self["action_type"].sample(mask)
        return sample


class ActionMode(Protocol):
    """One way to give actions to an environment.

    Attributes:
        space: the space of the actions. It draws from a stream of its own, and a copy of the environment from a copy.
        mask_space: the space of the masks.
    """

    space: spaces.Space[Any]
    mask_space: spaces.Space[Any]

    def mask(self, match: Match, closed: bool | None) -> Mask:
        """Return the mask of the acting seat in new arrays: 1 where legal. All 0 if `closed`."""
        ...

    def play(self, match: Match, action: Any) -> None:
        """Play an action of the acting seat.

        Raises:
            IllegalAction: if the action is not legal; the error names the legal ones. The table is unchanged then.
            ValueError: if it is not an action of the space at all.
        """
        ...


class DiscreteActions:
    """Masked action indices: `spaces.Discrete`."""

    def __init__(self, game: Game) -> None:
        self.space: spaces.Space[Any] = spaces.Discrete(game.num_actions)
        self.mask_space: spaces.Space[Any] = spaces.Box(0, 1, (game.num_actions,), np.int8)

    def mask(self, match: Match, closed: bool | None) -> NDArray[np.int8]:
        """See `ActionMode`."""
        return np.zeros(len(match.mask), np.int8) if closed else match.mask.copy()

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        chosen = action if type(action) is int else _whole(action)
        within = 0 <= chosen < len(match.mask)
        if not (within and match.mask[chosen]):
            agent, legal = match.game.agents[match.turn], np.flatnonzero(match.mask).tolist()
            wrong = f"action {action!r} is not legal for {agent}; legal are {legal}"
            raise IllegalAction(wrong) if within else ValueError(wrong)
        match.play(chosen)


class PayloadActions:
    """The documented payloads: ``{"action_type": i, <type>: payload}``, with a mask over the action types."""

    def __init__(self, game: Game) -> None:
        self._types = list(game.view.action_spaces)
        self.space: spaces.Space[Any] = PayloadSpace(
            {"action_type": spaces.Discrete(len(self._types)), **deepcopy(dict(game.view.action_spaces))}
        )
        self.mask_space: spaces.Space[Any] = spaces.Box(0, 1, (len(self._types),), np.int8)

    def mask(self, match: Match, closed: bool | None) -> NDArray[np.int8]:
        """See `ActionMode`."""
        allowed = () if closed else match.game.allowed_actions(match.table)
        legal = {action.action_type for action in allowed}
        return np.array([name in legal for name in self._types], np.int8)

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        result = match.submit(match.game.agents[match.turn], self._action(action))
        if not result.ok:
            raise IllegalAction(f"{result.error}: {result.error_detail}")

    def _action(self, action: Any) -> Action:
        if not isinstance(action, Mapping) or "action_type" not in action:
            raise ValueError(f"action {action!r} is not a payload; give {{'action_type': i, <type>: payload}}")
        number = _whole(action["action_type"])
        if not 0 <= number < len(self._types):
            wanted = ", ".join(f"{i} for {name}" for i, name in enumerate(self._types))
            raise ValueError(f"action_type {action['action_type']!r} is none; give {wanted}")
        name = self._types[number]
        payload = action.get(name, {})
        if not isinstance(payload, Mapping):
            raise ValueError(f"{name} is {payload!r}; give its payload as a dict")
        return Action(name, {key: np.asarray(value).tolist() for key, value in payload.items()})


def _whole(value: Any) -> int:
    """Return an integer of any type (learners return NumPy's, and arrays of shape ()) as an int; −1 for all else."""
    try:
        return -1 if isinstance(value, bool) else index(value)
    except TypeError:
        return -1


class GridActions:
    """Several choices at once: `spaces.MultiDiscrete`, with a mask for each choice."""

    def __init__(self, grid: ActionGrid) -> None:
        self._grid = grid
        self.space: spaces.Space[Any] = spaces.MultiDiscrete(list(grid.sizes))
        self.mask_space: spaces.Space[Any] = spaces.Tuple([spaces.Box(0, 1, (size,), np.int8) for size in grid.sizes])

    def mask(self, match: Match, closed: bool | None) -> tuple[NDArray[np.int8], ...]:
        """See `ActionMode`."""
        sizes = self._grid.sizes
        return tuple(np.zeros(size, np.int8) for size in sizes) if closed else self._grid.legal(match.table)

    def play(self, match: Match, action: Any) -> None:
        """See `ActionMode`."""
        values = np.asarray(action)
        if values.dtype.kind not in "iu" or values.shape != (len(self._grid.sizes),):
            raise ValueError(f"action {action!r} does not fit this grid; give {len(self._grid.sizes)} whole numbers")
        for value, mask in zip(values.tolist(), self._grid.legal(match.table), strict=True):
            if not 0 <= value < len(mask) or not mask[value]:
                raise IllegalAction(
                    f"action {action!r} is not legal: {value} is none of {np.flatnonzero(mask).tolist()}"
                )
        match.play_move(self._grid.decode(match.table, [int(value) for value in values]))


def action_mode(name: str, game: Game) -> ActionMode:
    """Return the action mode called `name`.

    ``"discrete"``: masked action indices. ``"payload"``: ``{"action_type": i, <type>: payload}``, a dict space of the
    documented payloads, with `action_mask` over the action types. ``"grid"``, where the game has one: one value for
    each choice of `View.grid`; `action_mask` is a tuple of masks, as `spaces.MultiDiscrete.sample` takes.

    Raises:
        ValueError: for an unknown name.
    """
    grid = game.view.grid
    if name == "discrete":
        return DiscreteActions(game)
    if name == "payload":
        return PayloadActions(game)
    if name == "grid" and grid is not None:
        return GridActions(grid)
    choices = "'discrete', 'payload'" + (", 'grid'" if grid is not None else "")
    raise ValueError(f"action={name!r} is unknown; choose from {choices}")
