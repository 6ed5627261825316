"""Hold'em in the browser: a match is a table where stacks carry over, and people come, sit out and leave."""

import secrets
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aiohttp import web
from cachetools import LRUCache
from msgspec.structs import replace

from ....envs import AgentResponse, Game, TurnState
from ....envs.core import turn_state as ts
from ....envs.holdem import game as holdem
from ....envs.holdem import picture, view
from ....envs.holdem.view import Player
from ...agents.base import Agent
from ..common.clock import Outgoing
from ..common.limits import folded, same_token
from ..common.player import tell
from ..poker.host import MOST_LEFT, OPTIONS, SITS_OUT_AFTER, PokerHostSession, PokerRules, Refusal
from . import messages
from .host import Client, PlayerResult, Sends, TableDue, TableHost, TableHostSession, TableResult, TableSeat, log_of

NOTES = ("probabilities", "value", "think")
"""The notes of a program on its action that the log of a hand has."""
MOST_HANDS = 500
"""The latest hands that are kept of a poker table."""


class PokerMatch:
    """Hands of hold'em as a match of `TableHostSession`, which sends what `PokerHostSession` would say."""

    def __init__(self, rules: PokerRules, names: Sequence[str], seed: int | None) -> None:
        self.poker = PokerHostSession(rules, seed=seed)
        self.match_id = f"tbl_{secrets.token_hex(6)}"
        self._agents = LRUCache[str, str](MOST_LEFT)  # the latest by each name
        for number, name in enumerate(names):
            self.join(number, name)  # with the last one it begins

    @property
    def actions(self) -> int:
        """See `MatchSession`."""
        return self.poker.seq

    @property
    def turn(self) -> str | None:
        """See `MatchSession`; None between hands too."""
        return None if self.poker.turn is None else self.poker.game.agents[self.poker.turn]

    @property
    def outcome(self) -> dict[str, Any] | None:
        """See `MatchSession`."""
        return {"reason": self.poker.reason} if self.poker.status == "ended" else None

    def join(self, number: int, name: str) -> None:
        """Seat a player: it is dealt the next hand, with the chips that its name left with.

        Raises:
            Refusal: if these were none, and there is no rebuy.
        """
        agent_id = f"agt_{secrets.token_hex(8)}"  # another one each time: hands are open to the agent that played them
        self.poker.join(agent_id, name, number, before=self._agents.pop(folded(name), agent_id))
        self._agents[folded(name)] = agent_id
        self.poker.connect(number)

    def turn_state(self, agent_id: str) -> TurnState:
        """See `MatchSession`."""
        return self.poker.turn_state(self.poker.game.agents.index(agent_id))

    def act(self, agent_id: str, response: AgentResponse, thoughts: Mapping[str, Any] | None = None) -> ts.ActionResult:
        """See `MatchSession`."""
        if agent_id != self.turn:
            return ts.refused(ts.NOT_YOUR_TURN, "it is not your turn")
        notes = {name: note for name, note in (thoughts or {}).items() if name in NOTES}
        return self.poker.act(self.poker.game.agents.index(agent_id), response.action, notes)

    def send(self, agent_id: str, intent: ts.MessageIntent) -> ts.ActionResult:
        """See `MatchSession`."""
        return ts.refused(ts.GAME_RULE_VIOLATION, "nobody talks in hold'em")

    def failed(self, agent_id: str, problem: str) -> None:
        """See `MatchSession`."""
        self.poker.timeout(self.poker.game.agents.index(agent_id), self.poker.token)

    def page_state(self, seat: int | None) -> TurnState:
        """Return the table as the page shows it to a seat; None: to those who look on.

        They see no cards but those that were shown.
        """
        poker, table = self.poker, self.poker.table
        own = seat if seat is not None and table.seated[seat] else None
        game = view.public(table) if own is None else view.game_state(table, own)
        players = [self._player(player) for player in game.players if player.seat in poker.seats]
        turn, pot = (game.turn, game.pot) if poker.playing else (None, 0)
        hands = poker.rules.hands or 1
        game = replace(game, seat=seat, hand=poker.hand, hands=hands, players=players, pot=pot, turn=turn)
        agent_id = "" if seat is None else poker.game.agents[seat]
        mine = turn is not None and turn == seat
        state = TurnState(self.match_id, poker.game.id, agent_id, game.phase, mine, self.turn, game.to_dict())
        if mine and seat is not None:
            state.allowed_actions = view.allowed(game, seat, game.phase)
        if table.done and not poker.playing:
            reason = "showdown" if table.showdown else "fold"
            state.game_over, state.outcome = True, {"reason": reason, "results": view.results(table, own)}
        return state

    def _player(self, player: Player) -> Player:
        """Return a player with its name and chips at the table; a newcomer plays from the next hand on."""
        seat = self.poker.seats[player.seat]
        chips = {} if self.poker.playing else {"bet": 0, "committed": 0}
        stack, folded = self.poker.stack(player.seat), player.folded or bool(seat.chips)
        return replace(player, name=seat.name, stack=stack, folded=folded, **chips)


