"""Trying to connect again: how long to wait, and when to give up."""

import asyncio

import aiohttp
import pytest
from live.event_loops import in_virtual_time
from parlour.wrappers.live.common.client import (
    UNREACHABLE,
    Backoff,
    LiveError,
    TryAgain,
    describe_connection_error,
    retry,
)


def test_waits_grow_up_to_a_longest_one():
    backoff = Backoff(3.0, 100, growth=4)
    assert [backoff.failed() for _ in range(6)] == [3.0, 6.0, 9.0, 12.0, 12.0, 12.0]
    assert backoff.longest == 12.0


def test_after_so_many_tries_in_a_row_it_is_given_up():
    backoff = Backoff(1.0, 3)
    backoff.failed()
    backoff.succeeded()
    assert [backoff.failed() for _ in range(3)] == [1.0, 2.0, None]


def test_a_server_that_never_answered_is_given_up_sooner():
    backoff = Backoff(1.0, 10, first_tries=2)
    assert [backoff.failed(), backoff.failed()] == [1.0, None]
    backoff = Backoff(1.0, 10, first_tries=2)
    backoff.reached = True
    assert [backoff.failed(), backoff.failed()] == [1.0, 2.0]
    assert Backoff(1.0, 3, first_tries=5).tries == 3


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


@in_virtual_time
async def test_attempts_go_on_until_one_succeeds(caplog):
    attempts = Attempts(OSError(), TimeoutError(), TryAgain("the server is busy"))
    assert await retry(attempts, Backoff(1.0, 5)) == "connected"
    assert attempts.at == [0.0, 1.0, 3.0, 6.0]
    assert caplog.messages == [
        "OSError while connecting; trying again in 1.0 s (1 of 5)",
        "TimeoutError while connecting; trying again in 2.0 s (2 of 5)",
        "the server is busy; trying again in 3.0 s (3 of 5)",
    ]


@in_virtual_time
async def test_giving_up_says_how_often_it_was_tried_and_why():
    with pytest.raises(LiveError, match="UNREACHABLE: the server is busy; gave up after 2 tries") as caught:
        await retry(Attempts(*[TryAgain("the server is busy")] * 5), Backoff(1.0, 2))
    assert caught.value.code == UNREACHABLE
    assert isinstance(caught.value, ConnectionError)


@in_virtual_time
async def test_a_refusal_for_good_is_not_tried_again():
    attempts = Attempts(LiveError("UNAUTHORIZED", "no"))
    with pytest.raises(LiveError, match="UNAUTHORIZED: no"):
        await retry(attempts, Backoff(1.0, 5))
    assert len(attempts.at) == 1


@in_virtual_time
async def test_whoever_answers_at_all_is_reached():
    backoff = Backoff(1.0, 4, first_tries=2)
    assert await retry(Attempts(OSError(), TryAgain("busy"), TryAgain("busy")), backoff) == "connected"


@in_virtual_time
async def test_what_is_no_matter_of_connecting_is_raised():
    with pytest.raises(ZeroDivisionError):
        await retry(Attempts(ZeroDivisionError()), Backoff(1.0, 5))


def test_an_error_is_described_without_its_url():
    secret = "ws://127.0.0.1/?token=s3cret"
    for error in (aiohttp.InvalidURL(secret), aiohttp.ServerDisconnectedError(secret), OSError(secret)):
        assert "s3cret" not in describe_connection_error(error)
