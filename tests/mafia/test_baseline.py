"""Random play against the mafia's share as it is known in closed form for a uniformly drawn lynching.

That share is computed here (`share`) by going through all states: night first, the mafia kills one of the others, a
doctor saves anybody, one of the living is lynched, all drawn uniformly. Known are 0.888 for 3 mafia among 10, 0.711 for
2 among 10, 0.870 for 2 among 7.

Random play by the rules differs from it for two reasons, one after the other in `test_what_the_rules_change`: votes are
independent, so that small groups often agree on nobody; and the mafia never vote for each other.
"""

from functools import cache

import numpy as np
import pytest
from parlour import envs
from parlour.envs import VectorGame
from parlour.envs.core import chance
from parlour.envs.mafia.bots import BOTS
from parlour.envs.mafia.rules import Choice
from parlour.envs.mafia.table import MAFIA, MAFIA_WINS, TARGET, VOTE, VOTING
from parlour.training.evaluation.team_matches import play_teams

KNOWN = {(10, 3): 0.888, (10, 2): 0.711, (7, 2): 0.870}


def share(players, mafia, doctors=1, days=None):
    """The mafia's share of wins with a uniformly drawn lynching; an end by a limit of days is no win."""

    def over(m, t, d):
        return 0.0 if m == 0 else 1.0 if m >= t + d else None

    @cache
    def night(m, t, d, left):
        if left == 0:
            return 0.0
        saved = d / (m + t + d) * day(m, t, d, left)
        killed = 1 - d / (m + t + d)
        for n, after in ((t, (m, t - 1, d)), (d, (m, t, 0))):
            if n:
                saved += killed * n / (t + d) * (over(*after) if over(*after) is not None else day(*after, left))
        return saved

    @cache
    def day(m, t, d, left):
        total = 0.0
        for n, after in ((m, (m - 1, t, d)), (t, (m, t - 1, d)), (d, (m, t, 0))):
            if n:
                total += n / (m + t + d) * (over(*after) if over(*after) is not None else night(*after, left - 1))
        return total

    return night(mafia, players - mafia - doctors, doctors, players if days is None else days)


@pytest.mark.parametrize(("players", "mafia"), KNOWN)
def test_the_known_shares_are_those_of_all_states_gone_through(players, mafia):
    assert share(players, mafia) == pytest.approx(KNOWN[players, mafia], abs=2e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("players", "mafia", "doctors", "days"), [(5, 1, 0, None), (5, 2, 0, None), (6, 2, 0, 2), (5, 1, 1, 1)]
)
def test_the_tree_of_the_rules_is_worth_the_same_share(players, mafia, doctors, days):
    """With a drawn lynching. (A doctor may not protect the same twice running: so one day only where there is one.)"""
    game = envs.game(
        "mafia", seats=players, mafia=mafia, doctors=doctors, sheriffs=0, talk=False, max_days=days or players
    )
    assert tree_share(game) == pytest.approx(share(players, mafia, doctors, days), abs=1e-12)


def tree_share(game):
    """The mafia's share by the whole tree: random nights that spare the own team, one voted out by all."""

    def after(table, target):
        move = Choice(VOTE if table.phase == VOTING else TARGET, target)
        return sum(p * value(child) for p, child in chance.after(game, table, game.view.nearest(table, move)))

    def value(table):
        if table.done:
            return float(table.winner == MAFIA_WINS)
        turn = int(table.turn)
        targets = [seat for seat in range(game.seats) if table.alive[seat]]
        if table.phase == VOTING:
            return sum(vote(table.copy(), target, targets) for target in targets) / len(targets)
        if table.role[turn] == MAFIA:
            targets = [seat for seat in targets if table.role[seat] != MAFIA]
        return sum(after(table, target) for target in targets) / len(targets)

    def vote(table, lynched, living):
        for voter in living[:-1]:
            target = lynched if voter != lynched else next(other for other in living if other != voter)
            ((_, table),) = chance.after(game, table, game.view.nearest(table, Choice(VOTE, target)))
        last = living[-1]
        return after(table, lynched if last != lynched else living[0])

    return sum(probability * value(table) for probability, table in chance.starts(game))


def played(players, mafia, lynching, matches):
    """The mafia's share when nights are random and sparing, and votes are of this kind:

    ``"drawn"``: all for one of the living, drawn uniformly; ``"independent"``: everybody for any other.
    """
    tables = VectorGame(envs.game("mafia", seats=players, mafia=mafia, talk=False), 500)
    tables.reset(seed=7)
    bot, generator = BOTS["loyal"](tables.game, 1), np.random.default_rng(1)
    row = np.arange(tables.num_envs)
    won = ended = 0
    lynched, drawn_in = np.zeros(500, np.int64), np.full(500, -1)
    while ended < matches:
        records, turn = tables.tables, tables.turn
        actions = bot.act(tables.observations, tables.action_masks)
        voting = records.phase == VOTING
        alive = records.alive[:, :players] > 0
        anybody = np.where(alive, generator.random(alive.shape), -1)
        anybody[row, turn] = -1
        other = anybody.argmax(axis=1)  # of the living others
        if lynching == "drawn":
            anybody[row, turn] = generator.random(500)  # of the living
            fresh = voting & (drawn_in != records.votings)
            lynched[fresh] = anybody.argmax(axis=1)[fresh]
            drawn_in[fresh] = records.votings[fresh]
            other = np.where(lynched == turn, other, lynched)
        actions = np.where(voting, players + (other - turn) % players, actions)
        villain = (records.role[:, :players] == MAFIA).argmax(axis=1)
        tables.step(actions)
        drawn_in[tables.dones] = -1
        won += int((tables.rewards[row, villain] > 0).sum())
        ended += int(tables.dones.sum())
    return won / ended


@pytest.mark.parametrize(("players", "mafia"), KNOWN)
def test_with_a_drawn_lynching_random_play_wins_the_known_share(players, mafia):
    assert played(players, mafia, "drawn", 2_000) == pytest.approx(KNOWN[players, mafia], abs=0.03)


@pytest.mark.slow
def test_what_the_rules_change():
    for (players, mafia), known in KNOWN.items():
        game = envs.game("mafia", seats=players, mafia=mafia, talk=False)
        drawn, independent = (played(players, mafia, kind, 20_000) for kind in ("drawn", "independent"))
        pair = {"mafia": BOTS["loyal"](game, 1), "town": BOTS["loyal"](game, 2)}
        loyal = play_teams(game, pair, matches=20_000).wins["mafia"].share
        print(f"{players} players, {mafia} mafia: known {known}, drawn {drawn:.3f}, {independent:.3f}, {loyal:.3f}")
        assert drawn == pytest.approx(known, abs=0.01)
        assert drawn < independent < loyal
