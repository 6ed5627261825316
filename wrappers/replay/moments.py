"""A match log, moment by moment: who saw what, who decided what, and what it thought and said.

All logs that Parlour writes can be read: of matches in an environment or an arena (played again from their seed),
of our poker tables (hands with all cards, played again), and of live agents (what one seat saw at its turns).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np

from ... import envs
from ...envs.core.game import Game
from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, TurnState
from ...envs.holdem import game as holdem
from ...envs.holdem import rules
from ...envs.holdem.actions import parse
from ...envs.holdem.hands import card_number
from ...envs.holdem.table import SEATS
from ..agents.base import sentence
from ..live.arena.agent_names import AgentNames
from ..live.arena.foreign_types import GAMES
from ..logs.match_log import read

ALL = "all"
"""The view of an observer who sees every seat's secrets."""


@dataclass
class Moment:
    """A decision, or the end of a match.

    Attributes:
        match: which match of the log, from 0.
        title: of the match.
        states: what each agent saw, by name, in order of seats.
        agent: who decides; None at the end.
        action: what it does, in words; "" at the end.
        said: the messages that it sends with it.
        think: what it thought, where the log has it.
        probabilities: of every answer that was open to it, where the log has them.
        value: what it expected to win, where the log has it.
        note: what else is to be told: a refusal, a late answer, the outcome.
    """

    match: int
    title: str
    states: dict[str, TurnState]
    agent: str | None = None
    action: str = ""
    said: list[MessageIntent] = field(default_factory=list)
    think: str = ""
    probabilities: dict[str, float] = field(default_factory=dict)
    value: float | None = None
    note: str = ""

    @property
    def views(self) -> dict[str, list[TurnState]]:
        """The TurnStates that make each view, as `Game.picture` takes them: all seats', and every seat's own."""
        every = {ALL: list(self.states.values())} if len(self.states) > 1 else {}
        return every | {agent: [state] for agent, state in self.states.items()}


def picture(states: Sequence[TurnState]) -> str:
    """Draw a view of a moment, whatever the game.

    Raises:
        ValueError: if the game is not known here, or its picture is not of such a state.
    """
    game_id = states[0].game_id
    try:
        return _artist(game_id)(states)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a state of {game_id} that cannot be drawn: {error!r}") from error


_artists: dict[str, Callable[[Sequence[TurnState]], str]] = {}


def _artist(game_id: str) -> Callable[[Sequence[TurnState]], str]:
    if game_id not in _artists:
        _artists[game_id] = envs.game(GAMES.get(game_id, game_id)).renderer.picture
    return _artists[game_id]


def moments(path: str | PathLike[str]) -> Iterator[Moment]:
    """Return the moments of a log in order.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no log, does not replay, or holds nothing to show.
    """
    reader = _Reader()
    empty = True
    for number, entry in _gathered(path):
        try:
            for moment in reader.read(entry):
                empty = False
                yield moment
        except KeyError as error:
            raise ValueError(f"{path}, line {number}: a {entry['kind']!r} line lacks {error}") from error
        except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
            raise ValueError(f"{path}, line {number} does not replay: {error}") from error
    last = reader.close()
    if last is not None:
        yield last
    elif empty:
        raise ValueError(f"{path} holds no decision that could be shown")


def _gathered(path: str | PathLike[str]) -> Iterable[tuple[int, dict[str, Any]]]:
    """Return the numbered lines of a log; of games that a live agent played side by side, those of each together."""
    places: dict[str, int] = {}
    order, place = [], 0
    for entry in read(path):
        if entry["kind"] == "match":
            return enumerate(read(path), 1)
        if game := _game_of(entry):
            place = places.setdefault(game, len(places))
        order.append(place)
    if all(one <= other for one, other in pairwise(order)):
        return enumerate(read(path), 1)
    return sorted(enumerate(read(path), 1), key=lambda line: order[line[0] - 1])


def _game_of(entry: Mapping[str, Any]) -> str:
    state = entry.get("turn_state")
    return str((state.get("match_id") if isinstance(state, dict) else None) or entry.get("match_id") or "")


