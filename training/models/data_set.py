"""A data set of decisions: conversations with the values of all legal actions.

Values are exact where the tree can be walked, else by rollouts.

The value of an action is the return from there on of the seat that takes it, on average, if all seats, its own
included, play by the policy afterwards.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import count
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done
from ...envs.core.rng import streams
from ...envs.core.rollout import Policy, act_of, played, tables_with_seed
from ...wrappers.agents.prompt import Prompting
from ..evaluation.exact import Floats, Probable, Tree, nash_conv, realised
from ..evaluation.exploit import tree_of
from .reference import PartlyRandom

CARD = files(__package__).joinpath("croissant.json")
"""The card of a data set, with GAME, FILE, DIGEST and ABOUT in the places of a game's name, a file, its SHA-256 and a
description."""
EPISODES = 256
"""Episodes that are played at the same time."""
LEAST = 1e-9
"""The least probability with which chance and the others reach an information set whose values are known."""


@dataclass(frozen=True)
class Decision:
    """A decision.

    Attributes:
        episode: the number of its episode.
        seat: who decides.
        table: the record.
        observation: float32[D], of the policy's encoder.
        mask: int8[A].
    """

    episode: int
    seat: int
    table: Any
    observation: NDArray[np.float32]
    mask: NDArray[np.int8]


class _Recorder:
    """A policy in all seats but one, where an explorer plays, whose decisions are kept with the record before each.

    The seat is another one in every episode. What a seat sees of the others is then as likely as in the policy's play.
    """

    def __init__(self, player: Policy, explorer: Policy, first: int) -> None:
        self.encoder = getattr(player, "encoder", None)
        self.decisions: list[Decision] = []
        self._player, self._explorer, self._first = player, explorer, first

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        return self._player.act(observations, masks)

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        explored = tables.turn[rows] == (self._first + rows) % tables.rewards.shape[1]
        actions = np.empty(len(rows), np.int64)
        for policy, part in ((self._explorer, explored), (self._player, ~explored)):
            if part.any():
                actions[part] = act_of(policy, tables, rows[part], observations[part], masks[part])
        for row, seen, mask in zip(rows[explored].tolist(), observations[explored], masks[explored], strict=True):
            table = tables[row]
            self.decisions.append(Decision(self._first + row, int(table.turn), table.copy(), seen.copy(), mask.copy()))
        return actions


def decisions_of(player: Policy, explorer: Policy, game: Game, seed: int) -> Iterator[Decision]:
    """Yield the decisions of one seat of every episode, without end; it is another seat in the next episode.

    Args:
        player: the policy in the other seats.
        explorer: the policy in this seat, with the player's encoder.
        game: the game.
        seed: of the episodes.
    """
    for number in count(0, EPISODES):
        recorder = _Recorder(player, explorer, number)
        tables = tables_with_seed(game, EPISODES, streams(seed, number + EPISODES)[number:].tolist())
        play_until_done(game, [recorder], tables)
        yield from sorted(recorder.decisions, key=lambda decision: decision.episode)


def probabilities(policy: Policy, game: Game, decision: Decision) -> Floats:
    """Return how likely a policy takes each action index at a decision, float64[A]; 1 for one, if it does not tell."""
    likely = None if hasattr(policy, "act_on") else played(policy)
    seen, masks = decision.observation[None], decision.mask[None]
    if likely is not None:
        return np.asarray(likely(seen, masks)[0], np.float64)
    table = game.tables(1)
    table[0] = decision.table
    action = int(np.asarray(act_of(policy, table, np.zeros(1, np.int64), seen, masks)).reshape(-1)[0])
    return np.asarray(np.eye(len(decision.mask))[action])


class ExactValues:
    """The exact values at the information sets of a tree.

    Args:
        tree: the tree.
        strategy: float64[Q], how all seats play.
    """

    def __init__(self, tree: Tree, strategy: Floats) -> None:
        self._tree = tree
        plan, self._values = realised(strategy, tree.parent, tree.first), np.zeros(len(strategy))
        self._reached = np.zeros(len(strategy))
        for seat in range(tree.game.seats):
            others = np.delete(plan[tree.ends], seat, axis=1).prod(axis=1)
            np.add.at(self._values, tree.ends[:, seat], others * tree.payoffs[:, seat])
            np.add.at(self._reached, tree.ends[:, seat], others * tree.chances)
        for number in range(len(tree.seat) - 1, -1, -1):  # a set stands after those that lead to it
            mine = slice(tree.first[number], tree.first[number + 1])
            self._values[tree.parent[number]] += strategy[mine] @ self._values[mine]
            self._reached[tree.parent[number]] += strategy[mine] @ self._reached[mine]
        self._sets = {self._key(*each): i for i, each in enumerate(zip(tree.seat, tree.observations, strict=True))}

    def at(self, decision: Decision) -> Floats | None:
        """Return the value of each legal action in their order, in `Payoffs.unit`; None where nobody gets to."""
        number = self._sets[self._key(decision.seat, decision.observation)]
        mine = slice(self._tree.first[number], self._tree.first[number + 1])
        reached = self._reached[mine]
        if reached.min() < LEAST:
            return None
        return np.asarray(self._values[mine] / reached / self._tree.game.payoffs.unit)

    @staticmethod
    def _key(seat: int, observation: NDArray[np.float32]) -> tuple[int, bytes]:
        return int(seat), (np.asarray(observation, np.float32) + np.float32(0)).tobytes()


def rolled_out(policy: Policy, game: Game, decision: Decision, episodes: int, seed: int) -> Floats:
    """Return the value of each legal action in their order, by playing on from the record, in `Payoffs.unit`.

    The record has what the seat does not see. So one value is that of the true state; over many decisions in which the
    policy plays the other seats they are on average those of what the seat sees.

    Args:
        policy: plays all seats.
        game: the game.
        decision: the decision.
        episodes: number of episodes for each action.
        seed: of what chance draws from there on.
    """
    legal = np.flatnonzero(decision.mask).tolist()
    tables = game.tables(len(legal) * episodes)
    tables[:] = decision.table
    tables.stream = np.tile(streams(seed, episodes), len(legal))
    returns = np.zeros(len(tables))
    for row, table in enumerate(tables):
        game.rules.step(table, game.rules.decode(table, legal[row // episodes]))
        returns[row] = table.rewards[decision.seat]
    going = np.flatnonzero(tables.done == 0)
    if len(going):
        rest = tables[going].copy().view(np.recarray)
        returns[going] += play_until_done(game, [policy], rest, begin=False)[:, decision.seat]
    means: Floats = returns.reshape(len(legal), episodes).mean(axis=1) / game.payoffs.unit
    return means


class Values:
    """The values of the actions at decisions.

    Attributes:
        source: ``"exact"`` or ``"rollouts"``.
        about: how they were calculated, as a sentence.
    """

    def __init__(self, player: Policy, game: Game, rollouts: int) -> None:
        self._player, self._game, self._count = player, game, rollouts
        known = isinstance(player, Probable) and not hasattr(player, "act_on")
        tree = tree_of(player, game) if known else None
        self._exact = None
        self.source = "rollouts"
        self.about = f"Values are means over {self._count} rollouts from the true state."
        if tree is not None and isinstance(player, Probable):
            strategy = tree.strategy_of(player)
            self._exact = ExactValues(tree, strategy)
            self.source = "exact"
            far = nash_conv(tree, strategy) / game.payoffs.unit
            self.about = f"Values are exact; NashConv of the policy is {far:.2g}, and 0 is an equilibrium."

    def at(self, decision: Any, seed: int) -> Any:
        """Return the values of the legal actions; None where only mistakes of others lead."""
        if self._exact is not None:
            return self._exact.at(decision)
        return rolled_out(self._player, self._game, decision, self._count, seed)


def lines_of(
    game: Game, player: Policy, values: Values, prompting: Prompting, *, explore: float, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield a line for each decision whose values are known, without end; `explore` is the share of random ones."""
    way = PartlyRandom(player, explore, seed)
    random = np.random.default_rng(seed)
    for decision in decisions_of(player, way, game, seed):
        worth = values.at(decision, int(random.integers(2**32)))
        if worth is None:
            continue
        legal = np.flatnonzero(decision.mask)
        chances = probabilities(player, game, decision)[legal]
        chances = chances / chances.sum()
        actions = [game.view.encode(decision.table, index).action for index in legal.tolist()]
        if (skin := prompting.disguise) is not None:
            actions = [skin.disguised(action) for action in actions]
        texts = [msgspec.json.encode(action).decode() for action in actions]
        state = prompting.shown(game.turn_state(decision.table, decision.seat))
        answer = {"role": "assistant", "content": texts[int(random.choice(len(texts), p=chances))]}
        yield {
            "game": game.id,
            "episode": decision.episode,
            "agent": game.agents[decision.seat],
            "messages": [*prompting.chat(state), answer],
            "answers": texts,
            "values": [round(float(value), 6) for value in worth],
            "probabilities": [round(float(chance), 6) for chance in chances],
            "source": values.source,
        }


def card_of(game: Game, file: str, digest: str, about: str) -> dict[str, Any]:
    """Return the Croissant card (https://docs.mlcommons.org/croissant/docs/croissant-spec.html) of a file."""
    text = CARD.read_text("utf-8").replace("GAME", game.name)
    for name, value in (("FILE", file), ("DIGEST", digest), ("ABOUT", about)):
        text = text.replace(f'"{name}"', json.dumps(value))
    card: dict[str, Any] = json.loads(text)
    return card
