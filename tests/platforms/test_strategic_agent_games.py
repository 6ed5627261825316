"""Our agents on the server of strategic-agent-games, from its own checkout: `make platforms` runs it.

Its answer to an action is always ``ok``. Whether the action was taken stands in the events of the session, and only
there is it counted. The table of all matches is printed at the end.
"""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from parlour import envs
from parlour.training.commands.lookup import agent as named_agent
from parlour.training.commands.lookup import reason_against
from parlour.wrappers.live.arena.agent import NO_ACTION, ArenaAgent, ArenaAgentServer, ArenaPollingAgent, PollingTimes
from parlour.zoo import names

CHECKOUT = os.environ.get("PARLOUR_STRATEGIC_AGENT_GAMES", "")
PYTHON = os.environ.get("PARLOUR_STRATEGIC_AGENT_GAMES_PYTHON", sys.executable)
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHECKOUT, reason="needs a checkout: see `make platforms`")]

OPTIONS = {"ultimatum": {"reservations": (30, 30)}}
PAIRS = [
    "cournot", "trust", "public_project", "voluntary_contribution", "provision_point", "war_of_attrition", "dictator",
    "sequential_investment", "ultimatum", "hold_up", "centipede", "insurance_moral_hazard", "bilateral_trade",
    "english_auction", "dutch_auction", "auction", "all-pay-auction", "bargaining", "principal_agent",
]  # fmt: skip
GROUPS = [
    "cournot", "public_project", "voluntary_contribution", "provision_point", "ultimatum", "english_auction",
    "dutch_auction", "auction", "all-pay-auction", "common_agency",
]  # fmt: skip
BEST = {"bargaining": "fair", "ultimatum": "equal", "werewolf": "mixed"}
"""Bots of the games that have no equilibrium with all options."""
NOT_TOLD = ("bilateral_trade", "principal_agent")
"""Games whose state does not tell what bounds a price, or the number of questions: one answer of a match is refused."""
SERVE = """
import runpy, sys, types
sys.modules["seed_matches"] = types.SimpleNamespace(seed=lambda path: None)  # it would play for minutes first
sys.argv.pop(0)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
MATCHES = 2
SUMMARY = re.compile(r"summary: (\d+) matches, (\d+) lost, .* (\d+) decisions?, (\d+) replaced, (\d+) refused")
TABLE = ["game                     seats agent                          actions refused unoffered  results"]


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False


@pytest.fixture
def arena(tmp_path):
    """Serve the platform; another test's server would have sessions whose players are gone. Yields its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [PYTHON, "-c", SERVE, str(Path(CHECKOUT) / "run_arena.py"), "--host", "127.0.0.1", "--port", str(port)]
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--no-browser", "--db", str(tmp_path / "arena.db")], cwd=tmp_path, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 120
            while not answers(port):
                assert server.poll() is None and time.monotonic() < deadline, (tmp_path / "server.log").read_text()
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(timeout=20)


@pytest.fixture(scope="module", autouse=True)
def table(request):
    yield
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        print("\n" + "\n".join(TABLE))


def read(url, body=None):
    request = url if body is None else Request(url, json.dumps(body).encode())
    with urlopen(request, timeout=10) as answer:
        return json.load(answer)


def events(arena):
    """Return the events of every session that has ended or runs, as the platform has logged them."""
    sessions = [one for one in read(f"{arena}/api/sessions")["sessions"] if one["status"] != "waiting"]
    return [read(f"{arena}/api/sessions/{one['session_id']}/events")["events"] for one in sessions]


def taken(logs):
    """Return by agent how many of its actions the platform has logged, which of them it refused, and how many that are
    none: it offered nothing, or losses alone."""
    actions, refused, without, offered = Counter(), {}, Counter(), {}
    for event in (event for log in logs for event in log):
        name, data = event["agent_id"], event["data"]
        if event["event_type"] == "turn_state":
            offered[name] = data["allowed_actions"]
        elif event["event_type"] == "action":
            actions[name] += 1
            if not data["ok"] and offered[name] and data["action_type"] != NO_ACTION.action_type:
                refused.setdefault(name, []).append((data["action_type"], data["payload"], data["error_detail"]))
            elif not data["ok"]:
                without[name] += 1
    return actions, refused, without