class PokerTableSession(TableHostSession):
    """A table of hold'em, without I/O: people come, leave and sit out during a match."""

    match: PokerMatch

    def __init__(self, *args: Any, rules: PokerRules, pauses: tuple[float, float, float], **options: Any) -> None:
        super().__init__(*args, **options)
        self._rules, self._pauses, self._crowded = rules, pauses, rules.crowded
        self._marks: dict[int, tuple[bool, bool]] = {}  # as they were sent

    @property
    def poker(self) -> PokerHostSession:
        """The hands of the latest match; there is one."""
        return self.match.poker

    @property
    def due(self) -> TableDue | None:
        """See `TableHostSession`; nobody's turn is between two hands."""
        due = self.poker.due if self.status == "running" else None
        if due is None or due.what == "act":
            return None if due is None else super().due
        hand, showdown, silence = self._pauses
        pause = silence if due.what == "wait" else showdown if self.poker.table.showdown else hand
        return TableDue("nobody", -1, self.turn, pause=pause)

    def resume(self) -> Sends:
        """Deal the next hand, without those who have been silent for long."""
        left = [message for number in self.poker.silent for message in self._stand(number)]
        self.poker.next_hand()
        return left + self._go_on()

    def _new_match(self) -> PokerMatch:
        seed = None if self._seed is None else self._seed + self.matches - 1  # logs of hands do not tell it
        return PokerMatch(self._rules, [seat.name or "" for seat in self.seats], seed)

    def _go_on(self) -> Sends:
        sends = super()._go_on()
        self.hand = self.poker.hand
        before, self._marks = self._marks, self._out()
        return sends + (self._seatings() if self._marks != before else [])

    def _awaits(self, number: int) -> bool:
        return super()._awaits(number) and not self.poker.seats[number].sits_out

    def _free(self, number: int) -> bool:
        if self.status != "running":
            return super()._free(number)
        return number not in self.poker.seats  # one that is left in a hand is free after it

    def _attach(self, client: Client, number: int) -> Sends:
        if self.status == "running" and number in self.poker.seats:
            self.poker.connect(number)  # silent no longer
        elif self.status == "running":
            try:
                self.match.join(number, self.seats[number].name or "")
            except Refusal as refusal:
                self.seats[number] = TableSeat(None, False)
                return [Outgoing(client, messages.Error(code=messages.VALIDATION_ERROR, message=refusal.message))]
            self.seats[number].dealt = True
        return super()._attach(client, number) + (self._states(self._clients) if self.match else [])

    def disconnect(self, client: Client) -> Sends:
        """See `TableHostSession`. Who has gone sits out for its silence, and loses the seat as others who do."""
        number = self._clients.get(client)
        if self.status == "running" and number is not None and self.poker.seats[number].out:
            self.poker.seats[number].out, self.poker.seats[number].missed = False, SITS_OUT_AFTER
        return super().disconnect(client)

    def _stand(self, number: int) -> Sends:
        if self.status == "running":
            self.poker.leave(number)
        return super()._stand(number)

    def _sit_out(self, client: Client, number: int, out: bool) -> Sends:
        if self.status != "running":
            return []
        self.poker.sit_out(number, out)
        return self._go_on()

    def _seen(self, seat: int | None) -> TurnState:
        return self.match.page_state(seat)

    def _drawn(self, state: TurnState) -> list[TurnState]:
        return [state]  # what others folded stays theirs

    def _seating(self, client: Client) -> messages.Seating:
        seating = super()._seating(client)
        for place in seating.seats:
            place.out, place.waits = self._out().get(place.seat, (False, False))
        return seating

    def _out(self) -> dict[int, tuple[bool, bool]]:
        """Return who sits out, and who waits for the big blind."""
        seats = self.poker.seats if self.status == "running" else {}
        return {number: (seat.sits_out, seat.waits) for number, seat in seats.items()}


