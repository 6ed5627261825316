"""The client of agents and hosts: bounded answers, redirections, and trying to connect again."""

import asyncio
import gzip
from contextlib import suppress

import aiohttp
import pytest
from aiohttp import web
from live.small_server import served
from parlour.wrappers.live.common.client import (
    REDIRECTED,
    UNREACHABLE,
    Backoff,
    LiveError,
    TryAgain,
    describe_connection_error,
    http_client,
    read_json,
    retry,
)
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
        return web.Response(status=status, headers={"Location": f"{target}/hear"})

    async def within(request):
        return web.Response(status=status, headers={"Location": "/hear"})

    routes = web.post("/within", within), web.post("/away", away), web.route("*", "/hear", hear)
    async with served(web.route("*", "/hear", hear)) as other, served(*routes) as address, http_client() as http:
        async with http.post(f"http://{address}/within", data="secret") as reply:
            assert await reply.text() == "here"
        heard.clear()
        target = f"https://{address}" if status == 308 else f"http://{other}"  # another scheme is another server
        with pytest.raises(LiveError, match=f"{REDIRECTED}: http://{address} sends us to {target}"):
            await http.post(f"http://{address}/away", data="secret")
    assert heard == []


def test_waits_grow_up_to_a_longest_one():
    backoff = Backoff(3.0, 100, growth=4)
    assert [backoff.failed() for _ in range(6)] == [3.0, 6.0, 9.0, 12.0, 12.0, 12.0]


def test_after_so_many_tries_in_a_row_it_is_given_up():
    backoff = Backoff(1.0, 3)
    backoff.failed()
    backoff.succeeded()
    assert [backoff.failed() for _ in range(3)] == [1.0, 2.0, None]


class Attempts:
    """Fails by each of these in turn, then succeeds."""

    def __init__(self, *errors):
        self.errors = list(errors)
        self.at = []

    async def __call__(self):
        self.at.append(asyncio.get_running_loop().time())
        if self.errors:
            raise self.errors.pop(0)
        return "connected"


@pytest.mark.virtual_time
async def test_attempts_go_on_until_one_succeeds(caplog):
    attempts = Attempts(OSError(), TimeoutError(), TryAgain("the server is busy"))
    assert await retry(attempts, Backoff(1.0, 5)) == "connected"
    assert attempts.at == [0.0, 1.0, 3.0, 6.0]
    assert caplog.messages == [
        "OSError while connecting; trying again in 1.0 s (1 of 5)",
        "TimeoutError while connecting; trying again in 2.0 s (2 of 5)",
        "the server is busy; trying again in 3.0 s (3 of 5)",
    ]


@pytest.mark.virtual_time
async def test_giving_up_says_how_often_it_was_tried_and_why():
    with pytest.raises(LiveError, match="UNREACHABLE: the server is busy; gave up after 2 tries") as caught:
        await retry(Attempts(*[TryAgain("the server is busy")] * 5), Backoff(1.0, 2))
    assert caught.value.code == UNREACHABLE
    assert isinstance(caught.value, ConnectionError)


@pytest.mark.virtual_time
async def test_a_refusal_for_good_is_not_tried_again():
    attempts = Attempts(LiveError("UNAUTHORIZED", "no"))
    with pytest.raises(LiveError, match="UNAUTHORIZED: no"):
        await retry(attempts, Backoff(1.0, 5))
    assert len(attempts.at) == 1


@pytest.mark.virtual_time
async def test_whoever_answers_at_all_is_reached():
    backoff = Backoff(1.0, 4, first_tries=2)
    assert await retry(Attempts(OSError(), TryAgain("busy"), TryAgain("busy")), backoff) == "connected"


def test_an_error_is_described_without_its_url():
    secret = "ws://127.0.0.1/?token=s3cret"
    for error in (aiohttp.InvalidURL(secret), aiohttp.ServerDisconnectedError(secret), OSError(secret)):
        assert "s3cret" not in describe_connection_error(error)
