"""The agent's server over real sockets: whole games, agents that fail, games that behave badly."""

import asyncio
import logging
import threading
import time
from contextlib import asynccontextmanager
from datetime import datetime

import aiohttp
import pytest
from live.small_game import SmallGame
from parlour import envs
from parlour.envs import Action, AgentResponse
from parlour.wrappers.live.tangram import agent
from parlour.wrappers.live.tangram import messages as m
from parlour.wrappers.live.tangram.agent import TangramAgentServer
from parlour.wrappers.logs.match_log import MatchLog, read

GAME = envs.game("tangram", aspect="godot")
PLAY = Action("play", {"shape": "Red", "position": [50, 50], "rotation": 45})
FINISH = Action("finish")


class Scripted:
    """An agent that gives its answers in turn, and then finishes."""

    def __init__(self, *answers):
        self.answers = list(answers)

    def respond(self, state):
        answer = self.answers.pop(0) if self.answers else FINISH
        answer = answer(state) if callable(answer) else answer
        if isinstance(answer, BaseException):
            raise answer
        return AgentResponse(answer) if isinstance(answer, Action) else answer


@asynccontextmanager
async def serving(player, **settings):
    async with TangramAgentServer(player, GAME, **settings) as server, aiohttp.ClientSession() as http:
        yield server, lambda: http.ws_connect(server.url, max_msg_size=2**16)


async def answer(socket):
    """Return the next message, which is what the document says, small, and has a time."""
    text = await asyncio.wait_for(socket.receive_str(), 20)
    assert len(text) < 1_000
    message = m.decode_agent(text)
    assert not isinstance(message, m.Unknown), text
    assert datetime.fromisoformat(message.timestamp).tzinfo is not None
    return message


async def turn(socket, game):
    """Play the agent's turn; return how many plays it took."""
    await socket.send_str(game.message())
    plays = 0
    while not isinstance(message := await answer(socket), m.Finish):
        plays += 1
        await socket.send_str(game.put(message))
    game.finish()
    return plays


async def test_turns_over_a_socket(tmp_path):
    with MatchLog(tmp_path / "log.jsonl") as log:
        async with serving(Scripted(PLAY, FINISH, PLAY), log=log) as (server, connect):
            async with connect() as socket:
                game = SmallGame("A square", godot=True)
                assert await turn(socket, game) == 1
                assert game.poses == {"Red": (50, 50, 45)}
                assert await turn(socket, game) == 1
                assert await turn(socket, game) == 0
            await asyncio.wait_for(server.played(1), 5)
            assert (server.matches, server.turns, server.plays, server.statistics.replaced) == (1, 3, 2, 0)
    kinds = [entry["kind"] for entry in read(tmp_path / "log.jsonl")]
    assert kinds == ["joined", *["turn"] * 5, "ended"]


async def test_several_games_at_once():
    async with serving(Scripted()) as (server, connect):
        async with connect() as one, connect() as two, connect() as three:
            games = [SmallGame("a broken lamp"), SmallGame("a broken lamp", 0.4), SmallGame("A square")]
            for _ in range(3):
                await asyncio.gather(*(turn(s, g) for s, g in zip((one, two, three), games, strict=True)))
        assert len(games[0].poses) == len(games[1].poses) == 3
        assert games[0].poses != games[1].poses
        assert games[2].poses == {}
        await asyncio.wait_for(server.played(3), 5)


@pytest.mark.parametrize(
    "bad",
    [
        SystemExit(1),
        None,
        Action("play", {"shape": "Red", "position": [float("nan"), 2], "rotation": 0}),
        pytest.param(lambda state: time.sleep(0.6) or FINISH, id="late"),
    ],
    ids=lambda bad: str(bad)[:40],
)
async def test_an_agent_that_fails_is_replaced_by_finish(bad, caplog):
    async with serving(Scripted(bad, PLAY), deadline=0.3) as (server, connect), connect() as socket:
        game = SmallGame("A square")
        with caplog.at_level(logging.WARNING):
            assert await turn(socket, game) == 0
        assert server.statistics.replaced == 1
        assert sum("finish instead of the agent's answer" in text for text in caplog.messages) == 1
        await asyncio.sleep(0.5 if callable(bad) else 0)
        assert await turn(socket, game) == 1


