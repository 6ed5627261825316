"""The scripted players: what they do in named situations, and that they differ."""

import numpy as np
import pytest
from matches import match, night, talk, vote
from parlour import envs
from parlour.envs.core.rng import streams
from parlour.envs.mafia.bots import BOTS, PERSONALITIES, Loyal, Scripted
from parlour.envs.mafia.habits import habits
from parlour.training.evaluation import cross_play


def chosen(env, bot):
    """What a bot does in the acting seat, 40 times, as payloads."""
    seat = int(env.table.turn)
    seen = np.tile(env.game.observation(env.table, seat), (40, 1))
    masks = np.tile(env.game.mask(env.table, seat), (40, 1))
    numbers = bot(env.game, 0).act(seen, masks)
    assert masks[np.arange(40), numbers].all()
    return [env.game.view.encode(env.table, number).action.payload for number in numbers]


def finished(game, mafia, town, seeds):
    """Matches as they ended, one policy in each team."""
    return cross_play.finished(game, {"mafia": mafia, "town": town}, seeds)[0]


def play_teams(game, mafia, town, **settings):
    return cross_play.play_teams(game, {"mafia": mafia, "town": town}, **settings)


def targets(env, bot):
    return {payload["targetId"] for payload in chosen(env, bot)}


def test_the_loyal_spare_their_teammates_and_always_vote():
    tables = finished(game := envs.game("mafia"), Loyal(game, 1), Loyal(game, 2), streams(2, 200))
    assert habits(tables, "mafia")["abstentions"] == habits(tables, "town")["abstentions"] == 0
    mafia = tables.role[:, :10] == 1
    for field in ("night", "votes"):
        log = getattr(tables, field)[:, :10].astype(int)  # of the first round
        hit = np.take_along_axis(mafia, np.maximum(log, 0), 1) & (log >= 0)
        assert not (hit & mafia).any()
        assert (hit & ~mafia).any() or field == "night"


@pytest.mark.parametrize("personality", PERSONALITIES)
def test_the_mafia_kill_who_claims_to_be_sheriff_and_the_doctor_protects_them(personality):
    env = match("m m d s v v v v")
    night(env, "p5", "p5", "p5", "p6")
    talk(env, *["I have nothing to report."] * 3, "I am the sheriff, and p6 is not mafia.")
    vote(env, *[None] * 8)
    assert targets(env, BOTS[personality]) == {"p4"}
    night(env, "p6")
    assert targets(env, BOTS[personality]) <= {"p4", "p6"}  # or with its teammate
    night(env, "p6")
    assert targets(env, BOTS[personality]) == {"p4"}


@pytest.mark.parametrize("lie_frequency", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("personality", [*PERSONALITIES, "mixed"])
def test_the_mafia_lie_with_the_given_frequency(personality, lie_frequency):
    game = envs.game("mafia")
    mafia = Scripted(game, 1, personality, lie_frequency)
    tables = finished(game, mafia, BOTS["mixed"](game, 2), streams(3, 300))
    assert habits(tables, "mafia")["untrue"] == pytest.approx(lie_frequency, abs=0.05)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"personality": "agressive"}, "did you mean 'aggressive'"),
        ({"lie_frequency": 1.1}, "lie_frequency=1.1: need a number from 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_refused(settings, words):
    with pytest.raises(ValueError, match=words):
        Scripted(envs.game("mafia"), 0, **settings)


def test_they_beat_random_play_on_both_sides():
    game = envs.game("mafia")
    mixed, loyal = BOTS["mixed"](game, 1), BOTS["loyal"](game, 2)
    against_mixed, against_loyal = (play_teams(game, loyal, town, matches=400) for town in (mixed, loyal))
    assert against_mixed.wins["mafia"].high < against_loyal.wins["mafia"].low
    assert play_teams(game, mixed, loyal, matches=400).wins["mafia"].mean > 0.95
