"""One learner's seat against opponents: `SeatEnv` (gymnasium.Env) and `SeatVecEnv` (gymnasium VectorEnv).

Three rules hold here and in `parlour.wrappers.sb3`:

- **Rewards** are what the learner's seat gained since its previous decision in the episode, in `Game.unit` (hold'em:
  big blinds), whoever acted when it was gained; with the first decision comes what it gained before. So the rewards of
  an episode sum to the seat's result.
- **An episode in which the learner never decides** (all fold to its big blind) follows from no decision: it is played,
  counted in `Seats.episodes`, `Seats.winnings` and the infos, and the next one begins. No step carries its reward.
- **A masked action** is played as the game's safe action (hold'em: check, else fold), for learners that know no masks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from ..envs import game as make_game
from ..envs.core.game import Game, Tables
from ..envs.core.random_policy import RandomPolicy
from ..envs.core.screen import FPS, MODES, Window, check_mode, pixels, warn_unshown
from ..envs.core.turn_state import TurnState
from ..envs.core.vector import STAY, VectorGame
from .policy import Policy, make_policy

FRAMES = tuple(mode for mode in MODES if mode != "human")
"""How many tables at once can be rendered: a window shows one."""
EPISODES_WITHOUT_DECISION = 1_000
"""Episodes in a row at one table in which the learner may have no decision before that is an error."""


@dataclass(frozen=True)
class Pool:
    """Opponents to draw from: every opponent's seat draws one when an episode begins.

    In a game with sides (`Game.sides`) there are two draws instead: one for all of the learner's own side, and one for
    all others.

    Attributes:
        policies: names, paths or policies (see `make_policy`).
        weights: how often each is drawn, relative to the others; None: all alike.
        mates: the same for the learner's own side; None: as `weights`.
    """

    policies: Sequence[str | Policy]
    weights: Sequence[float] | None = None
    mates: Sequence[float] | None = None

    def __post_init__(self) -> None:
        """Check the weights."""
        if not self.policies:
            raise ValueError("a pool needs at least one policy")
        for name, given in (("weights", self.weights), ("mates", self.mates)):
            weights = [1.0] * len(self.policies) if given is None else given
            if len(weights) != len(self.policies) or min(weights) < 0 or not 0 < sum(weights) < np.inf:
                raise ValueError(f"{name}={given}: give {len(self.policies)} numbers from 0 up, not all 0")


Opponents = str | Policy | Sequence[str | Policy] | Pool
"""One policy for every seat, one per seat to the learner's left in order, or a `Pool`."""


