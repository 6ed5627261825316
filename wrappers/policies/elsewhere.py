"""Policies around a policy: at a table that is not its own, and without its statements.

A policy was trained for one observation and one set of action indices. At a table with other options, such as another
number of seats, it reads the TurnState with the game of its training (`View.load`), and its answer is the documented
payload. Live agents do the same, so a policy plays a table in the same way everywhere.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import ActionResult, Game
from ...envs.core.plain_start import PLAIN_START
from ...envs.core.rollout import Policy, RandomPolicy, act_of, encoder_of
from .base import LearnedPolicy, TabularPolicy, TrainedFor, command_line, unshared

Masks = NDArray[np.int8]
Actions = NDArray[np.int64]


class _OtherWords:
    """A policy whose statements are others.

    Args:
        policy: the policy.
        game: a game with statements, with its options.

    Raises:
        ValueError: if the game has no statements.
    """

    def __init__(self, policy: Policy, game: Game) -> None:
        talk = game.capabilities.talk
        if talk is None or not talk.statements:
            raise ValueError(f"{game.id} has no action index that is a statement")
        self._policy, self._statements = policy, talk.statements
        self.encoder = getattr(policy, "encoder", None)

    def act(self, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Return a legal action index per row: int64[N]."""
        return self._said(self._policy.act(observations, self._open(masks)), masks)

    def act_on(self, tables: Any, rows: Actions, observations: NDArray[np.float32], masks: Masks) -> Actions:
        """Do the same as `act` for a policy that needs the records."""
        actions = act_of(self._policy, tables, rows, observations, self._open(masks))
        return self._said(np.asarray(actions, np.int64), masks)

    def _open(self, masks: Masks) -> Masks:
        return masks

    def _said(self, actions: Actions, masks: Masks) -> Actions:
        return actions


class MutedPolicy(_OtherWords):
    """A policy that says nothing: statements are masked out. It still reads what others say."""

    def _open(self, masks: Masks) -> Masks:
        silent = masks.copy()
        silent[:, self._statements] = 0
        return silent


class ScrambledPolicy(_OtherWords):
    """A policy whose statements are replaced by random ones: it talks as often, but its words mean nothing.

    `seed` is the seed of the random statements.
    """

    def __init__(self, policy: Policy, game: Game, seed: int | None = None) -> None:
        super().__init__(policy, game)
        self._random = RandomPolicy(seed)

    def _said(self, actions: Actions, masks: Masks) -> Actions:
        said = np.isin(actions, self._statements)
        choices = np.zeros_like(masks[said])
        choices[:, self._statements] = masks[said][:, self._statements]
        played = actions.copy()
        played[said] = self._random.act(np.empty((0, 0), np.float32), choices)
        return played


LONGEST = 2_000
"""The most decisions of the match in which `reason_against` tries a policy."""


def reason_against(policy: LearnedPolicy, game: Game) -> str:
    """Return why a policy cannot play a game with its options and seats; empty: it can.

    The words follow the name of the policy, such as ``"plays leduc-v0, not kuhn-v0"``.

    Where the options differ from those of the training, a match of random play is tried: every state must be readable
    with the policy's own game, and its answers of every action type must be legal sometimes.
    """
    if (trained_for := policy.trained_for) is None:
        return "" if _fits(policy, game) else f"{_sizes(policy)}, and does not say what it was trained for"
    if trained_for.name != game.name:
        return f"plays {trained_for.game}, not {game.id}"
    try:
        own = trained_for.make_game()
    except ValueError as error:
        return f"was trained for a game that cannot be made: {error}"
    if problem := misfit(policy, own):
        return f"is damaged: it {problem}"
    theirs, ours = unshared(own, game), unshared(game, own)
    if not theirs and not ours:
        return ""
    if isinstance(policy, TabularPolicy):  # it has no row for another game's observations
        differs = f"plays {own.id} with {_text(theirs)}, not {game.id} with {_text(ours)}"
        return f"{differs}; it knows no other game: give its options, on a command line {command_line(theirs)}"
    with PLAIN_START.loading():  # a match in plain Python is played before it would be compiled
        return "" if _fits(policy, game) else _problem(own, game)


def at_table(policy: LearnedPolicy, game: Game) -> "LearnedPolicy | ElsewherePolicy":
    """Return a policy as it plays `game`: itself where the game has its observations and actions.

    Raises:
        ValueError: if it cannot play the game (see `reason_against`).
    """
    if reason := reason_against(policy, game):
        raise ValueError(reason)
    if policy.trained_for is None or _fits(policy, game):
        return policy
    return ElsewherePolicy(policy, policy.trained_for, game)


