"""Reads a match log and returns its moments: states, action, messages and thoughts, decision by decision.

It reads all logs of Parlour: matches in an environment or an arena (played again from their seed), poker tables (hands
with all cards, played again), and live agents (the states of one seat at its turns).
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from itertools import chain, count, pairwise
from math import inf, isfinite
from os import PathLike
from typing import Any

import numpy as np

from ... import envs
from ...envs.core.counted import counted
from ...envs.core.files import no_files
from ...envs.core.game import Game
from ...envs.core.registry import own_name
from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, TurnState
from ...envs.core.view import default_parts
from ...envs.holdem import game as holdem
from ...envs.holdem import rules
from ...envs.holdem.hands import card_number
from ...envs.holdem.picture import chips_text
from ...envs.holdem.table import RAISE, SEATS
from ...envs.holdem.view import parse
from ...envs.render.svg import escape
from ..agents.answers import typed_word
from ..agents.base import SeatNames, sentence
from ..live.arena.platform_games import PLATFORM_GAMES
from ..logs.match_log import read

ALL = "all"
"""The name of the view with all hidden information."""


@dataclass
class Moment:
    """A decision, or the end of a match.

    Attributes:
        match: the number of the match in the log, from 0.
        title: the match's title.
        states: each agent's TurnState, by name, in seat order.
        agent: the agent that decides; None at the end.
        action: its action as text; "" at the end.
        said: the messages sent with the action.
        think: the agent's thoughts, if the log has them.
        probabilities: the probability of every legal answer, if the log has them.
        value: the expected return, if the log has it.
        note: other information: a refusal, a late answer, who won and why.
        details: facts of the match, by name.
        results: what each player won in the match, where `states` do not tell it.
        unit: what its results are counted in; empty: what the game's rewards are.
        names: the players' names in `states`; None: these have the game's own.
        game: the game with its options; None: only its id is known.
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
    details: dict[str, str] = field(default_factory=dict)
    results: dict[str, float] = field(default_factory=dict)
    unit: str = ""
    names: SeatNames | None = None
    game: Game | None = None

    @property
    def views(self) -> dict[str, list[TurnState]]:
        """The TurnStates of each view, as `Renderer.picture` takes them: one view with all seats, and one per seat."""
        every = {ALL: list(self.states.values())} if len(self.states) > 1 else {}
        return every | {agent: [state] for agent, state in self.states.items()}


def picture(states: Sequence[TurnState], names: SeatNames | None = None, game: Game | None = None) -> str:
    """Draw a view of a moment, for any game; None: the game of the states' id, with its default options.

    A small game's picture gets the game's own names of agents, as at a table, and `names` are written over them.

    Raises:
        ValueError: if the game is unknown, or its picture cannot be drawn from these states.
    """
    game_id = states[0].game_id
    try:
        game = game or game_of(game_id)
        if names is None or default_parts(game.view) is None:
            return game.renderer.picture(states)
        drawn = game.renderer.picture([names.for_game.state(state) for state in states])
        return re.sub(r"(?<=>)[^<]*\w[^<]*", lambda text: _renamed(text[0], names), drawn)
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise ValueError(f"a state of {game_id} that cannot be drawn: {error!r}") from error


def _renamed(words: str, names: SeatNames) -> str:
    """Return the text of an element with the players' names."""
    renamed = names.words_for_agents(unescape(words))
    return words if renamed == unescape(words) else escape(renamed)


@cache
def game_of(game_id: str) -> Game:
    """Return the game of a TurnState, with default options."""
    platform = PLATFORM_GAMES.get(game_id)
    return envs.game(platform.name if platform else game_id)


def distinct(names: Sequence[str], between: str = "-") -> list[str]:
    """Return the names, repeated ones with a number. No name is that of the view with all information."""
    taken = [ALL]
    for name in names:
        numbered = (f"{name}{between}{number}" for number in count(2))
        taken.append(next(one for one in chain([name], numbered) if one not in taken))
    return taken[1:]