class Seats:
    """N tables with a learner's seat at each; the opponents play until it is the learner's turn everywhere.

    This is what `SeatEnv`, `SeatVecEnv` and `SB3VecEnv` share. A finished table begins its next episode in the same
    step. Arrays are written in place by every `reset` and `step`; copy what you keep.

    Args:
        game: the game with its options.
        num_envs: how many tables.
        opponents: see `Opponents`. Those given by name are made anew by every seeded reset; policies given as objects
            keep their own random streams.
        seat: the learner's seat, or ``"rotate"``: the next one with every episode (table i begins with seat i).
        opening: decisions that chance makes, for every seat, when an episode begins: the least and the most; how many
            is drawn uniformly. So a learner also meets what good players never let happen (exploring starts).

    Attributes:
        observations: float32[N, D], what the learner sees.
        masks: int8[N, A], its legal actions.
        rewards: float64[N], of the last step.
        dones: bool[N], the episode that the last step belonged to has ended; `truncations`: by a limit.
        returns: float64[N] and `lengths`: int64[N], result and decisions of that episode, where `dones`.
        skipped: int64[N], episodes without a decision since the last step, `skipped_returns`: float64[N], their result.
        illegal: bool[N], the action of the last step was masked.
        seat: int64[N], the learner's seat.
        opening: may be changed; the episodes that begin from then on follow it.
        policies: the opponents in play; one may be replaced between steps, and plays on in its stead at once.
        episodes: finished episodes since the seeded reset, those without a decision included.
        winnings: the sum of their results.

    Raises:
        ValueError: for a seat that the game does not have, or opponents that do not fit.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        opening: tuple[int, int] = (0, 0),
    ) -> None:
        if seat != "rotate" and not (isinstance(seat, (int, np.integer)) and 0 <= seat < game.seats):
            raise ValueError(f'seat={seat!r}: the seats of {game.name} are 0 to {game.seats - 1}, or "rotate"')
        if not 0 <= opening[0] <= opening[1]:
            raise ValueError(f"opening={opening}: need the least number of decisions, from 0 up, and the most")
        self.game = game
        self.num_envs = num_envs
        self.tables = VectorGame(game, num_envs)
        self.observations, self.masks = self.tables.observations, self.tables.action_masks
        self._rows = np.arange(num_envs)
        self._rotates = seat == "rotate"
        self.seat = self._rows % game.seats if self._rotates else np.full(num_envs, int(seat))
        self._specs, self._chances = _arrange(opponents, game)
        self._side_chances = None
        if game.sides is not None and isinstance(opponents, Pool):
            mates = opponents.weights if opponents.mates is None else opponents.mates
            self._side_chances = _cumulative(opponents, mates), self._chances[0]
        self.policies: list[Policy] = [make_policy(spec, game, seed=0) for spec in self._specs]
        self._who = np.zeros((num_envs, game.seats), np.int64)  # which policy plays which seat
        self._random = np.random.default_rng(0)
        self.opening = opening
        self._opening = np.zeros(num_envs, np.int64)  # decisions left to chance
        self._chance = RandomPolicy(0)
        self._seeded = False

        self.rewards, self.returns, self.skipped_returns = (np.zeros(num_envs) for _ in range(3))
        self.dones, self.truncations, self.illegal = (np.zeros(num_envs, np.bool_) for _ in range(3))
        self.lengths, self.skipped = (np.zeros(num_envs, np.int64) for _ in range(2))
        self.episodes, self.winnings = 0, 0.0
        self._result = np.zeros(num_envs)  # of the episode under way
        self._decisions = np.zeros(num_envs, np.int64)  # of the learner in it
        self._early = np.zeros(num_envs)  # gained in it before the learner's first decision
        # The tables as they were before the latest move, and before the one that ended the learner's episode.
        self._bytes = _as_bytes(self.tables.tables)
        self._before, self._last = (np.zeros_like(self._bytes) for _ in range(2))
        self._last_move, self._last_seat = (np.zeros(num_envs, np.int64) for _ in range(2))

    def reset(self, seed: int | Sequence[int] | None = None) -> None:
        """Begin a new episode on every table and go on to the learner's first decision.

        Args:
            seed: everything drawn from now on follows from it: one number, or one per table. None goes on with the
                streams, which a first reset takes from the operating system's entropy.
        """
        if seed is None and not self._seeded:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self.tables.reset(seed)
        if seed is not None:
            self._sow(seed)
        for array in (self._result, self._decisions, self._early, self.dones, self.truncations, self.illegal):
            array[:] = 0
        self.skipped[:], self.skipped_returns[:], self.rewards[:] = 0, 0, 0
        self._draw_opponents(self._rows)
        self._draw_opening(self._rows)
        self._go_on()

    def _sow(self, seed: int | Sequence[int]) -> None:
        draws, plays, chance = np.random.SeedSequence(seed).spawn(3)
        self._random = np.random.default_rng(draws)
        self._chance = RandomPolicy(int(chance.generate_state(1, np.uint64)[0]))
        seeds = plays.generate_state(len(self._specs), np.uint64)
        self.policies[:] = [
            make_policy(spec, self.game, seed=int(one)) for spec, one in zip(self._specs, seeds, strict=True)
        ]
        if self._rotates:
            self.seat[:] = self._rows % self.game.seats
        self.episodes, self.winnings = 0, 0.0
        self._seeded = True

    def step(self, actions: ArrayLike) -> None:
        """Play the learner's decision on every table and go on to its next one.

        Args:
            actions: int[N]; a masked one is replaced by the safe action.

        Raises:
            ValueError: if the shape is wrong, for fractions, or before the first reset.
            RuntimeError: if the learner's seat never gets a decision.
        """
        moves = self._made_legal(actions)
        self._decisions += 1
        self.rewards[:] = self._early
        self._early[:] = 0
        self.dones[:], self.truncations[:], self.skipped[:], self.skipped_returns[:] = False, False, 0, 0
        self._play(moves)
        self._go_on()

    def final_table(self, table: int) -> tuple[Any, int]:
        """Return the record of the learner's episode that ended in the last step, and its seat; only where `dones`."""
        tables = self.game.tables(1)
        _as_bytes(tables)[0] = self._last[table]
        self.game.rules.play(tables[0], int(self._last_move[table]))
        return tables[0], int(self._last_seat[table])

    def final_observation(self, table: int) -> NDArray[np.float32]:
        """Return what the learner saw when its episode ended in the last step, float32[D]; only where `dones`."""
        return self.game.observation(*self.final_table(table))

    def _made_legal(self, actions: ArrayLike) -> NDArray[np.int64]:
        given = np.asarray(actions)
        if given.dtype.kind not in "iu":
            raise ValueError(f"actions are {given.dtype}; they need whole numbers")
        moves = given.astype(np.int64)
        if moves.shape != (self.num_envs,):
            raise ValueError(f"actions have shape {moves.shape}; they need one number per table: ({self.num_envs},)")
        if not self._seeded:
            raise ValueError("step() before reset(): call reset(seed=…) first")
        known = (moves >= 0) & (moves < self.game.num_actions)
        np.logical_not(known & (self.masks[self._rows, np.where(known, moves, 0)] != 0), out=self.illegal)
        for table in np.flatnonzero(self.illegal):
            moves[table] = self.game.view.safe(self.tables.tables[table])
        return moves

    def _go_on(self) -> None:
        """Let chance and the opponents play until the learner is to decide on every table."""
        self._open()
        while (waiting := np.flatnonzero(self.tables.turn != self.seat)).size:
            moves = np.full(self.num_envs, STAY)
            self._answer(waiting, moves)
            try:
                self._play(moves)
            except ValueError as error:
                raise ValueError(f"an opponent played what it may not: {error}") from error
            self._open()

    def _open(self) -> None:
        """Play the openings. What they bring belongs to no episode; where they end the game, they go on in the next."""
        while (rows := np.flatnonzero(self._opening)).size:
            moves = np.full(self.num_envs, STAY)
            moves[rows] = self._chance.act(self.observations[rows], self.masks[rows])
            self.tables.step(moves)
            self._opening[rows] -= 1

    def _answer(self, waiting: NDArray[np.intp], moves: NDArray[np.int64]) -> None:
        """Write the opponents' moves at the tables `waiting`: one call per policy, for all its tables at once."""
        who = self._who[waiting, self.tables.turn[waiting]]
        order = np.argsort(who, kind="stable")
        rows = waiting[order]
        observations, masks = self.observations[rows], self.masks[rows]
        bounds = np.searchsorted(who[order], np.arange(len(self.policies) + 1))
        for index, policy in enumerate(self.policies):
            start, stop = bounds[index], bounds[index + 1]
            if start < stop:
                moves[rows[start:stop]] = policy.act(observations[start:stop], masks[start:stop])

    def _play(self, moves: NDArray[np.int64]) -> None:
        moving = np.flatnonzero(moves != STAY)
        if len(moving) == self.num_envs:
            self._before[:] = self._bytes
        else:
            self._before[moving] = self._bytes[moving]
        self.tables.step(moves)
        gains = self.tables.rewards[self._rows, self.seat] / self.game.payoffs.unit
        if gains.any():
            self._result += gains
            undecided = self._decisions == 0
            self._early += np.where(undecided, gains, 0)
            self.rewards += np.where(undecided, 0, gains)
        if self.tables.dones.any():
            self._close(np.flatnonzero(self.tables.dones), moves)

    def _close(self, ended: NDArray[np.intp], moves: NDArray[np.int64]) -> None:
        """Book the episodes that have just ended and prepare the next ones."""
        decided = self._decisions[ended] > 0
        ours, others = ended[decided], ended[~decided]
        self.dones[ours] = True
        self.truncations[ours] = self.tables.truncations[ours]
        self.returns[ours], self.lengths[ours] = self._result[ours], self._decisions[ours]
        self._last[ours], self._last_move[ours], self._last_seat[ours] = (
            self._before[ours],
            moves[ours],
            self.seat[ours],
        )
        self.skipped[others] += 1
        self.skipped_returns[others] += self._result[others]
        if self.skipped.max() > EPISODES_WITHOUT_DECISION:
            seat = int(self.seat[self.skipped.argmax()])
            raise RuntimeError(f"seat {seat} had no decision in {EPISODES_WITHOUT_DECISION} episodes: is it empty?")
        self.episodes += len(ended)
        self.winnings += float(self._result[ended].sum())
        self._result[ended], self._decisions[ended], self._early[ended] = 0, 0, 0
        if self._rotates:
            self.seat[ended] = (self.seat[ended] + 1) % self.game.seats
        self._draw_opponents(ended)
        self._draw_opening(ended)

    def _draw_opening(self, rows: NDArray[np.intp]) -> None:
        least, most = self.opening
        if most:
            self._opening[rows] = self._random.integers(least, most + 1, size=len(rows))

    def _draw_opponents(self, rows: NDArray[np.intp]) -> None:
        if self._side_chances is not None and self.game.sides is not None:
            sides = self.game.sides(cast(Tables, self.tables.tables[rows]))
            ours = sides == sides[np.arange(len(rows)), self.seat[rows], None]
            mates, others = (
                np.searchsorted(chances, self._random.random(len(rows)), side="right") for chances in self._side_chances
            )
            self._who[rows] = np.where(ours, mates[:, None], others[:, None])
            return
        for place, chances in enumerate(self._chances, start=1):
            drawn = np.searchsorted(chances, self._random.random(len(rows)), side="right")
            self._who[rows, (self.seat[rows] + place) % self.game.seats] = drawn


