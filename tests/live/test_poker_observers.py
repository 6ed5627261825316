"""`host poker`: the page for agents, the list of tables, and those who look on."""

import aiohttp
import pytest
from live.poker_client import hosting
from parlour.wrappers.live.common.server import local_url

pytestmark = pytest.mark.usefixtures("compiled_poker")


async def test_the_page_for_agents_names_this_server():
    async with hosting() as (host, client):
        async with client.http.get(host.url + "/skill.md") as answer:
            text = await answer.text()
            assert answer.content_type == "text/markdown"
        assert f'url: "{host.url}/v1/agents"' in text and "{BASE_URL}" not in text
        assert text.startswith("---\n") and "format=agent" in text


async def test_tables_are_listed_by_status_and_page():
    async with hosting(tables=3) as (_, client):
        _, all_of_them = await client.call("GET", "/v1/tables")
        _, two = await client.call("GET", "/v1/tables?limit=2")
        _, none = await client.call("GET", "/v1/tables?status=ended")
    assert (len(all_of_them["tables"]), len(two["tables"]), len(none["tables"])) == (3, 2, 0)
    assert (all_of_them["hasMore"], two["hasMore"]) == (False, True)


async def test_a_flooder_of_watchers_takes_places_from_itself_alone():
    """The flooder comes from 127.0.0.2, the honest watcher from 127.0.0.1."""
    async with hosting(observers=3, address="0.0.0.0") as (host, client):
        url = f"{local_url(host.url)}/v1/tables/{next(iter(host.tables))}/watch"
        honest = await client.http.ws_connect(url)
        elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
        async with aiohttp.ClientSession(connector=elsewhere) as flooding:
            for _ in range(10):
                await flooding.ws_connect(url)
            late = await client.http.ws_connect(url)
            for socket in (honest, late):
                await socket.send_str("x")
                while (await socket.receive_json(timeout=5))["type"] != "error":
                    pass


async def test_without_places_nobody_looks_on():
    async with hosting() as (host, client):
        socket = await client.http.ws_connect(f"{host.url}/v1/tables/{next(iter(host.tables))}/watch")
        assert (await socket.receive_json())["code"] == "TABLE_FULL"
        await socket.receive()
        assert socket.close_code == 1008