AMOUNTS = {
    "pot", "stack", "bet", "committed", "amount", "min", "max", "toCall", "smallBlind", "bigBlind", "ante", "utility",
    "won",
}  # fmt: skip
"""The fields of a TurnState that are chips."""


def replay_hand(entry: Mapping[str, Any], match: int) -> Iterator[Moment]:
    """Play a hand of our poker host again, with all cards that are known."""
    table = dealt(entry)
    unit = unit_of(entry)
    named, title = names_of(entry), hand_title(entry)

    def states() -> dict[str, TurnState]:
        return {named[seat]: _seen(entry, table, seat, named) for seat in named}

    for action in entry["actions"]:
        if table.turn != action["seat"]:
            raise ValueError(f"hand {entry['hand']}: seat {action['seat']} acts, it is seat {int(table.turn)}'s turn")
        payload = {"amount": action["amount"]} if action["kind"] == "raiseTo" else {}
        answer = Action(action["kind"], payload)
        cause = {"timeout": "its time was up", "left": "it has left"}.get(action.get("cause", ""), "")
        words = sentence(answer, lambda amount: chips_text(amount / unit))
        think = str(action.get("think") or action.get("reasoning", ""))
        chances, value, who = action.get("probabilities", {}), action.get("value"), named[action["seat"]]
        yield Moment(match, title, states(), who, words, [], think, chances, value, cause)
        # A recorded raise where our rules do not reopen the betting; no host of ours writes it.
        move = rules.Move(RAISE, action["amount"]) if action.get("reopened") else parse(table, answer)
        if not isinstance(move, rules.Move):
            raise ValueError(f"hand {entry['hand']}: {move.error_detail}")
        if action is entry["actions"][-1]:
            before_showdown(entry, table)
        rules.step(table, move)
    yield Moment(match, title, states(), note=winners(entry, named), unit=currency_of(entry))


def names_of(entry: Mapping[str, Any]) -> dict[int, str]:
    """Return the players' names by seat, each of them once."""
    players = sorted(entry["players"], key=lambda row: row["seat"])
    names = distinct([str(row["name"] or row.get("agent_id") or f"seat {row['seat']}") for row in players])
    return dict(zip((row["seat"] for row in players), names, strict=True))


def hand_title(entry: Mapping[str, Any]) -> str:
    """Return the title of a logged hand."""
    return f"hand {entry['hand']}" + (f" · table {entry['table_id']}" if "table_id" in entry else "")


def unit_of(entry: Mapping[str, Any]) -> int:
    """Return the chips of one unit of money in a logged hand."""
    return int(10 ** entry.get("decimals", 0))


def in_words(action: str, state: TurnState | None) -> str:
    """Return an action as text: of hold'em as poker players say it, of other games as it is, but for a check."""
    kind, _, amount = action.partition(" ")
    if state is None or own_name(state.game_id) != _game().name or kind not in ("raiseTo", "call", "check", "fold"):
        return action if state is None or action != "call" else typed_word(action, state.allowed_actions)
    if kind == "raiseTo":
        opened = any(player["bet"] for player in state.game_state["players"])
        return f"{'raises to' if opened else 'bets'} {amount}"
    owed = state.game_state.get("toCall", 0) if kind == "call" else 0
    return "folds" if kind == "fold" else f"calls {chips_text(owed)}" if owed else "checks"


def currency_of(entry: Mapping[str, Any]) -> str:
    """Return the unit of the amounts of a logged hand: its currency, or chips."""
    return str(entry.get("currency", "")) or _game().payoffs.reward_name


