"""Our agents on the platform's own terms: a double of its host calls them, with its quirks (see `mafia_platform`)."""

import asyncio

import aiohttp
import pytest
from live.mafia_platform import Platform
from logs import Even
from mafia_players import FIVE, TEN, warnings
from parlour.envs.mafia.bots import PERSONALITIES
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaPolicyAgent, MafiaScriptedAgent


def scripted(id, name):
    personality = PERSONALITIES[int(id.rpartition("_")[2]) % len(PERSONALITIES)]
    config = wire.AgentConfig(type="scripted", scripted_config=wire.ScriptedConfig(personality=personality))
    return MafiaScriptedAgent(id, name, config, seed=1)


def trained(seats):
    game = FIVE if seats == 5 else TEN
    return lambda id, name: MafiaPolicyAgent(id, name, game, Even(), seed=1)


def play(make, seats, seeds, ours=None):
    async def main():
        matches = []
        async with MafiaAgentServer(make, seed=0) as service, aiohttp.ClientSession() as http:
            for seed in seeds:
                async with http.ws_connect(service.url) as socket:
                    match = Platform(socket, seats, seed, ours)
                    await match.play()
                    matches.append(match)
            return matches, service.replaced

    return asyncio.run(asyncio.wait_for(main(), 300))


@pytest.mark.parametrize("seats", [5, 10])
@pytest.mark.parametrize("kind", ["scripted", "trained"])
def test_no_answer_of_ours_is_illegal_or_replaced(kind, seats, caplog):
    make = scripted if kind == "scripted" else trained(seats)
    matches, replaced = play(make, seats, range(4))
    assert not [problem for match in matches for problem in match.problems]
    assert replaced == 0 and not warnings(caplog)
    assert all(match.winner for match in matches)
    assert all(set(match.asked) == {"think", "say", "nightAction", "vote"} for match in matches)


def test_beside_players_who_vote_for_themselves():
    matches, replaced = play(scripted, 10, range(4), ours=range(4))
    assert not [problem for match in matches for problem in match.problems] and replaced == 0
    cast = [pair for match in matches for voting in match.history for pair in voting["votes"].items()]
    assert any(voter == target for voter, target in cast)  # and our agents have seen it


def test_roles_of_the_later_versions_are_read_as_the_documents():
    roles = ["MAFIA", "Doctor", "sheriff", "VILLAGER", "VIGILANTE", "jester", None]
    read = [wire.read({"id": "p", "name": "P", "role": role}, wire.Player).role for role in roles]
    assert read == ["mafia", "doctor", "sheriff", "villager", "villager", "unknown", "unknown"]
