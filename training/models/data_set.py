"""A data set of decisions: conversations with the values of all legal actions.

Values are exact where the tree can be walked, else by rollouts.

The value of an action is the return from there on of the seat that takes it, on average, if all seats, its own
included, play by the policy afterwards.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...envs import Game, play_until_done, streams
from ...envs.core.record import Tables
from ...envs.core.rollout import Policy, act_of, encoder_of, played, tables_with_seed
from ...wrappers.agents.prompt import Prompting
from ..evaluation.exact import Floats, Probable, Tree, nash_conv, realised
from ..evaluation.exploit import tree_of
from ..learning.learner import OnRecords
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


def decisions_of(player: Policy, explorer: Policy, game: Game, seed: int) -> Iterator[Decision]:
    """Yield the decisions of one seat of every episode, without end; it is another seat in the next episode.

    What a seat sees of the others is as likely as in the player's play.

    Args:
        player: the policy in the other seats.
        explorer: the policy in this seat, with the player's encoder.
        game: the game.
        seed: of the episodes.
    """
    first, taken = 0, list[Decision]()

    def act_on(tables: Any, rows: NDArray[np.int64], observations: Any, masks: Any) -> NDArray[np.int64]:
        for row, seen, mask in zip(rows.tolist(), observations, masks, strict=True):
            table = tables[row]
            taken.append(Decision(first + row, int(table.turn), table.copy(), seen.copy(), mask.copy()))
        return np.asarray(act_of(explorer, tables, rows, observations, masks))

    def explored(tables: Tables) -> NDArray[np.int64]:
        seats = (first + np.arange(len(tables))) % game.seats
        return np.asarray(np.arange(game.seats) == seats[:, None], np.int64)

    while True:
        tables = tables_with_seed(game, EPISODES, streams(seed, first + EPISODES)[first:].tolist())
        play_until_done(game, [player, OnRecords(encoder_of(player, game), act_on)], tables, who=explored)
        yield from sorted(taken, key=lambda decision: decision.episode)
        taken.clear()
        first += EPISODES


def probabilities(policy: Policy, game: Game, decision: Decision) -> Floats:
    """Return the probability of each action index at a decision, float64[A]; 1 for one, if the policy does not tell."""
    likely = None if hasattr(policy, "act_on") else played(policy)
    seen, masks = decision.observation[None], decision.mask[None]
    if likely is not None:
        return np.asarray(likely(seen, masks)[0], np.float64)
    table = game.tables(1)
    table[0] = decision.table
    action = int(np.asarray(act_of(policy, table, np.zeros(1, np.int64), seen, masks)).reshape(-1)[0])
    return np.asarray(np.eye(len(decision.mask))[action])


def exact_values(tree: Tree, strategy: Floats) -> Callable[[Decision], Floats | None]:
    """Return a function to the exact values of the legal actions, in `Payoffs.unit`; None where nobody gets.

    Args:
        tree: the tree.
        strategy: float64[Q], how all seats play.
    """
    plan, worth = realised(strategy, tree.parent, tree.first), np.zeros(len(strategy))
    reached = np.zeros(len(strategy))
    for seat in range(tree.game.seats):
        others = np.delete(plan[tree.ends], seat, axis=1).prod(axis=1)
        np.add.at(worth, tree.ends[:, seat], others * tree.payoffs[:, seat])
        np.add.at(reached, tree.ends[:, seat], others * tree.chances)
    for number in range(len(tree.seat) - 1, -1, -1):  # a set stands after those that lead to it
        mine = slice(tree.first[number], tree.first[number + 1])
        worth[tree.parent[number]] += strategy[mine] @ worth[mine]
        reached[tree.parent[number]] += strategy[mine] @ reached[mine]

    def key(seat: int, observation: NDArray[np.float32]) -> tuple[int, bytes]:
        return int(seat), (np.asarray(observation, np.float32) + np.float32(0)).tobytes()

    sets = {key(*each): number for number, each in enumerate(zip(tree.seat, tree.observations, strict=True))}

    def at(decision: Decision) -> Floats | None:
        number = sets[key(decision.seat, decision.observation)]
        mine = slice(tree.first[number], tree.first[number + 1])
        known = reached[mine].min() >= LEAST
        return np.asarray(worth[mine] / reached[mine] / tree.game.payoffs.unit) if known else None

    return at


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
        at: ``at(decision, seed)`` returns those of the legal actions; None where only mistakes of others lead.
    """

    at: Callable[[Decision, int], Floats | None]

    def __init__(self, player: Policy, game: Game, rollouts: int) -> None:
        self.source, self.about = "rollouts", f"Values are means over {rollouts} rollouts from the true state."
        self.at = lambda decision, seed: rolled_out(player, game, decision, rollouts, seed)
        tree = None if hasattr(player, "act_on") else tree_of(player, game)
        if tree is not None and isinstance(player, Probable):
            strategy = tree.strategy_of(player)
            exact, far = exact_values(tree, strategy), nash_conv(tree, strategy) / game.payoffs.unit
            self.source, self.at = "exact", lambda decision, seed: exact(decision)
            self.about = f"Values are exact; NashConv of the policy is {far:.2g}, and 0 is an equilibrium."


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
        texts = prompting.written(game.view.encode(decision.table, index).action for index in legal.tolist())
        state = prompting.prepared(game.turn_state(decision.table, decision.seat))
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