def dealt(entry: Mapping[str, Any]) -> Any:
    """Return the record of a logged hand before its first action.

    The log of a hand that was not played by our rules has ``posted``: what `rules.deal_posted` needs.
    """
    table: Any = _game().tables(1)[0]
    table.small_blind, table.big_blind, table.ante = entry["small_blind"], entry["big_blind"], entry.get("ante", 0)
    cards, board = np.full((SEATS, 2), -1, np.int8), np.full(5, -1, np.int8)
    for row in entry["players"]:
        table.stack[row["seat"]] = row["stack"]
        if row["cards"]:  # none: they are not known
            cards[row["seat"]] = [card_number(card) for card in row["cards"]]
    board[: len(entry["board"])] = [card_number(card) for card in entry["board"]]
    table.dealer = entry["dealer"]
    if "posted" not in entry:
        rules.deal_known(table, cards, board)
        return table
    posted = entry["posted"]
    antes, blinds = np.zeros((2, SEATS), np.int64)
    antes[: len(posted["antes"])], blinds[: len(posted["blinds"])] = posted["antes"], posted["blinds"]
    table.big_blind = posted["least"]
    rules.deal_posted(table, cards, board, antes, blinds, posted["after"], posted["shared"])
    return table


def before_showdown(entry: Mapping[str, Any], table: Any) -> None:
    """Take the cards of those who do not show them, before the last action of a hand."""
    for seat in entry.get("mucked", ()):
        table.cards[seat] = -1


@cache
def _game() -> Game:
    """Return a game with room for any number of players. The stakes of a hand stand in its record."""
    game: Game = holdem(seats=SEATS)
    return game


def _seen(entry: Mapping[str, Any], table: Any, seat: int, named: Mapping[int, str]) -> TurnState:
    """Return the TurnState of a seat, without the empty seats, with the players' names, and money in its own unit."""
    state = _game().turn_state(table, seat, ())
    game = state.game_state
    posted = entry.get("posted", {})  # our rules do not count antes that are for the whole table as committed
    shared = zip(entry["players"], posted["antes"] if posted.get("shared") else (), strict=False)
    antes = {row["seat"]: min(ante, row["stack"]) for row, ante in shared}
    players = [
        row | {"name": named[row["seat"]], "committed": row["committed"] + antes.get(row["seat"], 0)}
        for row in game["players"]
        if row["seat"] in named
    ]
    stakes = {"smallBlind": entry["small_blind"], "bigBlind": entry["big_blind"], "ante": entry.get("ante", 0)}
    state.game_state = game | stakes | {"hand": entry["hand"], "players": players}
    if entry.get("currency"):
        state.game_state["currency"] = entry["currency"]
    ours = {f"player_{number}": name for number, name in named.items()}
    state.agent_id = named[seat]
    state.current_turn_agent_id = ours.get(state.current_turn_agent_id or "")
    if state.outcome is not None:
        rows = [row for row in state.outcome["payoffs"] if row["agent_id"] in ours]
        state.outcome |= {"payoffs": [row | {"agent_id": ours[row["agent_id"]]} for row in rows]}
    if entry.get("decimals"):
        unit = unit_of(entry)
        state.game_state, state.outcome = _in_units(state.game_state, unit), _in_units(state.outcome, unit)
    return state


def _in_units(value: Any, unit: int) -> Any:
    """Return a part of a TurnState with its amounts divided by `unit`."""
    if isinstance(value, dict):
        return {name: part / unit if name in AMOUNTS else _in_units(part, unit) for name, part in value.items()}
    return [_in_units(part, unit) for part in value] if isinstance(value, list) else value


def winners(entry: Mapping[str, Any], named: Mapping[int, str]) -> str:
    """Return who has won how much in a logged hand, as text."""

    def amount(chips: int) -> str:
        return f"{entry.get('currency', '')}{chips_text(chips / unit_of(entry))}"

    won = [f"{named[row['seat']]} takes {amount(row['won'])}" for row in entry["results"] if row["won"]]
    rake = [f"of which the house keeps {amount(entry['rake'])}"] if entry.get("rake") else []
    return ", ".join(won + rake)


def moments(path: str | PathLike[str] | bytes, reader: "LogReader | None" = None) -> Iterator[Moment]:
    """Return the moments of a log in order.

    Args:
        path: the file; or the log itself, as bytes.
        reader: reads it; None: a new one.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not a log, cannot be replayed, or has no decision.
    """
    reader, name = reader or LogReader(), "the log" if isinstance(path, bytes) else path
    for number, entry in _gathered(path):
        try:
            yield from reader.read(entry)
        except KeyError as error:
            raise ValueError(f"{name}, line {number}: a {entry['kind']!r} line lacks {error}") from error
        except (ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"{name}, line {number} does not replay: {error}") from error
    yield from reader.ended()  # the log has no line for it
    if reader.match < 0:
        raise ValueError(f"{name} has no decision to show")