def _fits(policy: LearnedPolicy, game: Game) -> bool:
    encoder = policy.encoder or game.encoder
    size = game.encoders[encoder].layout.size if encoder in game.encoders else None
    return (policy.inputs, policy.outputs) == (size, game.num_actions)


def misfit(policy: LearnedPolicy, own: Game) -> str:
    """Return the differences of a policy's sizes from those of its own game, in words that follow its name; or ""."""
    if _fits(policy, own):
        return ""
    size = own.encoders[policy.encoder or own.encoder].layout.size
    return f"{_sizes(policy)}; {own.id} has {size:,} and {own.num_actions:,}"


def _sizes(policy: LearnedPolicy) -> str:
    return f"takes {policy.inputs:,} numbers and has {policy.outputs:,} actions"


def _problem(own: Game, game: Game) -> str:
    tables, random = game.tables(1), np.random.default_rng(0)
    table = tables[0]
    game.rules.reset(table)
    for _ in range(LONGEST):
        if table.done:
            break
        try:
            moves = _moves(own, game, table, random)
        except (KeyError, TypeError, ValueError) as error:
            theirs = unshared(own, game)
            trained = f"was trained for {own.id} with {_text(theirs)}, and cannot play this table: {error}"
            return f"{trained}; on a command line its own is {command_line(theirs)}"
        game.rules.step(table, moves[random.integers(len(moves))])
    return ""


def _moves(own: Game, game: Game, table: Any, random: np.random.Generator) -> list[Any]:
    """Return a legal move of each action type that a policy for `own` may answer with in this turn.

    Raises:
        ValueError: if there is none, or none of a type that is legal here; and as `View.load`.
    """
    state = game.turn_state(table, int(table.turn))
    loaded, seat = own.load(state)
    refusals: dict[str, str] = {}
    moves: dict[str, Any] = {}
    for number in random.permutation(np.flatnonzero(own.mask(loaded[0], seat))).tolist():
        action = own.view.encode(loaded[0], number).action
        if action.action_type not in moves:
            answer = game.view.parse(table, action)
            if isinstance(answer, ActionResult):
                refusals.setdefault(action.action_type, str(answer.error_detail))
            else:
                moves[action.action_type] = answer
    for offer in state.allowed_actions:
        if offer.action_type in refusals and offer.action_type not in moves:
            raise ValueError(refusals[offer.action_type])
    if not moves:
        raise ValueError("none of its actions is legal")
    return list(moves.values())


class ElsewherePolicy:
    """A policy at a table with other options than those of its training.

    Each decision goes through TurnState and a payload, as at a live table: that is slower than play on records. An
    answer that is not legal at the table is replaced by the nearest legal action index.

    Args:
        policy: the policy.
        trained_for: what it was trained for.
        game: the game of the tables.

    Attributes:
        policy: the policy.
        trained_for: what it was trained for.
    """

    def __init__(self, policy: LearnedPolicy, trained_for: TrainedFor, game: Game) -> None:
        self.policy = policy
        self.trained_for = trained_for
        self._own, self._game = trained_for.make_game(), game
        self._encoder = self._own.encoders[encoder_of(policy, self._own)]

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Raise ValueError: it plays on records alone (see `act_on`)."""
        raise ValueError(f"a policy for {self.trained_for.game} with other options plays on records: call act_on")

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return a legal action index for the acting seat at each of the tables `rows`: int64[M].

        Args:
            tables: the records of `game`.
            rows: int64[M], indices of tables.
            observations: not used.
            masks: int8[M, A], the action masks there.
        """
        own, game = self._own, self._game
        loaded = [own.load(game.turn_state(tables[row], int(tables[row].turn))) for row in rows]
        for table, _ in loaded:
            own.view.familiar(table[0])
        seen = np.stack([self._encoder.observation(table[0], seat) for table, seat in loaded])
        opened = np.stack([own.mask(table[0], seat) for table, seat in loaded])
        chosen = self.policy.act(seen, opened)
        return np.array(
            [
                self._index(table[0], int(action), tables[row], mask)
                for (table, _), action, row, mask in zip(loaded, chosen, rows, masks, strict=True)
            ],
            np.int64,
        )

    def _index(self, own_table: Any, action: int, table: Any, mask: NDArray[np.int8]) -> int:
        """Return the action index of the answer at the table."""
        game = self._game
        move = game.view.parse(table, self._own.view.encode(own_table, action).action)
        index = int(game.view.safe(table)) if isinstance(move, ActionResult) else int(game.view.nearest(table, move))
        if mask[index]:
            return index
        opened = np.flatnonzero(mask)
        return int(opened[np.argmin(np.abs(opened - index))])


def _text(options: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in options.items())