def _as_bytes(tables: Tables) -> NDArray[np.uint8]:
    """Return the records as rows of bytes, which NumPy copies faster than fields; what is written there is theirs."""
    return tables.view(np.uint8, np.ndarray).reshape(len(tables), -1)


def _arrange(opponents: Opponents, game: Game) -> tuple[list[str | Policy], list[NDArray[np.float64]]]:
    """Return the policies, and for each place left of the learner the cumulative chances of drawing them."""
    places = game.seats - 1
    if isinstance(opponents, Pool):
        return list(opponents.policies), [_cumulative(opponents, opponents.weights)] * places
    if isinstance(opponents, str) or hasattr(opponents, "act"):
        opponents = [opponents] * places
        return [*opponents[:1]], [np.ones(1)] * places
    if not isinstance(opponents, Sequence):
        raise ValueError(f"opponents={opponents!r}: give names, policies (they have an act) or a Pool")
    if len(opponents) != places:
        raise ValueError(
            f"{len(opponents)} opponents for {places} other seats: give one, one per seat, or a Pool to draw from"
        )
    return list(opponents), [(np.arange(places) >= place).astype(float) for place in range(places)]


def _cumulative(pool: Pool, given: Sequence[float] | None) -> NDArray[np.float64]:
    weights = np.ones(len(pool.policies)) if given is None else np.array(given, float)
    chances: NDArray[np.float64] = np.cumsum(weights) / weights.sum()
    chances[np.flatnonzero(weights)[-1] :] = 1.0  # rounding must not let the draw pass the last one
    return chances


class SeatVecEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """A learner's seat at N tables as a Gymnasium vector environment, with flat observations.

    A finished table is reset **within the same step** (``AutoresetMode.SAME_STEP``): reward, termination and
    ``infos["final_obs"][i]`` belong to the episode that ended, ``observations[i]`` to the one that began.

    ``infos`` hold ``action_mask`` int8[N, A] and ``illegal`` bool[N]; where an episode ended, ``final_obs``,
    ``episode_return`` and ``episode_length``; where episodes without a decision were rolled over, ``skipped_episodes``
    and ``skipped_return``. Each has its ``_key`` of the tables for which it counts.

    Args:
        game: the game with its options.
        num_envs: how many tables.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose eyes `render` has: ``"own"`` (the learner's), ``"public"`` (what all may see) or ``"all"``.
    """

    metadata = {  # noqa: RUF012 (Gymnasium's name)
        "render_modes": list(FRAMES),
        "render_fps": FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        game: Game,
        num_envs: int = 1,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
    ) -> None:
        check_mode(render_mode, FRAMES)
        check_view(game, render_view)
        self.seats = Seats(game, num_envs, opponents, seat)
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.render_view = render_view
        self.single_observation_space = game.layout.flat_space()
        self.single_action_space = spaces.Discrete(game.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def action_masks(self) -> NDArray[np.int8]:
        """Return the learner's legal actions: int8[N, A]."""
        return self.seats.masks.copy()

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a new episode on every table; see `Seats.reset`."""
        if isinstance(seed, list):
            seeds = [one for one in seed if one is not None]
            if seeds and len(seeds) < len(seed):
                raise ValueError(f"seed={seed}: give every table a seed, or none")
            self.seats.reset(seeds or None)
        else:
            self.seats.reset(seed)
        return self.seats.observations.copy(), self._infos()

    def step(
        self, actions: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Play the learner's decision on every table; see `Seats.step`."""
        seats = self.seats
        seats.step(actions)
        ended = seats.dones & ~seats.truncations
        return seats.observations.copy(), seats.rewards.copy(), ended, seats.truncations.copy(), self._infos()

    def render(self) -> tuple[NDArray[np.uint8] | str, ...] | None:
        """Return every table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None.

        Where an episode has just ended, that is the one that began.
        """
        if self.render_mode is None:
            warn_unshown()
            return None
        return frames(self.seats, self.render_mode, self.render_view)

    def _infos(self) -> dict[str, Any]:
        seats = self.seats
        every = np.ones(self.num_envs, np.bool_)
        infos: dict[str, Any] = {"action_mask": seats.masks.copy(), "illegal": seats.illegal.copy()}
        infos |= {"_action_mask": every, "_illegal": every}
        if seats.dones.any():
            final = np.full(self.num_envs, None, object)
            for table in np.flatnonzero(seats.dones):
                final[table] = seats.final_observation(int(table))
            infos |= {"final_obs": final, "_final_obs": seats.dones.copy()}
            infos |= {"episode_return": np.where(seats.dones, seats.returns, 0), "_episode_return": seats.dones.copy()}
            infos |= {"episode_length": np.where(seats.dones, seats.lengths, 0), "_episode_length": seats.dones.copy()}
        if seats.skipped.any():
            infos |= {"skipped_episodes": seats.skipped.copy(), "_skipped_episodes": seats.skipped > 0}
            infos |= {"skipped_return": seats.skipped_returns.copy(), "_skipped_return": seats.skipped > 0}
        return infos


def check_view(game: Game, view: str) -> None:
    """Refuse a `render_view` that the game does not have.

    Raises:
        ValueError: naming the views.
    """
    if view not in ("own", "public", "all") or (view == "public" and game.public is None):
        public = ', "public"' if game.public is not None else ""
        raise ValueError(f'render_view={view!r} is unknown; choose from "own"{public}, "all"')


def frames(seats: Seats, mode: str, view: str) -> tuple[NDArray[np.uint8] | str, ...]:
    """Return every table as `view` sees it, in a mode other than ``"human"``; see `SeatVecEnv.render`."""
    records = seats.tables.tables
    return tuple(_frame(seats.game, records[i], seat, mode, view) for i, seat in enumerate(seats.seat.tolist()))


def _seen(game: Game, record: Any, seat: int, view: str) -> list[TurnState]:
    """Return the TurnStates that make a view, as `Game.picture` takes them."""
    if view == "public":
        return [game.public_turn_state(record)]
    return [game.turn_state(record, one) for one in (range(game.seats) if view == "all" else [seat])]


def _frame(game: Game, record: Any, seat: int, mode: str, view: str) -> NDArray[np.uint8] | str:
    """Return a table in a mode other than ``"human"``."""
    if mode == "ansi":
        return game.renderer.text(record, {"own": seat, "public": -1, "all": None}[view])
    drawn = game.renderer.picture(_seen(game, record, seat, view))
    return drawn if mode == "svg" else pixels(drawn)


class SeatEnv(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A learner's seat at one table as a Gymnasium environment, with flat observations.

    ``info`` holds ``action_mask`` int8[A] and ``illegal``; at the end ``episode_return`` and ``episode_length``; after
    a reset that rolled over episodes without a decision, ``skipped_episodes`` and ``skipped_return``.

    Args:
        game: the game with its options.
        opponents: see `Opponents`.
        seat: the learner's seat, or ``"rotate"``.
        render_mode: ``"human"``, ``"rgb_array"``, ``"svg"``, ``"ansi"`` or None; see `render`.
        render_view: whose eyes `render` has: ``"own"`` (the learner's), ``"public"`` (what all may see) or ``"all"``.
    """

    metadata = {"render_modes": list(MODES), "render_fps": FPS}  # noqa: RUF012 (Gymnasium's name)

    def __init__(
        self,
        game: Game,
        opponents: Opponents = "random",
        seat: int | str = "rotate",
        render_mode: str | None = None,
        render_view: str = "own",
    ) -> None:
        check_mode(render_mode)
        check_view(game, render_view)
        self.seats = Seats(game, 1, opponents, seat)
        self.render_mode = render_mode
        self.render_view = render_view
        self._window: Window | None = None
        self.observation_space = cast(spaces.Space[NDArray[np.float32]], game.layout.flat_space())
        self.action_space = spaces.Discrete(game.num_actions)
        self._over = False

    def action_masks(self) -> NDArray[np.int8]:
        """Return the learner's legal actions: int8[A]; after the end none."""
        return np.zeros_like(self.seats.masks[0]) if self._over else self.seats.masks[0].copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode and go on to the learner's first decision; see `Seats.reset`."""
        super().reset(seed=seed)
        if seed is not None or not self._over:  # after an end, the next episode has begun already
            self.seats.reset(seed)
        self._over = False
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": False}
        if self.seats.skipped[0]:
            info |= {"skipped_episodes": int(self.seats.skipped[0])}
            info |= {"skipped_return": float(self.seats.skipped_returns[0])}
        if self.render_mode == "human":
            self.render()
        return self.seats.observations[0].copy(), info

    def step(self, action: np.int64 | int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play the learner's decision; see `Seats.step`."""
        if self._over:
            raise gymnasium.error.ResetNeeded("the episode is over: call reset()")
        seats = self.seats
        seats.step(np.array([action]))
        self._over, truncated = bool(seats.dones[0]), bool(seats.truncations[0])
        observation = seats.final_observation(0) if self._over else seats.observations[0].copy()
        info: dict[str, Any] = {"action_mask": self.action_masks(), "illegal": bool(seats.illegal[0])}
        if self._over:
            info |= {"episode_return": float(seats.returns[0]), "episode_length": int(seats.lengths[0])}
        if self.render_mode == "human":
            self.render()
        return observation, float(seats.rewards[0]), self._over and not truncated, truncated, info

    def render(self) -> NDArray[np.uint8] | str | None:
        """Show the table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None.

        The learner sees it as it ended, once its episode is over, and the others' moves since its own last one only
        in what they left on the table. ``"human"`` draws by itself after every reset and step.
        """
        if self.render_mode is None:
            warn_unshown()
            return None
        seats, game = self.seats, self.seats.game
        record, seat = seats.final_table(0) if self._over else (seats.tables.tables[0], int(seats.seat[0]))
        if self.render_mode != "human":
            return _frame(game, record, seat, self.render_mode, self.render_view)
        self._window = self._window or Window(game.id)
        self._window.show(game.renderer.picture(_seen(game, record, seat, self.render_view)))
        return None

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        if self._window is not None:
            self._window.close()
            self._window = None


def make_seat(
    *,
    game: str | Game,
    opponents: Opponents = "random",
    seat: int | str = "rotate",
    render_mode: str | None = None,
    render_view: str = "own",
    **options: Any,
) -> SeatEnv:
    """Return a `SeatEnv` by the game's name; ``gymnasium.make("parlour/Holdem-v0", opponents="call", seats=2)``."""
    return SeatEnv(as_game(game, options), opponents, seat, render_mode, render_view)


# Gymnasium looks here for the modes, before it makes anything: of each it can make a list (``"rgb_array_list"``).
make_seat.metadata = SeatEnv.metadata  # type: ignore[attr-defined]


def make_seats(
    *,
    game: str | Game,
    num_envs: int = 1,
    opponents: Opponents = "random",
    seat: int | str = "rotate",
    render_mode: str | None = None,
    render_view: str = "own",
    **options: Any,
) -> SeatVecEnv:
    """Return a `SeatVecEnv` by the game's name; ``gymnasium.make_vec("parlour/Holdem-v0", num_envs=1024)``."""
    return SeatVecEnv(as_game(game, options), num_envs, opponents, seat, render_mode, render_view)


def as_game(game: str | Game, options: dict[str, Any]) -> Game:
    """Return the game of a name with its options, or the game itself, which has them already."""
    if isinstance(game, str):
        return make_game(game, **options)
    if options:
        raise ValueError(f"the game has its options already; {', '.join(options)} cannot be given with it")
    return game