class _Reader:
    """Reads a log line by line. What one line says of another's decision waits until that comes."""

    def __init__(self) -> None:
        self.match = -1
        self._env: envs.GameEnv | None = None
        self._game: tuple[str, Mapping[str, Any]] | None = None
        self._open = False
        self._names: AgentNames | None = None
        self._worded: dict[str, str] = {}  # what `_words` has read in this match
        self._called: dict[str, str] = {}  # agents by their ids
        self._title = ""
        self._thought: dict[str, str] = {}
        self._notes: list[str] = []
        self._seen: dict[str, TurnState] = {}  # what a live agent saw at its latest turn
        self._tables: dict[str, int] = {}  # of live logs: which match belongs to which table or match id

    def read(self, entry: Mapping[str, Any]) -> Iterator[Moment]:
        kind = entry["kind"]
        if kind == "match":
            yield from self._ended()
            self._begin(entry)
        elif kind == "turn" and "turn_state" in entry:
            yield self._live(entry)
        elif kind in ("turn", "message"):
            yield self._played(entry)
        elif kind == "event":
            self._overhear(entry["event"])
        elif kind == "rejected":
            result = entry["result"]
            self._notes.append(f"{entry['agent_id']} was refused: {result.get('error_detail') or result.get('error')}")
        elif kind in ("failed", "fault"):
            self._notes.append(f"{entry['agent_id']} failed: {entry['problem']}")
        elif kind == "hand" and "players" in entry:
            self.match += 1
            yield from _hand(entry, self.match)
        elif kind in ("hand", "ended") and self._seen:
            yield Moment(self.match, self._title, self._seen, note=_result(entry))
            self._seen = {}
        elif kind == "end" and self._env is not None and not self._env.table.done:
            self._notes.append(f"ended before the rules do: {(entry.get('outcome') or {}).get('reason')}")

    def close(self) -> Moment | None:
        return next(self._ended(), None)

    def _ended(self) -> Iterator[Moment]:
        if self._open:
            if self._env is not None and not self._env.table.done and not self._notes:
                self._notes.append("the log ends here, before the match does")
            yield Moment(self.match, self._title, self._states(), note=self._note())
        self._open = False

    def _begin(self, entry: Mapping[str, Any]) -> None:
        if entry["seed"] is None:
            raise ValueError("the match has no seed in the log, and cannot be played again")
        played = entry["game"], entry["options"]
        if self._env is None or self._game != played:
            self._env, self._game = envs.GameEnv(envs.game(played[0], **played[1]), "flat"), played
        self._env.reset(seed=entry["seed"])
        self._env.match.match_id = entry.get("match_id", self._env.match.match_id)
        ids = entry.get("agent_ids") or [row["id"] for row in entry.get("agents", ())]
        called = distinct(entry.get("agent_ids") or [row.get("name") or row["id"] for row in entry.get("agents", ())])
        seats = self._env.possible_agents
        if called and len(called) != len(seats):
            raise ValueError(f"{len(called)} agents for the {len(seats)} seats of {entry['game']}")
        self._called = dict(zip(ids, called, strict=True))
        self._names = AgentNames(called, seats) if called and list(called) != seats else None
        self.match += 1
        self._open = True
        self._title = str(self._env.match.match_id)
        self._thought.clear()
        self._worded.clear()

    def _overhear(self, event: Mapping[str, Any]) -> None:
        """Take what an agent of mafia thinks before it decides, which its host tells piece by piece."""
        if event["eventType"] == "AGENT_THINK_STREAM":
            told = event["payload"]
            who = self._called.get(told["agentId"], told["agentId"])
            self._thought[who] = self._thought.get(who, "") + str(told["chunk"])

    def _states(self) -> dict[str, TurnState]:
        assert self._env is not None
        states = [self._env.turn_state(agent) for agent in self._env.possible_agents]
        if self._names is not None:
            states = [self._names.state_for_agents(state) for state in states]
            for state in states:
                for message in state.messages:
                    message.content = self._words(message.content)
        return {state.agent_id: state for state in states}

    def _words(self, words: str) -> str:
        """Return words with the players' names for the seats', unless a player is called like a seat: who is meant?"""
        if self._names is None or self._names.agent_of.keys() & self._names.seat_of:
            return words
        if words not in self._worded:
            self._worded[words] = self._names.words_for_agents(words)
        return self._worded[words]

    def _name(self, agent: str) -> str:
        return agent if self._names is None else self._names.agent_of.get(agent, agent)

    def _intent(self, intent: MessageIntent) -> MessageIntent:
        return MessageIntent(intent.scope, self._words(intent.content), intent.to_agent_ids)

    def _played(self, entry: Mapping[str, Any]) -> Moment:
        if self._env is None or not self._open:
            raise ValueError("it begins in the middle of a match")
        agent = entry["agent"]
        if entry["kind"] == "message":
            intent = MessageIntent.from_dict(entry["intent"])
            told = [self._intent(intent)]
            decision = Moment(self.match, self._title, self._states(), self._name(agent), "says", told)
            result = self._env.send(agent, intent)
        else:
            answer = _answer(entry["response"])
            decision = self._decision(entry, self._name(agent), answer, self._states())
            decision.said += self._aloud(answer.action)
            result = self._env.submit(agent, entry["response"])
        if not result.ok:
            raise ValueError(f"{agent} {result.error}: {result.error_detail}")
        return decision

    def _aloud(self, action: Action) -> list[MessageIntent]:
        """Return what the action itself says, where actions speak."""
        assert self._env is not None
        game = self._env.game
        talk = game.capabilities.talk
        if talk is None or talk.action_messages is None:
            return []
        return [self._intent(one) for one in talk.action_messages(self._env.table, action)]

    def _live(self, entry: Mapping[str, Any]) -> Moment:
        state = TurnState.from_dict(entry["turn_state"])
        table = state.match_id or str(entry.get("table_id", ""))
        if state.game_id.startswith("holdem"):
            table += f" hand {state.game_state.get('hand')}"
        if table not in self._tables:
            self._tables = {table: self.match + 1}
            self.match += 1
            self._title = f"{state.game_id} · {table}"
        self._seen = {state.agent_id: state}
        response = entry.get("response")
        answer = None if response is None else _answer(response)
        return self._decision(entry, state.agent_id, answer, self._seen)

    def _decision(
        self, entry: Mapping[str, Any], agent: str, answer: AgentResponse | None, states: dict[str, TurnState]
    ) -> Moment:
        if answer is not None and self._names is not None:
            answer = self._names.payload_for_agents(answer)
            if isinstance(text := answer.action.payload.get("text"), str):
                answer.action.payload["text"] = self._words(text)
        for name in ("replaced", "problem"):
            if entry.get(name):
                self._notes.append(f"replaced by the safe action: {entry[name]}")
        chances = dict(entry.get("probabilities") or {}).items()
        thought = [self._thought.pop(agent, ""), str(entry.get("think") or "")]
        return Moment(
            self.match,
            self._title,
            states,
            agent,
            "no answer" if answer is None else sentence(answer.action),
            [] if answer is None else [self._intent(intent) for intent in answer.messages],
            self._words("\n".join(filter(None, thought))),
            {self._words(str(name)): _finite(chance) for name, chance in chances},
            None if entry.get("value") is None else _finite(entry["value"]),
            self._note(),
        )

    def _note(self) -> str:
        told = "\n".join(note for note in self._notes if note)
        self._notes.clear()
        return told


