"""Games in phases: comparison of a policy with the bot `equilibrium` of its game.

All of these games are compared in the same way, because each of them has that bot.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....envs import Game, play_until_done
from ....envs.core.record import Tables
from ....envs.core.rollout import Decisions, Policy, tables_with_seed
from ....envs.phases.bots import PhaseBot
from . import Comparison, Fixed, Measures, Quantity, gini, mean, play

MIXED = ("war_of_attrition",)
"""Games whose equilibrium draws its choice: distributions are compared, not single choices."""
AUCTIONS = ("dutch_auction", "english_auction")
"""Games in which the seat that closes a round buys for its private value."""
ANSWERS = 26
"""The most fixed choices that are tried as answers to a policy."""
ANSWERED = 2_000
"""The most matches in which answers are tried."""
CLASSES = 10
"""The classes of private values, in each of which another answer may be best."""


def compare(policy: Policy, game: Game, *, matches: int, seed: int) -> Comparison | None:
    """Compare the choices and utilities of a policy with those of the equilibrium, on the same deals.

    Returns:
        The comparison; None if the game has no bot `equilibrium`.
    """
    if "equilibrium" not in game.bots:
        return None
    bot = game.bots["equilibrium"](game, seed=seed)
    visited = []  # by step: the phases, the choices of the policy, and those of the equilibrium in the same states

    def note(decisions: Decisions) -> None:
        wanted = bot.act(decisions.observations, decisions.masks)
        visited.append((bot.phases(decisions.observations), decisions.actions, wanted))

    tables = tables_with_seed(game, matches, seed)
    seated = np.ones((matches, 8), np.int64)  # the policy everywhere
    play_until_done(game, [bot, policy], tables, who=lambda tables: seated, on_decisions=note)
    theory = play(game.bots["equilibrium"](game, seed=seed), game, matches, seed)
    lines = [*_choices(game, bot, visited), *_utilities(game, tables, theory, seed), _gain(policy, game, matches, seed)]
    return Comparison(lines)


def _choices(game: Game, bot: PhaseBot, visited: list[tuple[Any, Any, Any]]) -> list[Quantity]:
    """Return the mean distance of the choices from the equilibrium, by phase. To wait is no choice."""
    lines, table = [], game.rules.blank[0]
    phases, actions, best = (np.concatenate(part) for part in zip(*visited, strict=True))
    last = int(table.phases) - 1 if table.closes or table.leaves else int(table.phases)
    for phase in range(int(table.phases)):
        waiting = phase >= last or bool(table.pass_is_final)  # then to pass, the last action index, is a choice (0)
        rows = (phases == phase) & (waiting | (actions < len(bot.numbers) - 1))
        chosen, wanted = bot.numbers[actions[rows]], bot.numbers[best[rows]]
        named = game.tables(1)[0]
        named.phase = phase
        name = game.view.phase(named)
        if game.name in MIXED:
            chosen, wanted = np.sort(chosen), np.sort(wanted)
        what = "distance of the distributions" if game.name in MIXED else "distance from the equilibrium, mean"
        lines += [
            Quantity(f"choice_{name}", f"{name}: mean choice", mean(chosen), mean(wanted)),
            Quantity(f"error_{name}", f"{name}: {what}", mean(np.abs(chosen - wanted)), 0.0),
        ]
    return lines


def _utilities(game: Game, tables: Tables, theory: Tables, seed: int) -> list[Quantity]:
    """Return the seats' utilities, their sum beside that of the best bot, and their inequality."""
    seats = game.seats
    own, right = (np.array(one["total"][:, :seats]) for one in (tables, theory))
    lines = [
        Quantity(f"utility_{seat}", f"utility of seat {seat}", float(own[:, seat].mean()), float(right[:, seat].mean()))
        for seat in range(seats)
    ]
    welfare, equilibrium = float(own.sum(axis=1).mean()), float(right.sum(axis=1).mean())
    lines.append(Quantity("welfare", "sum of the utilities", welfare, equilibrium))
    if game.name in AUCTIONS:
        (revenue, share), (expected, best) = _sales(tables, seats), _sales(theory, seats)
        lines.append(Quantity("revenue", "revenue of the last round", revenue, expected))
        lines.append(Quantity("efficiency", "the buyers' valuations, beside the highest ones", share, best, "%"))
    else:
        bots = [play(make(game, seed=seed), game, len(tables), seed) for make in game.bots.values()]
        greatest = max(float(one["total"][:, :seats].sum(axis=1).mean()) for one in bots)
        if greatest > 0:
            share, best = 100 * welfare / greatest, 100 * equilibrium / greatest
            lines.append(Quantity("efficiency", "the same, beside the best bot's", share, best, "%"))
    mine, theirs = (None if (means := each.mean(axis=0)).min() < 0 else gini(means[None]) for each in (own, right))
    lines.append(Quantity("gini", "Gini coefficient of the mean utilities", mine, theirs, " "))
    return lines


def _sales(tables: Tables, seats: int) -> tuple[float, float]:
    """Return the mean revenue of the last round, and the buyers' valuations as a percentage of the highest ones."""
    values = np.array(tables["private"][:, :seats])
    buyers, rows = np.array(tables["closer"]), np.arange(len(tables))
    worth = np.where(buyers >= 0, values[rows, buyers], 0.0)
    gained = np.where(buyers >= 0, tables["rewards"][rows, buyers], 0.0)
    return float((worth - gained).mean()), 100 * float(worth.sum() / values.max(axis=1).sum())


def _gain(policy: Policy, game: Game, matches: int, seed: int) -> Quantity:
    """Return the mean gain of a seat by the best fixed choice for its private value, against the policy.

    It is a lower bound on the gain of a best response, because a best response also sees earlier choices. The choice is
    made on one half of the matches and counted on the other, and then the other way round: the best of many noisy means
    is too high.
    """
    count = min(matches, ANSWERED)
    usual = play(policy, game, count, seed)
    tried = np.unique(np.linspace(0, game.num_actions - 2, ANSWERS).astype(int))
    gains = []
    for seat in range(game.seats):
        private = usual["private"][:, seat]
        edges = np.unique(np.quantile(private, np.linspace(0, 1, CLASSES + 1)[1:-1]))
        parts = 2 * np.searchsorted(edges, private) + np.arange(count) % 2  # a half of a class of private values
        won = [usual["total"][:, seat]]

        def who(tables: Tables, seat: int = seat) -> NDArray[np.int64]:
            return np.tile((np.arange(game.seats) == seat).astype(np.int64), (len(tables), 1))

        for action in tried:
            tables = tables_with_seed(game, count, seed)
            play_until_done(game, [policy, Fixed(int(action))], tables, who=who)
            won.append(tables["total"][:, seat].copy())
        sums = np.array([np.bincount(parts, each, 2 * len(edges) + 2) for each in won])
        means = sums / np.maximum(np.bincount(parts, minlength=sums.shape[1]), 1)
        chosen = means.argmax(axis=0).reshape(-1, 2)[:, ::-1].ravel()  # by the other half of the class
        gains.append(float(sums[chosen, np.arange(len(chosen))].sum() - won[0].sum()) / count)
    return Quantity("gain", "gain by the best fixed choice, mean over seats", float(np.mean(gains)), 0.0)


MEASURES = Measures(compare=compare)
