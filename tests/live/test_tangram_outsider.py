"""The tangram agent beside a game and a person that know nothing of our host: the figures that documents name."""

import numpy as np
import pytest
from live.settled import act, settled
from live.tangram_outsider import OBJECTIVES, Conditions, Game, centroid, play
from msgspec import Struct
from parlour import envs
from parlour.envs.tangram.bots import useful_moves
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.common.agent_turn import Turn
from parlour.wrappers.live.tangram import messages
from parlour.wrappers.live.tangram.agent import TangramAgentSession
from parlour.wrappers.policies.loading import make_policy

GAME = envs.game("tangram", aspect="godot")
CONDITIONS = {
    "exact": Conditions(),
    "noise": Conditions(noise=1.5),
    "whole pixels": Conditions(whole=True),
    "touching collides": Conditions(noise=1.5, touching=True),
    "centroid": Conditions(noise=1.5, centre=centroid),
    "origin": Conditions(noise=1.5, centre=lambda corners: (0, 0)),
    "other aspect": Conditions(noise=1.5, centre=centroid, board=(400.0, 400.0)),
    "other sense": Conditions(noise=1.5, centre=centroid, board=(400.0, 360.0), sense=-1, rest=90.0, down=True),
}


def built(condition, seeds):
    """Return the games that a person and `solver`, as `parlour deploy tangram` serves it, have played."""
    solver = PolicyAgent(GAME, make_policy("solver", GAME, seed=1))
    games = []
    for seed in seeds:
        for name in OBJECTIVES:
            session = TangramAgentSession(GAME, useful=useful_moves)

            def receive(text, session=session):
                events = settled(session, session.receive(text))
                sent = [event for event in events if isinstance(event, Struct)]
                for event in events:
                    if isinstance(event, Turn):
                        sent += act(session, solver.respond(event.state), event)
                return [messages.encode(message) for message in sent]

            games.append(play(Game(name, seed, CONDITIONS[condition]), receive))
    return games


@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_outsider_gets_the_figure_that_is_documented(condition):
    games = built(condition, range(1))
    assert all(len(game.places) == 7 for game in games)
    assert np.mean([game.overlap() for game in games]) >= (0.96 if CONDITIONS[condition].touching else 0.97)


@pytest.mark.nightly
@pytest.mark.parametrize("condition", CONDITIONS)
def test_an_outsider_gets_the_figures_that_are_documented_over_many_games(condition, capsys):
    games = built(condition, range(8))
    values = [game.overlap() for game in games]
    first = [game.when_complete or game.overlap() for game in games]
    with capsys.disabled():
        told = f"when complete {np.mean(first):.3f}, after ten turns {np.mean(values):.3f}, least {min(values):.3f}"
        print(f"\n{condition}: mean IoU {told}, {len(games)} games")
    assert np.mean(first) >= 0.95
    assert np.mean(values) >= (0.96 if CONDITIONS[condition].touching else 0.97)
