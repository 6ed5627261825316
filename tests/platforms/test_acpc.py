"""Our agents at the dealer of the Annual Computer Poker Competition, and its example player at our host.

`make platforms` runs it with a checkout of the server's code, which has the dealer, the player and the game.
"""

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from acpc import AgentSession, HostSession, host_acpc, match_game, play_acpc
from parlour.training.commands.lookup import agent as named_agent
from parlour.wrappers.live.common.player import AgentStatistics

SERVER = os.environ.get("PARLOUR_ACPC_SERVER", "")
RULES = "holdem.nolimit.2p.reverse_blinds.game"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not SERVER, reason="needs a checkout: see `make platforms`")]
HANDS = 200


def program(name, *args, **options):
    return subprocess.Popen([Path(SERVER) / name, *map(str, args)], cwd=options.pop("cwd", SERVER), **options)


def example_player(port):
    return program("example_player", RULES, "127.0.0.1", port)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("spec", ["zoo:holdem", "tight", "random", "maniac"])
def test_an_agent_plays_at_its_dealer_against_its_player(spec, place, tmp_path):
    game, said = match_game(), tmp_path / "said"
    with said.open("w") as stderr:
        dealer = program(
            *("dealer", "match", Path(SERVER) / RULES, HANDS, 7, "one", "two"),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        )
    ports = [int(port) for port in dealer.stdout.readline().split()]
    player, session, statistics = example_player(ports[1 - place]), AgentSession(game), AgentStatistics()
    play = play_acpc("127.0.0.1", ports[place], named_agent(spec, game, 1), session, statistics=statistics)
    asyncio.run(asyncio.wait_for(play, 240))
    score = dealer.stdout.read().split(":")[1].split("|")
    assert (dealer.wait(20), player.wait(20)) == (0, 0)
    assert [line for line in said.read_text().splitlines() if line.startswith(("WARNING", "ERROR"))] == []
    assert (session.hands, statistics.replaced) == (HANDS, 0)
    assert session.chips == float(score[place]) == -float(score[1 - place])


@pytest.mark.parametrize("spec", ["zoo:holdem", "random", None])
def test_its_player_plays_at_our_host(spec):
    """Against an agent of ours, or against itself."""
    game, players = match_game(), []
    host, session = HostSession(game, seed=1), AgentSession(game)

    async def match():
        port = asyncio.get_running_loop().create_future()
        dealing = asyncio.create_task(host_acpc(host, hands=HANDS, ready=port.set_result))
        players.append(example_player(await port))
        if spec is None:
            players.append(example_player(await port))
        else:
            await play_acpc("127.0.0.1", await port, named_agent(spec, game, 1), session)
        await dealing

    asyncio.run(asyncio.wait_for(match(), 240))
    assert [player.wait(20) for player in players] == [0] * len(players)
    assert (host.hands, host.refused, host.replaced) == (HANDS, 0, 0)
    assert host.totals.any() and (spec is None or session.chips in host.totals)
