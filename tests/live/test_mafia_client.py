"""The TypeScript package: type-checked, and run by node against the real service."""

import asyncio
import json
import os
import shutil
import subprocess
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
import needs
import pytest
from live.processes import program
from mafia_players import FIVE, Plain, context, remote
from parlour.wrappers.live.common.server import ServerSettings
from parlour.wrappers.live.mafia import agent as service_module
from parlour.wrappers.live.mafia import messages as wire
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent
from parlour.wrappers.live.mafia.host import MafiaHost

HERE = Path(__file__).parent
CLIENT = Path(service_module.__file__).parent / "client"
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """The package, installed and built in a folder of its own; building is the type check."""
    needs.program("npm", package="npm")
    folder = tmp_path_factory.mktemp("client")
    shutil.copytree(CLIENT, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "dist"))
    shutil.copy(HERE / "mafia_document.ts", folder / "src")
    for command in (["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], ["npm", "run", "build"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    for driver in ("mafia_client.mjs", "mafia_server.mjs"):
        shutil.copy(HERE / driver, folder)
    return folder


def calls():
    """What both agents are called with."""
    made = {}
    for seat, agent in enumerate(("p1", "p2")):
        made[agent] = {}
        for method, phase in (
            ("think", "NIGHT_ACTIONS"),
            ("nightAction", "NIGHT_ACTIONS"),
            ("say", "DAY_DISCUSSION"),
            ("vote", "DAY_VOTING"),
        ):
            state, private, public = context(phase, me=seat, role="mafia")
            info = public if method in ("say", "vote") else private
            made[agent][method] = msgspec.to_builtins({"context": state, "info": info})
    return made


def node(package, *args):
    return program("node", *args, cwd=package, stdin=asyncio.subprocess.PIPE, stderr=None)


@asynccontextmanager
async def driver(package, url):
    """A running driver: a function from a command to its answer."""
    async with node(package, "mafia_client.mjs", json.dumps({"url": url, "calls": calls()})) as process:

        async def ask(command):
            process.stdin.write(f"{command}\n".encode())
            return json.loads(await process.stdout.readline())

        yield ask
        process.stdin.close()
        assert await process.wait() == 0


@pytest.mark.smoke
async def test_two_agents_on_one_connection(package):
    service = MafiaAgentServer(lambda id, name: MafiaScriptedAgent(id, name, seed=1))
    async with service, driver(package, service.url) as ask:
        answers = await ask("both")
    assert service.statistics.decisions == 8 and service.statistics.replaced == 0
    for agent, method, answer in answers:
        if method in ("think", "say"):
            assert len(answer) >= 1 and all(isinstance(chunk, str) and chunk for chunk, _ in answer)
        elif method == "nightAction":
            assert answer["actionType"] == "KILL" and answer["targetId"] in {"p1", "p2", "p3", "p4", "p5"} - {agent}
        else:
            assert answer.keys() == {"targetId"} and answer["targetId"] != agent


async def test_timeouts_and_lost_connections(package):
    class Fickle(Plain):
        async def vote(self, context, public_info):
            begun.set()
            await go.wait()
            return await super().vote(context, public_info)

    begun, go = asyncio.Event(), asyncio.Event()
    service = MafiaAgentServer(Fickle)
    await service.start()
    async with driver(package, service.url) as ask:
        late = await ask("late")
        nobody = await ask("nobody")
        begun.clear()
        waiting = asyncio.create_task(ask("vote"))
        await begun.wait()
        await service.stop()  # in the middle of a call
        go.set()
        port = int(service.url.rpartition(":")[2])
        async with MafiaAgentServer(Fickle, server=ServerSettings(port=port)):
            late, nobody, resumed, after = late, nobody, await waiting, await ask("vote")
    assert late[0] is True and "no answer in time" in late[1] and 150 <= late[2] < 2_000
    assert nobody[0] is True and "cannot reach" in nobody[1]
    assert resumed == after == {"targetId": None}


async def test_a_host_plays_with_agents_of_the_documents_own_types(package):
    """They are served by the package, and compiled with the types of the document (`mafia_document.ts`)."""
    events = []
    async with node(package, "mafia_server.mjs") as process:
        url = (await process.stdout.readline()).decode().strip()
        async with remote(url, 5) as agents:
            result = await MafiaHost(FIVE, seed=3, on_event=events.append).play(agents)
        async with aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
            for message in ("", "{", "[]", '{"id": 1}', '{"id": 2, "method": "dance", "context": {}, "info": {}}'):
                await socket.send_str(message)
                assert "error" in await socket.receive_json()
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await http.ws_connect(url, origin="https://evil.example")
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 20) == 0
    assert result.winner and not result.faults
    told = b"".join(map(wire.encode, events))
    assert b'"reason":"somebody has to go"' in told and b'"metadata":{"by":"Theirs"}' in told
    assert any(f"I am {role}.".encode() in told for role in ("mafia", "villager"))


def test_the_package_can_be_published(package):
    done = subprocess.run(
        ["npm", "pack", "--dry-run", "--json"],
        cwd=CLIENT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "npm_config_ignore_scripts": "true"},
    )
    (told,) = json.loads(done.stdout)
    assert {"README.md", "package.json", "src/index.ts", "src/server.ts"} <= {file["path"] for file in told["files"]}
    described = json.loads((CLIENT / "package.json").read_text("utf-8"))
    for path in (described["main"], described["types"]):
        assert (package / path).exists()
