"""The HTTP client of agents and hosts, beside a server that answers without bound."""

import gzip
from contextlib import suppress

import pytest
from aiohttp import web
from live.small_server import served
from parlour.wrappers.live.common.client import REDIRECTED, LiveError, http_client, read_json
from parlour.wrappers.live.common.server import Server


class Endless(Server):
    """Answers with what its path says."""

    sent = 0

    def routes(self):
        return [web.get("/endless", self._endless), web.get("/packed", self._packed), web.get("/deep", self._deep)]

    async def _endless(self, request):
        answer = web.StreamResponse()
        await answer.prepare(request)
        with suppress(ConnectionError):  # the client has had enough, as it should
            while self.sent < 2**28:
                await answer.write(b'"' + b" " * 2**16)
                self.sent += 2**16
        return answer

    async def _packed(self, request):
        assert request.headers["Accept-Encoding"] == "identity"
        return web.Response(body=gzip.compress(b" " * 2**28), headers={"Content-Encoding": "gzip"})

    async def _deep(self, request):
        return web.Response(body=b"[" * 100_000)


async def test_an_answer_is_read_up_to_a_mebibyte_and_never_unpacked():
    async with Endless() as server, http_client() as http:
        async with http.get(f"{server.url}/endless") as reply:
            with pytest.raises(ValueError, match="more than 1048576 bytes"):
                await read_json(reply)
        assert server.sent < 2**26
        for path in ("packed", "deep"):
            async with http.get(f"{server.url}/{path}") as reply:
                with pytest.raises((ValueError, RecursionError)):
                    await read_json(reply)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirection_to_another_server_is_not_followed(status):
    heard = []

    async def hear(request):
        heard.append(await request.text())
        return web.Response(text="here")

    async def away(request):
        return web.Response(status=status, headers={"Location": f"http://{other}/hear"})

    async def within(request):
        return web.Response(status=status, headers={"Location": "/hear"})

    routes = web.post("/within", within), web.post("/away", away), web.route("*", "/hear", hear)
    async with served(web.route("*", "/hear", hear)) as other, served(*routes) as address, http_client() as http:
        async with http.post(f"http://{address}/within", data="secret") as reply:
            assert await reply.text() == "here"
        heard.clear()
        with pytest.raises(LiveError, match=f"{REDIRECTED}: {address} sends us to {other}"):
            await http.post(f"http://{address}/away", data="secret")
    assert heard == []