def results(logs):
    """Return how each match ended, and the utilities."""
    ends = [event["data"] for log in logs for event in log if event["event_type"] == "match_end"]
    return [(end["trigger"], [row["utility"] for row in end["outcome"]["payoffs"]]) for end in ends]


async def play(arena, game, specs):
    players = [
        ArenaPollingAgent(
            ArenaAgent(f"{spec.replace(':', ' ')} {place}", named_agent(spec, game, place + 1)),
            arena,
            seats=len(specs),
            times=PollingTimes(running=0.05, waiting=0.1),
        )
        for place, spec in enumerate(specs)
    ]

    async def one(player, wait):
        async with player:
            await asyncio.sleep(wait)  # so that the first one creates all sessions
            await player.play(1, MATCHES)

    async with asyncio.timeout(240), asyncio.TaskGroup() as group:
        for place, player in enumerate(players):
            group.create_task(one(player, min(place, 1)))
    return players


def game_of(name, seats):
    """Return the game of a match of this many agents."""
    options = {"seats": seats} if name in GROUPS else {}
    return envs.game(name, **OPTIONS.get(name, {}), **options)


def lineups(name, seats):
    """Return the agents of each match, the zoo's policy among them where it plays the game."""
    best = BEST.get(name, "equilibrium")
    game = game_of(name, seats)
    zoo = "zoo:" + game.name
    if game.name not in names() or reason_against(zoo, game) or game.options.get("rule") == "all-pay":
        zoo = "concede" if "concede" in game.bots else best
    others = [bot for bot in game.bots if bot not in (best, "random", "perfect")]
    pairs = [(best, best), (zoo, "random"), ("random", zoo), *((bot, zoo) for bot in others)]
    return [(first, second, *([best] * (seats - 2))) for first, second in pairs]


CASES = []
if CHECKOUT:  # they play some turns to be found
    CASES += [(name, 2, specs) for name in PAIRS for specs in lineups(name, 2)]
    CASES += [(name, 3, specs) for name in GROUPS for specs in lineups(name, 3)[:3]]
    CASES += [("werewolf", 6, specs) for specs in lineups("werewolf", 6)[:3]]


@pytest.mark.parametrize(
    "name, seats, specs", CASES, ids=lambda value: "+".join(value) if type(value) is tuple else None
)
def test_the_platform_takes_every_action_by_its_log(arena, name, seats, specs):
    game = game_of(name, seats)
    players = asyncio.run(play(arena, game, specs))
    logs = events(arena)
    actions, refused, without = taken(logs)
    for player in players:
        own = player.agent.agent_id
        told = "; ".join(f"{reason} {utilities}" for reason, utilities in results(logs)) if player is players[0] else ""
        counts = f"{actions[own]:7} {len(refused.get(own, ())):7} {without[own]:9}"
        TABLE.append(f"{name:24} {seats:5} {own:30} {counts}  {told}")
    for player in players:
        statistics = player.agent.statistics
        own = player.agent.agent_id
        assert statistics.rejected == len(refused.get(own, ())) + without[own], refused
        assert (player.matches, player.lost, statistics.replaced) == (MATCHES, 0, 0)
    if name not in NOT_TOLD:
        assert refused == {}
    assert all(len(texts) <= MATCHES for texts in refused.values())


