"""Games with enumerable random events as games of OpenSpiel (https://github.com/google-deepmind/open_spiel).

    game = load("kuhn")
    solver = open_spiel.python.algorithms.cfr.CFRSolver(game)

OpenSpiel's own algorithms run on what this returns: its states stand on the compiled rules, chance nodes are the random
events of the capability `Chance`, and information states are what an encoder shows. Needs the package ``open_spiel``.
"""

import json
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray

from ..envs import Game
from ..envs.core.capabilities import Chance
from ..envs.core.chance import required_chance
from ..envs.core.registry import as_game

_LOADED: dict[str, str] = {}
"""The names under which OpenSpiel knows the games that were loaded, by id and options."""


MOST = 1_000
"""The most decisions of an episode, and outcomes of a random event, as OpenSpiel is told."""


def load(game: str | Game, **options: Any) -> Any:
    """Return a game as OpenSpiel's ``pyspiel.Game``.

    Args:
        game: a game with the capability `Chance`, or its name.
        options: the game's, where it is named.

    Raises:
        ValueError: if the game's random events cannot be enumerated, or for an unknown game or option.
    """
    game = as_game(game, options)
    chance = required_chance(game)
    key = f"{game.id} {json.dumps(dict(game.options), sort_keys=True)}"
    if key not in _LOADED:
        name = f"parlour_{game.name}_{len(_LOADED)}"
        pyspiel.register_game(*_made(game, chance, name))
        _LOADED[key] = name
    return pyspiel.load_game(_LOADED[key])


def _made(game: Game, chance: Chance, name: str) -> tuple[Any, type]:
    """Return OpenSpiel's description of a game, and the class of the game."""
    zero_sum = game.payoffs.zero_sum
    kind = pyspiel.GameType(
        short_name=name,
        long_name=f"Parlour's {game.id}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM if zero_sum else pyspiel.GameType.Utility.GENERAL_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=game.seats,
        min_num_players=game.seats,
        provides_information_state_string=True,
        provides_information_state_tensor=True,
        provides_observation_string=True,
        provides_observation_tensor=True,
    )
    info = pyspiel.GameInfo(
        num_distinct_actions=game.num_actions,
        max_chance_outcomes=MOST,
        num_players=game.seats,
        min_utility=float(game.payoffs.low),
        max_utility=float(game.payoffs.high),
        utility_sum=0.0 if zero_sum else None,
        max_game_length=MOST,
    )

    class ParlourGame(pyspiel.Game):
        def __init__(self, params: Any = None) -> None:
            super().__init__(kind, info, params or {})

        def new_initial_state(self) -> "_State":
            return _State(self, game, chance)

        def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "_Observer":
            return _Observer(game)

    return kind, ParlourGame


class _Rules:
    """A game with its random events. OpenSpiel copies all that its states hold; this stays one."""

    def __init__(self, game: Game, chance: Chance) -> None:
        self.game, self.chance = game, chance

    def __deepcopy__(self, memo: Any) -> "_Rules":
        return self


class _State(pyspiel.State):
    """One record, as a state of OpenSpiel."""

    def __init__(self, spiel: Any, game: Game, chance: Chance) -> None:
        super().__init__(spiel)
        self.rules = _Rules(game, chance)
        self.table = game.tables(1)
        chance.begin(self.table[0])
        self.won = np.zeros(game.seats)
        self.acted = False

    @property
    def _due(self) -> int:
        """How many outcomes the random event has that is due; 0: none is."""
        return int(self.rules.chance.outcomes(self.table[0]))

    def current_player(self) -> int:
        if self._due:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL if self.table[0].done else self.table[0].turn)

    def is_terminal(self) -> bool:
        return bool(self.table[0].done) and not self._due

    def _legal_actions(self, player: int) -> list[int]:
        return [int(action) for action in np.flatnonzero(self.rules.game.mask(self.table[0], player))]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        table, count, probability = self.table[0], self._due, self.rules.chance.probability
        return [(i, 1 / count if probability is None else float(probability(table, i))) for i in range(count)]

    def _apply_action(self, action: int) -> None:
        table = self.table[0]
        if self._due:
            self.rules.chance.play(table, action)
        else:
            self.rules.chance.step(table, self.rules.game.rules.decode(table, action))
            self.acted = True
        if self.acted and not self._due:
            self.won += table.rewards[: self.rules.game.seats]

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"outcome {action}"
        return str(self.rules.game.view.encode(self.table[0], action).action.to_json().decode())

    def returns(self) -> list[float]:
        return [float(won) for won in self.won]

    def __str__(self) -> str:
        return " ".join(map(str, self.history()))


class _Observer:
    """Writes what a seat sees, as OpenSpiel's observers do."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.tensor = np.zeros(game.layout.size, np.float32)
        self.dict = {"observation": self.tensor}

    def set_from(self, state: _State, player: int) -> None:
        """Write what `player` sees into `tensor`."""
        self.tensor[:] = self._seen(state, player)

    def string_from(self, state: _State, player: int) -> str:
        """Return the observation of `player` as text: its entries that are not 0, with their values."""
        seen = self._seen(state, player)
        return f"{self._game.agents[player]} " + " ".join(f"{i}:{seen[i]:g}" for i in np.flatnonzero(seen))

    def _seen(self, state: _State, player: int) -> NDArray[np.float32]:
        return self._game.observation(state.table[0], player)
