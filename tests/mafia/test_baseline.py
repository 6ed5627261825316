"""Random play against the mafia's share as it is known in closed form for a uniformly drawn lynching.

That share is computed here (`share`) by going through all states: night first, the mafia kills one of the others, a
doctor saves anybody, one of the living is lynched, all drawn uniformly.
"""

from functools import cache

import pytest
from parlour import envs
from parlour.envs.core import chance
from parlour.envs.mafia.rules import Choice
from parlour.envs.mafia.table import MAFIA, MAFIA_WINS, TARGET, VOTE, VOTING


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
