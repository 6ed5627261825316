"""The adapter to OpenEnv, over real sockets with OpenEnv's own server and client. `make frameworks` runs it."""

import socket
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from mirror import Mirror
from needs import framework
from parlour import envs
from parlour.envs import Action

framework("openenv.core.env_server.http_server")
import requests  # noqa: E402
import uvicorn  # noqa: E402
from fastmcp import Client  # noqa: E402
from parlour.wrappers.openenv import SPLITS, SeatAction, TextClient, TextEnvironment, app, play  # noqa: E402
from websockets.sync.client import connect  # noqa: E402


@contextmanager
def serving(*args, **options):
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app(*args, **options), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [free]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{free.getsockname()[1]}"
        server.should_exit = True
        thread.join()


def session(url):
    """A client that waits while the tests compile a game."""
    return TextClient(base_url=url, message_timeout_s=300, connect_timeout_s=300, websocket_ping_interval_s=None).sync()


def test_an_episode_of_every_game_returns_what_the_environment_does(game):
    mirror = Mirror(game, 5)
    with serving(game, penalty=0.0) as url, session(url) as client:
        episode = play(client, lambda seen: mirror(seen.seat), seed=5)
        state = client.state()
    assert mirror.match.done
    assert episode.returns == pytest.approx(mirror.returns)
    gained = {seat: sum(reward for _, _, reward in turns) for seat, turns in episode.decisions.items()}
    for seat in mirror.decided:
        assert gained[seat] + mirror.early[seat] == pytest.approx(episode.returns[seat])
    assert sum(faults.get("unparsable", 0) for faults in state.faults.values()) == 2 * mirror.replaced
    assert (state.game, state.turn, state.seats) == (game.id, None, list(game.agents))


def test_one_seat_plays_against_named_opponents_and_its_rewards_are_its_own():
    with serving("kuhn", players={"passing": Passing}) as url, session(url) as client:
        for opponents in ("random", "zoo:kuhn", "passing", {"player_0": "passing"}):
            seen = client.reset(seed=3, opponents=opponents, seat="player_1")
            total = seen.reward
            assert (seen.observation.seat, seen.observation.seats) == ("player_1", ["player_1"])
            while not seen.done:
                seen = client.step(SeatAction(message="bet"))
                total += seen.reward
            assert total == seen.observation.returns["player_1"] == -seen.observation.returns["player_0"]
        assert client.state().opponents == {"player_0": "passing"}


class Passing:
    def respond(self, state):
        return Action("pass")


def test_what_cannot_be_is_refused_with_a_sentence_and_the_episode_goes_on():
    with serving("kuhn") as url, session(url) as client:
        client.reset(seed=1)
        wrong = [
            ({"opponents": "/etc/passwd"}, "no opponent here: self, random"),
            ({"opponents": 5}, "5 is no opponent"),
            ({"opponents": "zoo:nothing"}, "zoo"),
            ({"opponents": {"player_0": "random", "player_1": "random"}}, "not all"),
            ({"seat": "dealer"}, "the agents are player_0, player_1"),
            ({"seed": "x"}, "whole number"),
            ({"seed": True, "opponents": "random"}, "whole number"),
            ({"index": 5}, "a seed, or a split and an index"),
            ({"seed": 5, "split": "test"}, "a seed, or a split and an index"),
            ({"split": "dev"}, "the splits are train, test"),
            ({"split": "test", "index": 1000}, "0 to 999"),
            ({"opponent": "random"}, "takes no 'opponent'"),
        ]
        for options, words in wrong:
            with pytest.raises(RuntimeError, match=words):
                client.reset(**options)
        for message in ("", "我跟注，因为。", '{"tool_calls": [{"function": {"name": "bet"}}]}'):
            seen = client.step(SeatAction(message=message)).observation
            assert "no JSON object with an action_type" in seen.refused
            if seen.replaced:
                break
        assert client.state().step_count == 2
        client.reset(seed=1)
        seen = client.step(SeatAction(message="{" * 10_000_000))
        assert seen.observation.refused and not seen.done
        assert client.step(SeatAction(message="bet")).observation.refused is None
        seen = client.step(SeatAction(message="pass"))
        assert seen.done
        again = client.step(SeatAction(message="pass"))
        assert (again.done, again.reward, again.observation.refused) == (True, 0, "the episode is over: reset first")
        assert again.observation.returns == seen.observation.returns
    with serving("kuhn") as url, connect(url.replace("http", "ws") + "/ws") as raw:
        for sent in (
            '{"type": "step", "data": {"message": 5}}',
            '{"type": "step", "data": {}}',
            "[",
            '{"type": "fly"}',
        ):
            raw.send(sent)
            assert '"error"' in raw.recv()
        raw.send('{"type": "step", "data": {"message": "bet"}}')
        assert "no episode runs: reset first" in raw.recv()
        raw.send('{"type": "reset", "data": {"seed": 1}}')
        assert "prompt" in raw.recv()
        raw.send('{"type": "step", "data": {"message": "\\ud800"}}')  # half a character
        assert "there is no JSON object" in raw.recv()