def replay(path: str | PathLike[str] | bytes) -> envs.GameEnv:
    """Play the matches of a log again, and return the environment after the last one.

    Raises:
        OSError, ValueError: as `moments`; and if the log has no match.
    """
    reader = LogReader()
    deque(moments(path, reader), maxlen=0)
    if reader.env is None:
        raise ValueError(f"{path!r} holds no match")
    return reader.env


def _gathered(path: str | PathLike[str] | bytes) -> Iterable[tuple[int, dict[str, Any]]]:
    """Return the numbered lines of a log; the lines of games that a live agent played at the same time are grouped."""
    places: dict[str, int] = {}
    order, place = [], 0
    for entry in read(path):
        if entry["kind"] == "match":
            return enumerate(read(path), 1)
        state = entry.get("turn_state")
        game = (state.get("match_id") if isinstance(state, dict) else None) or entry.get("match_id")
        if game:
            place = places.setdefault(str(game), len(places))
        order.append(place)
    if all(place <= later for place, later in pairwise(order)):
        return enumerate(read(path), 1)
    return sorted(enumerate(read(path), 1), key=lambda line: order[line[0] - 1])


def agents_of(entry: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return ids and names of a match's agents, seat by seat; empty if they are called as the seats."""
    ids = entry.get("agent_ids") or [row["id"] for row in entry.get("agents", ())]
    names = entry.get("agent_ids") or [row.get("name") or row["id"] for row in entry.get("agents", ())]
    return ids, distinct(names)


class LogReader:
    """Reads a log line by line. It keeps notes and thoughts until the decision that they belong to.

    Attributes:
        match: the number of the match, from 0; −1 before the first.
        env: where a match is played again; None: none is.
    """

    def __init__(self) -> None:
        self.match = -1
        self.env: envs.GameEnv | None = None
        self._game: tuple[str, Mapping[str, Any]] | None = None
        self._open = False
        self._names: SeatNames | None = None
        self._renamed: dict[str, str] = {}  # texts of this match, as `_words` returns them
        self._name_of_id: dict[str, str] = {}  # agents by their ids
        self._title = ""
        self._about: dict[str, Any] = {}  # what all moments of a match share
        self._thought: dict[str, str] = {}
        self._notes: list[str] = []
        self._seen: dict[str, TurnState] = {}  # the state of a live agent at its latest turn
        self._table, self._hand = 0, inf  # of a poker agent: its table, counted, and the latest hand there
        self._live: str | None = None  # of live logs: the table, or the match's id

    def read(self, entry: Mapping[str, Any]) -> Iterator[Moment]:
        """Return the moments of a line of the log."""
        kind = entry["kind"]
        if kind == "ended":  # the next hand is at another table
            self._hand = inf
        if kind == "match":
            yield from self.ended()
            self._begin(entry)
        elif kind == "turn" and "turn_state" in entry:
            yield self._live_turn(entry)
        elif kind in ("turn", "message"):
            yield self._played(entry)
        elif kind == "event":  # the thoughts of a mafia agent, which the host logs in parts before the decision
            if entry["event"]["eventType"] == "AGENT_THINK_STREAM":
                payload = entry["event"]["payload"]
                who = self._name_of_id.get(payload["agentId"], payload["agentId"])
                self._thought[who] = self._thought.get(who, "") + str(payload["chunk"])
        elif kind == "rejected":
            result = entry["result"]
            self._notes.append(f"{entry['agent_id']} was refused: {result.get('error_detail') or result.get('error')}")
        elif kind in ("failed", "fault"):
            self._notes.append(f"{entry['agent_id']} failed: {entry['problem']}")
        elif kind == "hand" and "players" in entry:
            self.match += 1
            yield from replay_hand(entry, self.match)
        elif kind in ("hand", "ended") and self._seen:
            net = dict.fromkeys(self._seen, entry["net"]) if "net" in entry else {}  # one agent writes this log
            yield Moment(self.match, self._title, self._seen, note=_result(entry), results=net)
            self._seen = {}
        elif kind == "end" and self.env is not None:
            self._notes.append(self._disagreement(entry.get("outcome") or {}))

    def ended(self) -> Iterator[Moment]:
        """Return the end of the match that is played again, if there is one."""
        if self._open:
            if self.env is not None and not self.env.table.done and not self._notes:
                self._notes.append("the log ends here, before the match does")
            yield Moment(self.match, self._title, self._states(), note=self._note(), **self._about)
        self._open = False

    def _disagreement(self, outcome: Mapping[str, Any]) -> str:
        """Return where a log's outcome is not that of the rules, as text; empty: they agree."""
        assert self.env is not None
        if not self.env.table.done:
            return f"ended before the rules do: {outcome.get('reason')}"
        by_rules = self.env.turn_state(self.env.possible_agents[0]).outcome or {}
        recorded, computed = ([row.get("utility") for row in end.get("payoffs", ())] for end in (outcome, by_rules))
        if not recorded or not computed or recorded == computed:
            return ""
        return f"the log's payoffs are {recorded}, but its decisions lead to {computed}"

    def _begin(self, entry: Mapping[str, Any]) -> None:
        if entry["seed"] is None:
            raise ValueError("the match has no seed in the log, and cannot be played again")
        played = entry["game"], entry["options"]
        if self.env is None or self._game != played:
            with no_files():
                self.env, self._game = envs.GameEnv(envs.game(played[0], **played[1]), "flat"), played
        self.env.reset(seed=entry["seed"], options=entry.get("setup"))
        (ids, names), seats = agents_of(entry), self.env.possible_agents
        self._name_of_id = dict(zip(ids, names, strict=True))
        if names and len(names) != len(seats):
            agents = counted(len(names), "agents")
            raise ValueError(f"{agents} for the {counted(len(seats), 'seats')} of {entry['game']}")
        self._names = SeatNames(names, seats) if names and names != seats else None
        self.match, self._open = self.match + 1, True
        self._title = str(entry.get("match_id", self.env.match.match_id))
        options = {name: value for name, value in entry["options"].items() if value is not None}
        details = {"game": entry["game"], "seed of the match": str(entry["seed"])}
        if options:
            details["options"] = ", ".join(f"{name}={value}" for name, value in options.items())
        self._about = {"details": details, "names": self._names, "game": self.env.game}
        self._thought.clear()
        self._renamed.clear()

    def _states(self) -> dict[str, TurnState]:
        assert self.env is not None
        states = [self.env.turn_state(agent) for agent in self.env.possible_agents]
        if self._names is not None:
            states = [self._names.for_agents.state(state) for state in states]
            for state in states:
                for message in state.messages:
                    message.content = self._words(message.content)
        return {state.agent_id: state for state in states}

    def _words(self, words: str) -> str:
        """Return a text with the players' names in place of the seats' names, unless a player is named like a seat."""
        if self._names is None or self._names.agent_of.keys() & self._names.seat_of:
            return words
        if words not in self._renamed:
            self._renamed[words] = self._names.words_for_agents(words)
        return self._renamed[words]

    def _intent(self, intent: MessageIntent) -> MessageIntent:
        return MessageIntent(intent.scope, self._words(intent.content), intent.to_agent_ids)

    def _played(self, entry: Mapping[str, Any]) -> Moment:
        if self.env is None or not self._open:
            raise ValueError("it begins in the middle of a match")
        agent = entry["agent"] if self._names is None else self._names.agent_of.get(entry["agent"], entry["agent"])
        if entry["kind"] == "message":
            said = [self._intent(MessageIntent.from_dict(entry["intent"]))]
            decision = Moment(self.match, self._title, self._states(), agent, "says", said, **self._about)
            result = self.env.send(entry["agent"], entry["intent"])
        else:
            answer = _answer(entry["response"])
            decision = self._decision(entry, agent, answer, self._states())
            talk = self.env.game.capabilities.talk
            if talk is not None and talk.action_messages is not None:
                messages = talk.action_messages(self.env.table, answer.action)
                decision.said += [self._intent(message) for message in messages]
            result = self.env.submit(entry["agent"], entry["response"])
        if not result.ok:
            raise ValueError(f"{entry['agent']} {result.error}: {result.error_detail}")
        return decision

    def _live_turn(self, entry: Mapping[str, Any]) -> Moment:
        state = TurnState.from_dict(entry["turn_state"])
        table = state.match_id or str(entry.get("table_id", ""))
        hand = state.game_state.get("hand")
        if own_name(state.game_id) == _game().name and isinstance(hand, int):  # at a poker table a hand is a match
            self._table += hand < self._hand or (hand == self._hand and not self._seen)
            self._hand = hand
            table = f"{table or f'table {self._table}'} · hand {hand}"
        if table != self._live:
            self.match, self._live = self.match + 1, table
            self._title = f"{state.game_id} · {table}"
        self._seen = {state.agent_id: state}
        response = entry.get("response")
        answer = None if response is None else _answer(response)
        return self._decision(entry, state.agent_id, answer, self._seen)

    def _decision(
        self, entry: Mapping[str, Any], agent: str, answer: AgentResponse | None, states: dict[str, TurnState]
    ) -> Moment:
        if answer is not None and self._names is not None:
            answer = self._names.for_agents.response(answer)
            if isinstance(text := answer.action.payload.get("text"), str):
                answer.action.payload["text"] = self._words(text)
        for name in ("replaced", "problem"):
            if entry.get(name):
                self._notes.append(f"replaced by the safe action: {entry[name]}")
        chances = dict(entry.get("probabilities") or {}).items()
        thought = [self._thought.pop(agent, ""), str(entry.get("think") or "")]
        words, said = "no answer", list[MessageIntent]()
        if answer is not None:
            payload, said = answer.action.payload, [self._intent(intent) for intent in answer.messages]
            thought += [f"{name}: {payload[name]}" for name in BESIDE if payload.get(name)]
            left = {name: value for name, value in payload.items() if name not in BESIDE}
            words = sentence(Action(answer.action.action_type, left))
        think = self._words("\n".join(filter(None, thought)))
        probabilities = {self._words(str(name)): _finite(chance) for name, chance in chances}
        value = None if entry.get("value") is None else _finite(entry["value"])
        decided = states, agent, words, said, think, probabilities, value
        return Moment(self.match, self._title, *decided, self._note(), **self._about)

    def _note(self) -> str:
        text = "\n".join(note for note in self._notes if note)
        self._notes.clear()
        return text


def _result(entry: Mapping[str, Any]) -> str:
    """Return the end of a live hand or match as text, from what its agent knows."""
    won = "net" if "net" in entry else "won"  # from the pots, with one's own bets
    facts = [f"{name} {entry[name]}" for name in (won, "stack", "reason", "turns", "plays") if name in entry]
    outcome = entry.get("outcome") or {}
    facts += [f"{name} {outcome[name]}" for name in ("winner", "reason") if outcome.get(name)]
    revealed = [row for row in entry.get("results") or () if row.get("cards")]
    facts += [f"seat {row['seat']} had {' '.join(row['cards'])}, {row.get('rank') or 'not shown'}" for row in revealed]
    return ", ".join(facts)


def _finite(value: Any) -> float:
    if not isfinite(number := float(value)):
        raise ValueError(f"{value!r} is not a finite number")
    return number


BESIDE = ("reason", "metadata")
"""Fields of a payload that explain an action and do not change it. They are shown as thoughts, not as the action."""


def _answer(response: Any) -> AgentResponse:
    if isinstance(response, Mapping) and "action_type" in response:
        return AgentResponse(Action.from_dict(response))
    return AgentResponse.from_dict(response)
