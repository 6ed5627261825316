"""What is special to a game has a place of its own in every layer."""

from dataclasses import replace

import nim
import numpy as np
import pytest
import three_cards
from command_line import printed
from parlour import envs
from parlour.envs import Capabilities, Payoffs, Teams
from parlour.training.commands.lookup import SEARCHES, require_opponents
from parlour.training.evaluation.cross_play import play_teams
from parlour.training.evaluation.games import Measures, best_response, compare, games_with, measures
from parlour.wrappers.policies.loading import make_policy
from policies import Always


def test_a_game_without_anything_special_has_no_file():
    assert measures("three_cards") == Measures()
    assert measures("no such game") == Measures()
    game = envs.game("three_cards")
    assert compare(make_policy("random", game), game) is None


def test_what_there_is():
    phases = [name.removesuffix("-v0") for name, source in envs.GAMES.items() if str(source).startswith("economics.")]
    assert {part: games_with(part) for part in ("compare", "best_responses", "held_out")} == {
        "compare": sorted(["auction", "bargaining", "holdem", "multi_issue_bargaining", *phases]),
        "best_responses": ["auction", "holdem"],
        "held_out": ["tangram"],
    }
    assert set(SEARCHES) == {"holdem", "tangram"}
    capable = {name: envs.game(name).capabilities for name in ("auction", "bargaining", "holdem", "mafia", "tangram")}
    assert [name for name in capable if capable[name].variance_reduction] == ["holdem"]
    assert [name for name in capable if capable[name].shown_options] == ["auction", "bargaining", "holdem"]
    assert [name for name in capable if capable[name].teams and capable[name].teams.habits] == ["mafia"]


def test_play_before_the_flop_is_told_by_position():
    assert compare(make_policy("call", envs.game("holdem", seats=5)), envs.game("holdem", seats=5)) is None
    table = envs.game("holdem", seats=6)
    compared = {line.name: line for line in compare(make_policy("call", table), table, matches=50).lines}
    first = compared["calls, under the gun"], compared["raises, under the gun"], compared["flop"]
    assert [(line.learned, line.theory) for line in first] == [(100.0, None), (0.0, 17.5), (6.0, None)]
    assert compared["raises, button"].learned is None  # nobody folds before it


def test_a_missing_method_names_the_games_that_have_it():
    game = envs.game("bargaining")
    with pytest.raises(ValueError, match=r"no best response for bargaining-v0; there is one for auction, holdem"):
        best_response(make_policy("fair", game), game)


# Teams, in any game that has them.


def partners(**options):
    """Kuhn poker in which each seat is a team of its own, and nothing else is known of teams."""
    seats = np.array([[1, 0]], np.int8)
    teams = Teams(("left", "right"), lambda tables: np.repeat(seats, len(tables), axis=0))
    return replace(three_cards.game(**options), capabilities=Capabilities(teams=teams))


PASSES, BETS = Always(0), Always(1)


def test_any_game_with_teams_has_its_winners_counted():
    game, tell = partners(), []
    result = play_teams(game, {"left": BETS, "right": PASSES}, matches=50, seed=1, progress=tell.append)
    assert (result.wins["left"].mean, result.wins["right"].mean) == (1, 0)  # who passes folds to every bet
    assert (result.facts, result.habits, sum(tell)) == ({}, {}, 50)
    again = play_teams(game, {"left": PASSES, "right": BETS}, matches=50, seed=1)
    assert again.wins["right"].mean == 1


def test_every_team_needs_a_policy():
    with pytest.raises(ValueError, match="no policy plays right; the teams of three_cards are left, right"):
        play_teams(partners(), {"left": BETS})
    with pytest.raises(ValueError, match="three_cards-v0 has no teams"):
        play_teams(envs.game("three_cards"), {"left": BETS})


def test_the_command_knows_any_game_with_teams(capsys, monkeypatch):
    monkeypatch.setitem(envs.GAMES, "three_cards-v0", partners)
    out = printed(capsys, "evaluate teams three_cards left=random --deals 20")
    assert "left wins" in out and "right wins" in out


def test_where_all_share_one_reward_nobody_wins_from_another():
    game = replace(nim.game(), payoffs=Payoffs(0, 1, shared=True))  # and it has no sets that are held out
    with pytest.raises(ValueError, match=r"in nim all seats share one reward.*: `parlour evaluate crossplay` measures"):
        require_opponents(game)
    with pytest.raises(ValueError, match=r"in tangram all seats share .*: `parlour evaluate held-out` measures"):
        require_opponents(envs.game("tangram"))


@pytest.mark.parametrize("name", ["nim", "holdem", "trust", "mafia"])
def test_all_other_games_have_opponents(name):
    require_opponents(nim.game() if name == "nim" else envs.game(name))
