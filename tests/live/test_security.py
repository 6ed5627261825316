"""What strangers can do at the ports of all servers (docs/security.md)."""

import asyncio
import re
from contextlib import asynccontextmanager

import aiohttp
import pytest
from live.poker_client import hosting
from live.table_room import Room
from parlour import envs
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer
from parlour.wrappers.live.arena.host import ArenaHost
from parlour.wrappers.live.common import limits
from parlour.wrappers.live.common.match_session import MatchSession
from parlour.wrappers.live.mafia.agent import MafiaAgentServer
from parlour.wrappers.live.mafia.agents import MafiaScriptedAgent
from parlour.wrappers.live.poker import messages
from parlour.wrappers.live.poker.host import IN_MEMORY, PokerHost, PokerRules, PokerStore, Refusal
from parlour.wrappers.live.table.host import TableHost
from parlour.wrappers.live.tangram.agent import TangramAgentServer, TangramAgentSession, _warm_up

SERVERS = ["poker", "arena", "arena agent", "mafia agent", "tangram agent", "table"]


@pytest.fixture(scope="module")
def compiled(compiled_poker):
    """Compile hold'em and tangram before any clock runs."""
    game = envs.game("tangram", seats=2, aspect="godot")
    PolicyAgent(game, game.bots["random"](game, 1)).warm_up()
    _warm_up(TangramAgentSession(game))


@asynccontextmanager
async def serving(name):
    """Serve; the value is the address for HTTP."""
    bargaining = envs.game("bargaining")
    fair = PolicyAgent(bargaining, bargaining.bots["fair"](bargaining, 1))
    tangram = envs.game("tangram", seats=2, aspect="godot")
    placing = PolicyAgent(tangram, tangram.bots["random"](tangram, 1))
    make = {
        "poker": lambda: PokerHost(PokerRules(seats=2)),
        "arena": lambda: ArenaHost(bargaining),
        "arena agent": lambda: ArenaAgentServer(ArenaAgent("ours", fair)),
        "mafia agent": lambda: MafiaAgentServer(MafiaScriptedAgent),
        "tangram agent": lambda: TangramAgentServer(placing, tangram),
        "table": lambda: TableHost(bargaining, [None, ("fair", fair)]),
    }
    async with make[name]() as server:
        yield server.url.replace("ws", "http", 1)


async def status(url, **headers):
    async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as reply:
        return reply.status


OF_OTHERS = "http://evil.example", "null", "http://127.0.0.1:1", "http://["
OWN = {}, {"Origin": "{url}"}, {"Host": "localhost:{port}", "Origin": "http://localhost:{port}"}


@pytest.mark.parametrize("name", SERVERS)
async def test_no_server_answers_pages_of_other_sites(name, compiled):
    async with serving(name) as url:
        for path in ("/", "/v1/tables", "/health", "/act", "/observe", "/ws", "/facts.json"):
            for site in OF_OTHERS:
                assert await status(url + path, Origin=site) == 403, (path, site)
            for form in OWN:
                headers = {key: value.format(url=url, port=url.rpartition(":")[2]) for key, value in form.items()}
                assert await status(url + path, **headers) != 403, (path, form)
        for host in ("evil.example", "["):  # a name that was given this machine's address
            for headers in ({}, {"Origin": f"http://{host}"}):
                rebound = await status(url, Host=host, **headers)
                assert (rebound == 403) == (name not in ["poker", "arena", "arena agent", "tangram agent"])
        with pytest.raises(aiohttp.WSServerHandshakeError, match="403"):
            async with aiohttp.ClientSession() as http:
                await http.ws_connect(f"{url}/ws", headers={"Origin": OF_OTHERS[0]})


@pytest.mark.parametrize("name", SERVERS)
async def test_no_server_shows_health_details_or_metrics_at_the_port_of_its_game(name, compiled):
    async with serving(name) as url:
        for path in ("/metrics", "/healthz"):
            assert await status(url + path) in (404, 426)  # 426: a path like any other, for WebSockets only


@pytest.mark.parametrize("name", SERVERS)
async def test_a_stranger_who_says_nothing_holds_up_nobody(name, compiled):
    async with serving(name) as url:
        host, port = re.fullmatch(r"http://([\d.]+):(\d+)", url).groups()
        silent = [await asyncio.open_connection(host, int(port)) for _ in range(50)]
        silent[0][1].write(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 100)  # a header that never ends
        assert await asyncio.wait_for(status(url), 10) < 500
        for _, writer in silent:
            writer.close()


def test_of_the_agents_that_register_only_so_many_are_remembered_and_none_at_a_table_is_forgotten(monkeypatch):
    monkeypatch.setattr(limits, "ACCOUNTS", 3)
    known = PokerStore(IN_MEMORY)
    seated_key, seated = known.register("seated", set())
    keys = [known.register(f"stranger {number}", {seated.agent_id})[0] for number in range(10)]
    assert known.agent_of(seated_key) == seated
    for key in keys[:8]:
        with pytest.raises(Refusal) as refusal:
            known.agent_of(key)
        assert refusal.value.code == messages.INVALID_API_KEY
    assert known.agent_of(keys[-1]).name == "stranger 9"


async def test_one_address_does_not_evict_the_keys_of_others(compiled_poker):
    elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
    async with hosting(seats=2) as (host, ann), aiohttp.ClientSession(connector=elsewhere) as eve:
        statuses = []
        for _ in range(45):
            async with eve.post(f"{host.url}/v1/agents", json={"name": "eve"}) as reply:
                statuses.append(reply.status)
        assert set(statuses[:40]) == {201} and statuses[-1] == 429
        await ann.register("ann")


async def test_a_players_key_neither_plays_nor_leaves_for_another(compiled_poker):
    async with hosting(seats=3) as (host, ann), aiohttp.ClientSession() as http:
        await ann.register("ann")
        await ann.join()
        eve = type(ann)(http, host)
        await eve.register("eve")
        code, _ = await eve.call("POST", f"/v1/tables/{ann.table_id}/leave", {})
        assert code >= 400
        table = host.tables[ann.table_id]
        assert [seat.agent_id for seat in table.session.seats.values()] == [ann.agent_id]


def test_the_ids_of_hosted_matches_do_not_follow_from_the_seed():
    game = envs.game("bargaining")
    assert len({MatchSession(game, ["ann", "bob"], seed=7).match_id for _ in range(3)}) == 3
    tables = [Room((None, None), seed=7) for _ in range(2)]
    for room in tables:
        for client, name in enumerate(("ann", "bob")):
            room.sit(client, name)
            room.send(client, "ready")
    assert tables[0].state(0)["match_id"] != tables[1].state(0)["match_id"]
