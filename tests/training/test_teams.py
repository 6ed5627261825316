"""What each team of mafia wins, and how it plays."""

import io

import numpy as np
import pytest
from command_line import facts, printed
from matches import match, night, talk, vote
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.mafia.bots import BOTS
from parlour.envs.mafia.habits import HABITS, habits
from parlour.training import cli
from parlour.training.commands.measures import TeamsRow, tables
from parlour.training.evaluation.cross_play import WON, TeamResult, finished, play_teams
from parlour.training.evaluation.duplicate import Score
from parlour.training.terminal.console import Console


def test_the_interval_is_wilsons():
    share = Score.share(10, 100, WON)
    assert (share.low, share.high) == (pytest.approx(0.0552, abs=1e-4), pytest.approx(0.1744, abs=1e-4))
    assert Score.share(0, 50, WON).low == pytest.approx(0, abs=1e-9)


def test_matches_are_played_to_their_end_and_counted_once():
    game = envs.game("mafia", seats=7)

    def pair():
        return {"mafia": BOTS["loyal"](game, 1), "town": BOTS["loyal"](game, 2)}

    tables, total = finished(game, pair(), streams(5, 300))
    assert tables.done.all()
    assert (np.abs(total) == 1).all()
    found = play_teams(game, pair(), matches=300, seed=5)
    assert found.wins["mafia"].mean == (tables.winner == 2).mean()
    assert found.wins["town"].mean == (tables.winner == 1).mean()
    assert found.facts["days"] == pytest.approx(tables.round_number.mean())


def test_each_team_is_played_by_its_policy():
    game = envs.game("mafia", seats=7)
    seen = {"mafia": 0, "town": 0}
    start = game.layout["game_state.players.role"].start

    class Witness:
        def __init__(self, side):
            self.side, self.bot = side, BOTS["random"](game, 1)

        def act(self, observations, masks):
            seen[self.side] += len(masks)
            assert ((observations[:, start] > 0) == (self.side == "mafia")).all()
            return self.bot.act(observations, masks)

    finished(game, {name: Witness(name) for name in ("town", "mafia")}, streams(1, 20))
    assert min(seen.values()) > 0


def test_habits_by_hand():
    env = match("m m d s v v v", max_days=2)
    night(env, "p5", "p5", "p5", "p1")
    talk(
        env, "p3 is mafia.", "I am the sheriff, and p1 is not mafia.", "I am the doctor.", "I accuse p5.", "I trust p1."
    )
    vote(env, "p3", "p3", "p1", "p1", None, None, None)  # a tie: p1 or p3 goes
    gone = int(np.flatnonzero(env.table.voted_out)[0])
    tables = np.repeat(env.match.tables, 1).view(np.recarray)
    mafia, town = habits(tables, "mafia"), habits(tables, "town")
    assert mafia == {
        "accusations": 0.5, "defenses": 0, "claims": 0.5, "untrue": 1, "abstentions": 0, "changes": 0
    }  # fmt: skip
    assert town["accusations"] == pytest.approx(1 / 5)
    assert town["untrue"] == pytest.approx(2 / 5)  # p5 is no mafia, and p1 is
    assert town["abstentions"] == pytest.approx(3 / 5)
    night(env, *(["p6"] if gone == 0 else ["p6", "p6"]), *(["p6"] if gone == 0 else []), "p7")
    talk(env)
    vote(env, *[f"p{7 if seat != 6 else 5}" for seat in range(7) if env.table.alive[seat]])
    tables = np.repeat(env.match.tables, 1).view(np.recarray)
    changes = habits(tables, "mafia")["changes"]
    assert changes == (1.0 if gone == 0 else 0.0)  # who was voted out cannot be voted for again


def test_the_tables_are_legible_on_80_columns():
    name, habit = "runs/mafia-selfplay-17", dict.fromkeys(HABITS, 1.0)
    wins = {"town": Score.share(593, 1000, WON), "mafia": Score.share(407, 1000, WON)}
    found = TeamResult(wins, {"days": 3.4}, {"mafia": habit, "town": habit})
    console = Console(width=80, file=io.StringIO())
    pairs = ("mixed", "analytical"), ("mixed", name), (name, "analytical")
    console.print(*tables([TeamsRow(10, {"town": town, "mafia": mafia}, found) for town, mafia in pairs]))
    text = console.file.getvalue()
    assert "…" not in text
    assert all(word in text for word in ("mafia wins", "in its place", "[0.562, 0.623]", *HABITS))
    assert max(map(len, text.splitlines())) <= 80


def test_the_command_prints_every_combination(capsys):
    args = ["teams", "mafia", "mafia=loyal", "mafia=random", "--seats", "5", "7", "--deals", "40"]
    found = facts(capsys, "evaluate", *args)
    assert [(one["seats"], one["policies"]) for one in found] == [
        (seats, {"town": "mixed", "mafia": mafia}) for seats in (5, 7) for mafia in ("loyal", "random")
    ]
    assert all(one["wins"]["mafia"]["games"] == 40 for one in found)
    assert "wins by team" in printed(capsys, "evaluate", *args)


def test_no_table_is_empty(capsys):
    out = printed(capsys, "evaluate teams mafia mafia=mixed town=mixed --seats 5 --deals 20")
    assert "how they play" in out
    assert "compared with the first policy" not in out


def test_a_mistake_at_a_later_number_of_seats_is_an_error_before_any_play(monkeypatch, capsys):
    monkeypatch.setattr(
        "parlour.training.evaluation.cross_play.play_teams", lambda *_args, **_options: pytest.fail("played")
    )
    args = ["evaluate", "teams", "mafia", "town=mixed+loyal:5", "--seats", "10", "5"]
    assert cli.main(args) == cli.MISTAKE
    assert "at 5 seats town has" in capsys.readouterr().err