async def called(arena, game, specs, **more):
    """Let the platform call agents over HTTP for some matches; return the agents and what the platform logged."""
    names = [f"{spec} called {place} {more.get('game_params', '')}" for place, spec in enumerate(specs)]
    agents = [ArenaAgent(name, named_agent(specs[place], game, place + 1)) for place, name in enumerate(names)]
    async with asyncio.timeout(240), AsyncExitStack() as stack:
        for agent in agents:
            server = await stack.enter_async_context(ArenaAgentServer(agent))
            await server.register(arena)
        hosted = {row["game_id"] for row in read(f"{arena}/api/games")["games"]}
        body = {"agent_ids": [agent.agent_id for agent in agents], "num_matches": MATCHES, **more}
        body["game_id"] = next(name for name in agents[0].supported_games if name in hosted)
        session = (await asyncio.to_thread(read, f"{arena}/api/match", body))["session_id"]
        while (status := await asyncio.to_thread(read, f"{arena}/api/match/{session}"))["status"] == "running":
            await asyncio.sleep(0.1)
    assert status["status"] == "finished", status
    return agents, [status["events"]]


@pytest.mark.parametrize("name", PAIRS)
def test_the_platform_takes_every_action_of_agents_that_it_calls(arena, name):
    game = game_of(name, 2)
    agents, logs = asyncio.run(called(arena, game, lineups(name, 2)[0]))
    actions, refused, without = taken(logs)
    for agent in agents:
        counts = f"{actions[agent.agent_id]:7} {len(refused.get(agent.agent_id, ())):7} {without[agent.agent_id]:9}"
        TABLE.append(f"{name:24} {2:5} {agent.agent_id:30} {counts}")
        assert agent.statistics.replaced == 0
    assert actions and refused == {}


AMOUNTS = {
    "ultimatum": {"total": 1, "rv1": 0.2, "rv2": 0.3},
    "bilateral_trade": {"buyer_rv": 0.8, "seller_rv": 0.4},
    "auction": {"rv1": 0.3, "rv2": 0.9},
    "provision_point": {"threshold": 1, "rv1": 0.7, "rv2": 0.7},
    "dictator": {"pie": 1},
    "public_project": {"project_cost": 1},
    "trust": {"endowment": 1},
    "voluntary_contribution": {"endowment": 1},
    "insurance_moral_hazard": {"base_income": 1, "loss": 1, "effort_cost": 0.1},
    "centipede": {"small_pile": 1, "large_pile": 4},
    "cournot": {"a": 1, "default_cost": 0.2},
    "war_of_attrition": {"prize": 1, "max_time": 5},
    "dutch_auction": {"start_price": 1, "decrement": 0.05, "rv1": 0.8, "rv2": 0.65},
    "english_auction": {"min_increment": 0.15, "rv1": 0.8, "rv2": 0.65},
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_of_any_size_end_in_few_turns_and_many(arena, name):
    game = game_of(name, 2)
    for k, turns in ((1, 1), (1, 50), (33, 20), (1000, 3), (1000, 50)):
        more = {"game_params": {key: k * value for key, value in AMOUNTS[name].items()}, "max_turns": turns}
        agents, logs = asyncio.run(called(arena, game, lineups(name, 2)[0], **more))
        assert max(agent.statistics.replaced for agent in agents) == 0
        assert all(len(texts) <= MATCHES * (name in NOT_TOLD) for texts in taken(logs)[1].values())


def test_the_command_counts_what_the_log_refuses(arena):
    """A policy that plays another game than the platform's: the command's count is that of the log."""
    command = [sys.executable, "-m", "parlour.training.cli", "deploy", "arena", "fair", "--game", "bargaining"]
    options = ["--arena", arena, "--sessions", "1", "--matches", "2", "--poll", "0.1", "--port", "0", "--name"]
    agents = [
        subprocess.Popen([*command, *options, name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for name in ("ann", "bob")
    ]
    for agent in agents:
        text, _ = agent.communicate(timeout=240)
        found = SUMMARY.search(text)
        assert found is not None and agent.returncode == 0, text
        matches, lost, _decisions, replaced, refused = map(int, found.groups())
        assert (matches, lost, replaced, refused) == (2, 0, 0, 0), text
    assert taken(events(arena))[1] == {}
