"""Our agent for live tangram games: a WebSocket server with one `TangramAgentSession` per game.

Games connect to the server, and reconnect after a loss. One agent answers all games, one call at a time. A decision
that is late, raises or cannot be played is replaced by `finish`, and so are later ones while the agent is busy.
"""

import logging
from datetime import UTC, datetime
from itertools import count

from aiohttp import web

from ....envs.core.game import Game
from ....envs.core.options import seconds
from ....envs.core.turn_state import Action, AgentResponse
from ....envs.tangram.lattice import PIECES
from ...agents.base import Agent
from ...logs.match_log import MatchLog, SafeMatchLog
from ..common.agent_turn import AgentStatistics, Played, Turn
from ..common.clock import EndCounter
from ..common.connection import Connection, ConnectionLimits, Served
from ..common.player import Note, Player, run
from ..common.server import Server, ServerSettings
from . import messages
from .agent_session import TangramAgentSession, UsefulMoves

logger = logging.getLogger(__name__)

LIMITS = ConnectionLimits(frame=2**24, rate=200.0, closing=1.0)
"""Limits of a connection. The session refuses shorter messages than these frames, and so can answer with an error."""
GAMES = 64
"""Most connected games at once. One that has said nothing gives way to another."""


def now() -> str:
    """Return the time in the form of messages: ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class TangramAgentServer(Server):
    """Serves an agent to live games. Use it as an async context manager, or call `start` and `stop`.

    Args:
        agent: the agent; it runs in its own thread, one call at a time. Its `warm_up`, if it has one, is called before
            the server listens. Its `chat(turn_state, text) -> str`, if it has one, answers the player; `turn_state` is
            None if the game did not send the board.
        game: tangram, with the options that the agent knows.
        server: where it listens.
        deadline: seconds for a decision, or for an answer to the player.
        useful: the moves to play if the agent ends a turn without a move (see `TangramAgentSession`).
        log: the log of all connections, decisions and ends; None: no log.

    Attributes:
        url: the address to which games connect, after the start.
        turns, plays, helped: in ended games, the numbers of turns, of plays, and of plays of `useful`.
    """

    def __init__(
        self,
        agent: Agent,
        game: Game,
        *,
        server: ServerSettings | None = None,
        deadline: float = 10.0,
        useful: UsefulMoves | None = None,
        log: MatchLog | None = None,
    ) -> None:
        seconds("deadline", deadline)
        super().__init__(server, connection_limits=LIMITS, most_connections=GAMES)
        self.turns = self.plays = self.helped = 0
        self.statistics = AgentStatistics()
        self._agent, self._game, self._deadline, self._useful = agent, game, deadline, useful
        self._log = SafeMatchLog(log)
        self._ended = EndCounter()
        self._numbers = count(1)
        self._player: Player | None = None

    @property
    def games(self) -> int:
        """Number of ended connections."""
        return self._ended.count

    async def played(self, games: int | None = None) -> None:
        """Wait until this number of connections has ended; None: without end."""
        await self._ended.reached(games)

    def routes(self) -> list[web.RouteDef]:
        """See `Server`."""
        return [web.get("/{path:.*}", self._connection)]

    async def start(self) -> None:
        """See `Server`."""
        await super().start()
        self.url = self.url.replace("http", "ws", 1)

    async def opening(self) -> None:
        """Warm up the agent, and play two artificial turns, so that all code is compiled."""
        self._player = Player(self._agent, log=self._log, statistics=self.statistics)
        await self._player.warm_up()
        await self._player.call(_warm_up, TangramAgentSession(self._game, useful=self._useful))

    async def closing(self) -> None:
        """Stop the agent's thread."""
        if self._player is not None:
            self._player.close()

    async def _connection(self, request: web.Request) -> web.StreamResponse:
        return await self.upgrade(request, self._serve)

    async def _serve(self, connection: Connection) -> None:
        """Answer a game until it disconnects."""
        assert self._player is not None
        session = TangramAgentSession(self._game, f"game-{next(self._numbers)}", self._useful, self._deadline)

        def watch(event: object) -> None:  # a game keeps its place from its first message that can be read
            if not isinstance(event, Note | messages.Error):
                self.keep(connection)

        logger.info("%s has connected", session.name)
        self._log.write("joined", match_id=session.name)
        try:
            await run(Served(connection, _encode), session, self._player, watch)
        finally:
            logger.info("%s has gone: %d turns, %d plays", session.name, session.turns, session.plays)
            self._log.write("ended", match_id=session.name, turns=session.turns, plays=session.plays)
            self.turns += session.turns
            self.plays += session.plays
            self.helped += session.helped
            self._ended.add()


def _encode(message: messages.AgentMessage) -> str:
    message.timestamp = now()
    return messages.encode(message)


def _warm_up(session: TangramAgentSession) -> None:
    """Play two artificial turns, so that all code is compiled before a deadline runs."""
    for text in ("A house", "An unknown figure"):
        drawer = {"on_board": {}, "off_board": {name: {"rotation": 0} for name in PIECES}}
        request = {"type": "playRequest", "objective": text, "state": drawer}
        for event in session.receive(request):
            if isinstance(event, Turn):
                play = Action("play", {"shape": "Red", "position": [50, 50], "rotation": 0})
                session.reply(event, Played(AgentResponse(play)))
        red = {"position": [50, 50], "rotation": 0, "collisions": ["BOUNDARY"]}
        session.receive({**request, "type": "playFeedback", "state": {"on_board": {"Red": red}}})
        session.receive({**request, "state": {"on_board": {"Red": red}}})