async def test_an_agent_that_hangs_costs_turns_and_no_game():
    release = threading.Event()
    hangs = Scripted(lambda state: release.wait(20) and FINISH, PLAY)
    async with serving(hangs, deadline=1.0) as (server, connect), connect() as one, connect() as two:
        games = SmallGame("A square"), SmallGame("A square")
        assert await turn(one, games[0]) == 0
        begun = time.monotonic()
        assert await turn(two, games[1]) == 0  # at once: it is known to be stuck
        assert time.monotonic() - begun < 0.8
        await two.send_str(games[1].message("chatRequest", message="Are you there?"))
        assert "A square" in (await answer(two)).message
        assert server.statistics.replaced == 2
        release.set()
        await asyncio.sleep(0.1)
        assert await turn(two, games[1]) == 1


async def test_a_new_request_takes_the_place_of_the_old_one():
    late = lambda state: time.sleep(0.3) or PLAY  # noqa: E731
    async with serving(Scripted(late, FINISH)) as (server, connect):
        async with connect() as socket:
            game = SmallGame("A square")
            await socket.send_str(game.message())
            await asyncio.sleep(0.05)
            assert await turn(socket, game) == 0
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(socket.receive(), 0.5)
        assert server.statistics.replaced == 0


class Chatty(Scripted):
    def chat(self, state, text):
        if text == "boom":
            raise ValueError("no words")
        if state is None:
            return "I see nothing."
        return f"{text}? {len(state.game_state['on_board'])} pieces, {len(state.messages)}"


async def test_the_player_is_answered():
    async with serving(Chatty()) as (_, connect), connect() as socket:
        game = SmallGame("A square", poses={"Red": (50.0, 50.0, 0.0)})
        await socket.send_str(game.message("chatRequest", message="Roof"))
        assert (await answer(socket)).message == "Roof? 1 pieces, 1"
        await socket.send_str(game.message("chatRequest", message="Wall"))
        assert (await answer(socket)).message == "Wall? 1 pieces, 3"
        await socket.send_str('{"type": "chatRequest", "message": "blind"}')
        assert (await answer(socket)).message == "I see nothing."
        await socket.send_str(game.message("chatRequest", message="boom"))
        assert "1 of 7 pieces" in (await answer(socket)).message


async def test_bad_messages_get_errors_and_the_connection_lives():
    async with serving(Scripted(PLAY)) as (_, connect), connect() as socket:
        game = SmallGame("A square")
        for text in ("", "{", "[" * 100_000, '{"type": "hello"}', "x" * 10**7, game.message(board_img="A" * 10**7)):
            await socket.send_str(text)
            assert isinstance(await answer(socket), m.Error)
        await socket.send_bytes(b"\xff\xfe")
        assert isinstance(await answer(socket), m.Error)
        for text in (game.message("playFeedback"), '{"type": "playRequest"}', '{"type": "playFeedback", "state": 3}'):
            await socket.send_str(text)
            assert isinstance(await answer(socket), m.Finish)
        await socket.send_str('{"type": "error", "message": "no"}')
        assert await turn(socket, game) == 1


async def test_a_game_that_goes_in_the_middle_of_a_play_comes_back():
    async with serving(Scripted(PLAY, lambda state: time.sleep(0.2) or PLAY, PLAY)) as (server, connect):
        game = SmallGame("A square")
        async with connect() as socket:
            await socket.send_str(game.message())
            game.put(await answer(socket))
        async with connect() as socket:  # goes while the agent thinks
            await socket.send_str(game.message("playFeedback"))
            assert isinstance(await answer(socket), m.Finish)
            await socket.send_str(game.message())
        async with connect() as socket:
            game = SmallGame("A square")
            assert await turn(socket, game) >= 1
            assert game.poses == {"Red": (50, 50, 45)}
        await asyncio.wait_for(server.played(3), 5)


async def test_idle_sockets_lock_no_game_out_and_take_no_place_of_one_that_plays(monkeypatch):
    monkeypatch.setattr(agent, "GAMES", 8)
    elsewhere = aiohttp.TCPConnector(local_addr=("127.0.0.2", 0))
    async with (
        serving(Scripted()) as (server, connect),
        aiohttp.ClientSession(connector=elsewhere) as stranger,
        connect() as first,
    ):
        assert await turn(first, SmallGame("A square")) == 0
        for url in (server.url,) * 10:
            await stranger.ws_connect(url)
            await connect()
        sockets = [first, *[await connect() for _ in range(agent.GAMES - 1)]]
        for socket in sockets:
            assert await turn(socket, SmallGame("A square")) == 0
        with pytest.raises(aiohttp.WSServerHandshakeError, match="503"):  # all play
            await connect()