def test_http_tasks_schema_and_validation():
    from openenv.cli._validation import validate_running_environment

    with serving("leduc") as url:
        assert validate_running_environment(url, timeout_s=60)["passed"]
        name = requests.get(f"{url}/list_environments").json()[0]
        assert [split["name"] for split in requests.get(f"{url}/{name}/splits").json()] == list(SPLITS)
        task = requests.post(f"{url}/{name}/task", json={"split": "test", "index": 2}).json()["task"]
        assert task == {"id": "test-2", "index": 2, "seed": 1_000_002}
        counted = requests.post(f"{url}/{name}/num_tasks", json={"split": "test"}).json()
        assert counted == {"num_tasks": 1000}
        assert len(requests.post(f"{url}/{name}/tasks", json={"split": "train"}).json()["tasks"]) == 1000
        assert requests.post(f"{url}/{name}/tasks", json={"split": "dev"}).status_code == 422
        begun = requests.post(f"{url}/reset", json={"split": "test", "index": 2}).json()["observation"]
        same = requests.post(f"{url}/reset", json={"seed": 1_000_002}).json()["observation"]
        assert begun == same and begun["prompt"]
        assert requests.post(f"{url}/step", json={"action": {"message": "call"}}).json()["done"]
        assert requests.post(f"{url}/reset", json={"opponents": "nobody"}).status_code == 422
        assert requests.post(f"{url}/step", json={"action": {}}).status_code == 422
        schema = requests.get(f"{url}/schema").json()["action"]
        assert schema["required"] == ["message"]


def test_the_package_passes_the_graders_of_openenv_that_need_no_docker():
    from types import SimpleNamespace

    from openenv.validation import run_validation
    from openenv.validation.graders.runtime import basic
    from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
    from openenv.validation.runtime.collector import collect_runtime_evidence
    from openenv.validation.runtime.contracts import load_runtime_plan
    from openenv.validation.types import Level

    folder = Path(__file__).parents[2] / "contrib" / "openenv"
    assert run_validation(folder, max_level=Level.STATIC, skip_build=True).verdict.value == "pass"
    manifest = OpenEnvYamlParser().parse(folder)
    assert manifest.capabilities.declared_task_count == {split: len(seeds) for split, seeds in SPLITS.items()}
    with serving("kuhn") as url:
        plan = load_runtime_plan(folder, manifest.execution)
        evidence = collect_runtime_evidence(url, plan, episode_timeout_s=300)
    subject = SimpleNamespace(manifest=manifest, runtime_evidence=evidence, root=folder)
    for grader in (basic.RewardWellFormedGrader, basic.ObservationSchemaGrader, basic.StateContractGrader):
        result = grader().run(subject)
        assert result.status.value == "pass", result.evidence


def test_sessions_at_the_same_time_are_apart():
    with serving("kuhn", sessions=3) as url:
        clients = [session(url) for _ in range(3)]
        for number, client in enumerate(clients):
            client.reset(seed=number, episode_id=f"episode {number}")
        for client in clients:
            client.step(SeatAction(message="bet"))
        assert [client.state().episode_id for client in clients] == ["episode 0", "episode 1", "episode 2"]
        with pytest.raises(Exception, match="capacity"), session(url) as fourth:
            fourth.reset()
        for client in clients:
            client.close()


async def test_tools_of_mcp_play_an_episode():

    async with Client(TextEnvironment(envs.game("kuhn")).mcp_server) as client:
        assert {tool.name for tool in await client.list_tools()} == {"begin", "answer"}
        seen = (await client.call_tool("begin", {"seed": 1, "opponents": "zoo:kuhn"})).data
        while not seen["done"]:
            seen = (await client.call_tool("answer", {"message": "bet"})).data
        returns = seen["returns"]

    assert returns["player_0"] == -returns["player_1"] != 0
    with serving("kuhn") as url:

        def call(method, **params):
            sent = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            return requests.post(f"{url}/mcp", json=sent).json()

        session = call("openenv/session/create")["result"]["session_id"]
        tools = call("tools/list", session_id=session)["result"]["tools"]
        assert {tool["name"] for tool in tools} == {"begin", "answer"}
        begun = call("tools/call", session_id=session, name="begin", arguments={"seed": 1})["result"]
        assert begun["seat"] == "player_0"
        seen = call("tools/call", session_id=session, name="answer", arguments={"message": "bet"})["result"]
        assert seen["seat"] == "player_1"
        assert (
            "opponent"
            in call("tools/call", session_id=session, name="begin", arguments={"opponents": "x"})["error"]["message"]
        )


def test_sessions_of_mcp_that_nobody_uses_end_and_those_of_clients_stay():
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {}}
    with serving("kuhn", sessions=2, idle=0.5) as url, session(url) as client:
        client.reset(seed=1)
        assert "result" in requests.post(f"{url}/mcp", json=create).json()
        assert "error" in requests.post(f"{url}/mcp", json=create).json()
        deadline = time.monotonic() + 60
        while "error" in requests.post(f"{url}/mcp", json=create).json():
            assert time.monotonic() < deadline
            time.sleep(0.5)
        assert client.step(SeatAction(message="bet")).observation.refused is None


def test_pages_of_other_origins_are_not_served():
    with serving("kuhn") as url:
        host = url.partition("//")[2]
        for origin, status in (("http://evil.example", 403), ("null", 403), (f"http://{host}", 200), (None, 200)):
            headers = {} if origin is None else {"Origin": origin}
            assert requests.post(f"{url}/reset", json={"seed": 1}, headers=headers).status_code == status
        with pytest.raises(Exception, match="403"):
            connect(f"ws://{host}/ws", origin="http://evil.example")