def _result(entry: Mapping[str, Any]) -> str:
    """Return in words how a live hand or match ended, as far as its agent was told."""
    told = [f"{name} {entry[name]}" for name in ("won", "stack", "reason", "turns", "plays") if name in entry]
    outcome = entry.get("outcome") or {}
    told += [f"{name} {outcome[name]}" for name in ("winner", "reason") if outcome.get(name)]
    shown = [row for row in entry.get("results") or () if row.get("cards")]
    told += [f"seat {row['seat']} had {' '.join(row['cards'])}, {row.get('rank') or 'not shown'}" for row in shown]
    return ", ".join(told)


def _finite(value: Any) -> float:
    if not isfinite(found := float(value)):
        raise ValueError(f"{value!r} is no finite number")
    return found


def _answer(response: Any) -> AgentResponse:
    if isinstance(response, Mapping) and "action_type" in response:
        return AgentResponse(Action.from_dict(response))
    return AgentResponse.from_dict(response)


# Our poker tables write hands.


def _hand(entry: Mapping[str, Any], match: int) -> Iterator[Moment]:
    """Play a hand of our table server again, all cards open."""
    game = _table_of(entry["small_blind"], entry["big_blind"])
    table: Any = game.tables(1)[0]
    cards, board = np.full((SEATS, 2), -1, np.int8), np.full(5, -1, np.int8)
    players = {row["seat"]: row for row in entry["players"]}
    for seat, row in players.items():
        table.stack[seat] = row["stack"]
        cards[seat] = [card_number(card) for card in row["cards"]]
    board[: len(entry["board"])] = [card_number(card) for card in entry["board"]]
    table.dealer = entry["dealer"]
    rules.deal_known(table, cards, board)
    names = distinct([str(players[seat]["name"] or players[seat]["agent_id"]) for seat in sorted(players)])
    named = dict(zip(sorted(players), names, strict=True))
    title = f"hand {entry['hand']}" + (f" · table {entry['table_id']}" if "table_id" in entry else "")

    def states() -> dict[str, TurnState]:
        return {named[seat]: _seen(game, table, seat, named, entry["hand"]) for seat in named}

    for action in entry["actions"]:
        if table.turn != action["seat"]:
            raise ValueError(f"hand {entry['hand']}: seat {action['seat']} acts, it is seat {int(table.turn)}'s turn")
        payload = {"amount": action["amount"]} if action["kind"] == "raiseTo" else {}
        answer = Action(action["kind"], payload)
        cause = {"timeout": "its time was up", "left": "it has left"}.get(action.get("cause", ""), "")
        yield Moment(match, title, states(), named[action["seat"]], sentence(answer), note=cause)
        move = parse(table, answer)
        if not isinstance(move, rules.Move):
            raise ValueError(f"hand {entry['hand']}: {move.error_detail}")
        rules.step(table, move)
    yield Moment(match, title, states(), note=_winners(entry, named))


