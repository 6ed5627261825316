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
from parlour.envs.mafia.bots import BOTS
from parlour.envs.mafia.table import MAFIA, VOTING
from parlour.training.evaluation.teams import play_teams

KNOWN = {(10, 3): 0.888, (10, 2): 0.711, (7, 2): 0.870}


def share(players, mafia):
    """The mafia's share of wins with a uniformly drawn lynching."""

    def over(m, t, d):
        return 0.0 if m == 0 else 1.0 if m >= t + d else None

    @cache
    def night(m, t, d):
        saved = d / (m + t + d) * day(m, t, d)
        killed = 1 - d / (m + t + d)
        for n, after in ((t, (m, t - 1, d)), (d, (m, t, 0))):
            if n:
                saved += killed * n / (t + d) * (over(*after) if over(*after) is not None else day(*after))
        return saved

    @cache
    def day(m, t, d):
        total = 0.0
        for n, after in ((m, (m - 1, t, d)), (t, (m, t - 1, d)), (d, (m, t, 0))):
            if n:
                total += n / (m + t + d) * (over(*after) if over(*after) is not None else night(*after))
        return total

    return night(mafia, players - mafia - 1, 1)


@pytest.mark.parametrize(("players", "mafia"), KNOWN)
def test_the_known_shares_are_those_of_all_states_gone_through(players, mafia):
    assert share(players, mafia) == pytest.approx(KNOWN[players, mafia], abs=2e-3)


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
