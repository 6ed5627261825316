"""A protocol of your own, both ends: an agent asks for its turn, waits for the reply (long poll), and posts its action.

GET  /turn/{token}           -> {turn, state}: at once if it is the agent's turn or the match is over, else later
POST /act/{token}?turn=N     -> ActionResult, for an AgentResponse
"""

import asyncio
import contextlib
import secrets

import msgspec
from aiohttp import web
from parlour import envs
from parlour.envs import Game, TurnState
from parlour.wrappers import Agent, PolicyAgent, make_policy
from parlour.wrappers.live.common.client import Backoff, LiveError, http_client, request_json
from parlour.wrappers.live.common.clock import Deadline, Room
from parlour.wrappers.live.common.match_session import MatchSession
from parlour.wrappers.live.common.player import Player, Turn
from parlour.wrappers.live.common.server import Server, read_body


class Hosted(msgspec.Struct):
    """What a request for a turn gets: the number of the turn, and what the agent sees."""

    turn: int
    state: TurnState


class LongPollHost(Server):
    """One match of a game. `seconds`: the time for a turn. `tokens`: one for each seat, in order."""

    def __init__(self, game: Game, seconds: float = 5.0, seed: int | None = None) -> None:
        super().__init__()
        self.session = MatchSession(game, game.agents, seed=seed)
        self.tokens = {secrets.token_urlsafe(16): name for name in game.agents}
        self._room: Room[tuple[int, str]] = Room(self._due, lambda due: seconds, self._late)
        self._news = asyncio.Event()

    def routes(self) -> list[web.RouteDef]:
        return [web.get("/turn/{token}", self._turn), web.post("/act/{token}", self._act)]

    async def opening(self) -> None:
        self._go_on()

    async def closing(self) -> None:
        self._room.stop()

    async def _turn(self, request: web.Request) -> web.Response:
        name, session = self._name(request), self.session
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(20.0):  # then the agent asks again
                while session.turn not in (name, None):
                    await self._news.wait()
        return web.json_response(body=msgspec.json.encode(Hosted(session.actions, session.turn_state(name))))

    async def _act(self, request: web.Request) -> web.Response:
        name = self._name(request)
        try:
            answer = msgspec.json.decode(await read_body(request))
        except (ValueError, RecursionError) as error:
            raise web.HTTPBadRequest(text=str(error)) from None
        if request.query.get("turn") != str(self.session.actions):
            raise web.HTTPConflict(text=f"it is turn {self.session.actions}")
        result = self.session.act(name, answer)
        self._go_on()
        return web.json_response(body=result.to_json())

    def _name(self, request: web.Request) -> str:
        if (token := request.match_info["token"]) not in self.tokens:
            raise web.HTTPNotFound(text="there is no such token")
        return self.tokens[token]

    def _due(self) -> list[tuple[int, str]]:
        return [] if self.session.turn is None else [(self.session.actions, self.session.turn)]

    async def _late(self, due: tuple[int, str], deadline: Deadline) -> None:
        await asyncio.sleep(deadline.left)
        self.session.timeout(due[1])
        self._go_on()

    def _go_on(self) -> None:
        """Follow the pending turn, and wake those who wait."""
        self._room.follow()
        self._news.set()
        self._news = asyncio.Event()


async def play(url: str, agent: Agent, seconds: float = 4.0) -> TurnState:
    """Play one seat to the end of its match. `url`: the host's, with ``/turn/{token}``; `seconds` for an answer."""
    async with http_client() as http:
        player = Player(agent)  # its thread ends with the program, or by player.close()
        await player.warm_up()
        while True:
            hosted = msgspec.convert(await request_json(http, "GET", url, Backoff(1.0, 10)), Hosted)
            if hosted.state.game_over:
                player.close()
                return hosted.state
            if hosted.state.is_my_turn:
                turn = Turn(hosted.state, name=f"turn {hosted.turn}")
                played = await player.answer(turn, Deadline.after(seconds))
                sent = {"data": played.response.to_json(), "params": {"turn": hosted.turn}}
                try:
                    await request_json(http, "POST", url.replace("/turn/", "/act/"), Backoff(1.0, 10), **sent)
                except LiveError as error:
                    if error.code != "HTTP 409":  # the turn was over
                        raise


async def main() -> None:
    game = envs.game("bargaining")
    async with LongPollHost(game, seed=7) as host, asyncio.TaskGroup() as group:
        for token in host.tokens:
            group.create_task(play(f"{host.url}/turn/{token}", PolicyAgent(game, make_policy("conceder", game))))
    print(host.session.outcome)


if __name__ == "__main__":
    asyncio.run(main())