_tables: dict[tuple[int, int], Game] = {}


def _table_of(small_blind: int, big_blind: int) -> Game:
    if (small_blind, big_blind) not in _tables:
        _tables[small_blind, big_blind] = holdem(
            seats=SEATS, stacks=100 * big_blind, small_blind=small_blind, big_blind=big_blind
        )
    return _tables[small_blind, big_blind]


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names, those that came before with a number behind; none is that of the view of everything."""
    taken = [ALL]
    for name in names:
        count, one = 1, name
        while one in taken:
            count += 1
            one = f"{name}-{count}"
        taken.append(one)
    return taken[1:]


def _seen(game: Game, table: Any, seat: int, named: Mapping[int, str], hand: int) -> TurnState:
    """Return what a seat saw, without the empty seats, with the players' own names."""
    state = game.turn_state(table, seat, ())
    players = [row for row in state.game_state["players"] if row["seat"] in named]
    state.game_state |= {"hand": hand, "players": [row | {"name": named[row["seat"]]} for row in players]}
    ours = {f"player_{number}": name for number, name in named.items()}
    state.agent_id = named[seat]
    state.current_turn_agent_id = ours.get(state.current_turn_agent_id or "")
    if state.outcome is not None:
        payoffs = [
            row | {"agent_id": ours[row["agent_id"]]} for row in state.outcome["payoffs"] if row["agent_id"] in ours
        ]
        state.outcome |= {"payoffs": payoffs}
    return state


def _winners(entry: Mapping[str, Any], named: Mapping[int, str]) -> str:
    won = [f"{named[row['seat']]} takes {row['won']}" for row in entry["results"] if row["won"]]
    return ", ".join(won)