class PokerTable(TableHost):
    """A poker table for people and programs. Use it as `TableHost`.

    Its match ends when one player has all chips, or the last hand is played.

    Raises:
        ValueError: for an option that poker tables do not have.
    """

    def __init__(
        self,
        game: Game,
        players: Sequence[tuple[str, Agent] | None],
        *,
        hands: int | None = None,
        rebuy: bool = False,
        seats_per_address: int | None = None,
        pauses: tuple[float, float, float] = (3.0, 7.0, 120.0),
        **common: Any,
    ) -> None:
        usual = holdem(seats=game.seats).options
        for name, value in game.options.items():
            if name not in OPTIONS and value != usual[name]:
                raise ValueError(f"{name}={value}: poker tables take {', '.join(OPTIONS)}")
        if not isinstance(game.options["stacks"], int):
            raise ValueError(f"stacks={game.options['stacks']}: at a poker table all begin with the same stack")
        given = {kept: game.options[name] for name, kept in OPTIONS.items()} | {"hands": hands, "rebuy": rebuy}
        self._rules = PokerRules(min_players=game.seats, seats_per_address=seats_per_address, **given)
        self._pauses = pauses
        self._hands = PokerHands([])
        self._won: dict[str, int] = {}  # chips since the latest result, by name
        self._played = 0  # hands since then
        super().__init__(game, players, **common)

    def new_session(self, game: Game, programs: Sequence[str | None], **options: Any) -> PokerTableSession:
        """See `TableHost`."""
        options |= {"pictures": [game.renderer.picture, picture.small_picture]}
        return PokerTableSession(game, programs, rules=self._rules, pauses=self._pauses, **options)

    async def closing(self) -> None:
        """See `TableHost`."""
        await super().closing()
        if self.session.status == "running":
            self.session.match.poker.end("admin_stopped")
            self._end()

    def _write(self) -> None:
        if (match := self.session.match) is None:
            return
        if match is not self._written[0]:
            self._written = match, 0
            self._hands = PokerHands(number for number, seat in enumerate(self.session.seats) if seat.program)
        hand = match.poker.hand_log
        if hand is None or hand["hand"] == self._written[1]:
            return
        self._written = match, hand["hand"]
        self._log.write("hand", table_id=match.match_id, **hand)
        self._hands.hands.append(hand)
        self._played += 1
        before = {row["seat"]: row for row in hand["players"]}
        for row in hand["results"]:
            name = before[row["seat"]]["name"]
            self._won[name] = self._won.get(name, 0) + row["stack"] - before[row["seat"]]["stack"]
        if not self._in_lobby:  # a lobby gets one result for all hands of a table
            self._report("hand")

    def _end_match(self) -> None:
        match = self.session.match
        if self.session.status == "over" and match is not self._ended:
            self._ended = match
            self._end()

    def _end(self) -> None:
        """Open the hands of a table that has ended, and report it."""
        match = self.session.match
        poker: PokerHostSession = match.poker
        self._hands.ended = True
        stacks = {seat.agent_id: poker.stack(number) for number, seat in sorted(poker.seats.items())}
        self._log.write("ended", table_id=match.match_id, reason=poker.reason, hands=poker.hand, stacks=stacks)
        self._report(str(poker.reason))

    def _report(self, reason: str) -> None:
        """Report what the players have won since the latest report, if a hand was played."""
        names = {seat.name for seat in self.session.seats if seat.program}
        players = tuple(PlayerResult(name, name in names, won) for name, won in self._won.items())
        hands, self._won, self._played = self._played, {}, 0
        if players:
            tell("a result", self._on_result, TableResult(players, reason, self._hands.log(None), hands))

    async def _ended_file(self, request: web.Request) -> web.Response:
        """Answer with the hands that have ended, as the seat of the key in the query may see them.

        The replay is of a table that has ended.
        """
        key = request.query.get("key", "")
        own = next((number for number, seat in enumerate(self.session.seats) if key and same_token(key, seat.key)), -1)
        reader = None if self.session.match is None else self.session.match.poker.seats.get(own)
        early = not self._hands.ended if request.match_info["file"] == "replay.html" else not self._hands.hands
        log = b"" if early else self._hands.log(None if reader is None else reader.agent_id)
        return await self._files.answer(request, log, "holdem")


class PokerHands:
    """The hands that a poker table has played, as each player may take them home.

    By the custom of poker, a hand history has its reader's cards and those that were shown; what others folded or
    mucked stays theirs. Programs have nothing to hide from the table that has ended: then it has their cards and notes
    too.
    """

    def __init__(self, programs: Iterable[int]) -> None:
        self.hands: deque[dict[str, Any]] = deque(maxlen=MOST_HANDS)
        self.ended = False
        self._programs = set(programs)
        self._logs: dict[str | None, tuple[Any, bytes]] = {}  # by reader: of which hands, and the log

    def log(self, reader: str | None) -> bytes:
        """Return the hands as an agent may see them; None: as everybody may."""
        state = self.hands[-1]["hand"] if self.hands else 0, self.ended
        if self._logs.get(reader, (None, b""))[0] != state:
            self._logs = {one: kept for one, kept in self._logs.items() if kept[0] == state}
            self._logs[reader] = state, log_of(self._seen(hand, reader) for hand in self.hands)
        return self._logs[reader][1]

    def _seen(self, hand: Mapping[str, Any], reader: str | None) -> dict[str, Any]:
        revealed = {row["seat"] for row in hand["results"] if "cards" in row}
        own = {row["seat"] for row in hand["players"] if row["agent_id"] == reader}
        open_ = own | self._programs if self.ended else own
        hidden = {*NOTES, "reasoning"}
        return {
            "kind": "hand",
            **hand,
            "players": [row if row["seat"] in revealed | open_ else {**row, "cards": []} for row in hand["players"]],
            "actions": [
                action if action["seat"] in open_ else {name: action[name] for name in action.keys() - hidden}
                for action in hand["actions"]
            ],
        }
