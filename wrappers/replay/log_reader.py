"""Reads a match log and returns its moments.

It reads all logs of Parlour: matches in an environment or an arena (played again from their seed), poker tables (hands
with all cards, played again), and live agents (the states of one seat at its turns).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import inf, isfinite
from os import PathLike
from typing import Any

from ... import envs
from ...envs.core.counted import counted
from ...envs.core.files import no_files
from ...envs.core.turn_state import Action, AgentResponse, MessageIntent, TurnState
from ..agents.base import sentence
from ..live.common.seat_names import SeatNames
from ..logs.match_log import read
from .moment import Moment, distinct
from .poker_hands import hand_number, replay_hand


def moments(path: str | PathLike[str] | bytes) -> Iterator[Moment]:
    """Return the moments of a log in order.

    Args:
        path: the file; or the log itself, as bytes.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is not a log, cannot be replayed, or has no decision.
    """
    reader = LogReader()
    empty = True
    source, path = path, "the log" if isinstance(path, bytes) else path
    for number, entry in _gathered(source):
        try:
            for moment in reader.read(entry):
                empty = False
                yield moment
        except KeyError as error:
            raise ValueError(f"{path}, line {number}: a {entry['kind']!r} line lacks {error}") from error
        except (ValueError, TypeError, IndexError, AttributeError, OverflowError, RecursionError) as error:
            raise ValueError(f"{path}, line {number} does not replay: {error}") from error
    last = reader.close()
    if last is not None:
        yield last
    elif empty:
        raise ValueError(f"{path} has no decision to show")


def _gathered(path: str | PathLike[str] | bytes) -> Iterable[tuple[int, dict[str, Any]]]:
    """Return the numbered lines of a log; the lines of games that a live agent played at the same time are grouped."""
    places: dict[str, int] = {}
    order, place = [], 0
    for entry in read(path):
        if entry["kind"] == "match":
            return enumerate(read(path), 1)
        if game := _game_of(entry):
            place = places.setdefault(game, len(places))
        order.append(place)
    if all(place <= later for place, later in pairwise(order)):
        return enumerate(read(path), 1)
    return sorted(enumerate(read(path), 1), key=lambda line: order[line[0] - 1])


def _game_of(entry: Mapping[str, Any]) -> str:
    state = entry.get("turn_state")
    return str((state.get("match_id") if isinstance(state, dict) else None) or entry.get("match_id") or "")


def agents_of(entry: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return ids and names of a match's agents, seat by seat; empty if they are called as the seats."""
    ids = entry.get("agent_ids") or [row["id"] for row in entry.get("agents", ())]
    names = entry.get("agent_ids") or [row.get("name") or row["id"] for row in entry.get("agents", ())]
    return ids, distinct(names)


class LogReader:
    """Reads a log line by line. It keeps notes and thoughts until the decision that they belong to."""

    def __init__(self) -> None:
        self.match = -1
        self._env: envs.GameEnv | None = None
        self._game: tuple[str, Mapping[str, Any]] | None = None
        self._open = False
        self._names: SeatNames | None = None
        self._renamed: dict[str, str] = {}  # texts of this match, as `_words` returns them
        self._name_of_id: dict[str, str] = {}  # agents by their ids
        self._title = ""
        self._details: dict[str, str] = {}
        self._thought: dict[str, str] = {}
        self._notes: list[str] = []
        self._seen: dict[str, TurnState] = {}  # the state of a live agent at its latest turn
        self._table, self._hand = 0, inf  # of a poker agent: its table, counted, and the latest hand there
        self._tables: dict[str, int] = {}  # of live logs: the match of each table or match id

    def read(self, entry: Mapping[str, Any]) -> Iterator[Moment]:
        """Return the moments of a line of the log."""
        kind = entry["kind"]
        if kind == "ended":  # the next hand is at another table
            self._hand = inf
        if kind == "match":
            yield from self._ended()
            self._begin(entry)
        elif kind == "turn" and "turn_state" in entry:
            yield self._live_turn(entry)
        elif kind in ("turn", "message"):
            yield self._played(entry)
        elif kind == "event":
            self._record_thought(entry["event"])
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
        elif kind == "end" and self._env is not None:
            self._notes.append(self._disagreement(entry.get("outcome") or {}))

    def close(self) -> Moment | None:
        """Return the end of the last match if the log has no line for it."""
        return next(self._ended(), None)

    def _ended(self) -> Iterator[Moment]:
        if self._open:
            if self._env is not None and not self._env.table.done and not self._notes:
                self._notes.append("the log ends here, before the match does")
            yield Moment(self.match, self._title, self._states(), note=self._note(), **self._about)
        self._open = False

    def _disagreement(self, outcome: Mapping[str, Any]) -> str:
        """Return where a log's outcome is not that of the rules, as text; empty: they agree."""
        assert self._env is not None
        if not self._env.table.done:
            return f"ended before the rules do: {outcome.get('reason')}"
        by_rules = self._env.turn_state(self._env.possible_agents[0]).outcome or {}
        recorded, computed = ([row.get("utility") for row in end.get("payoffs", ())] for end in (outcome, by_rules))
        if not recorded or not computed or recorded == computed:
            return ""
        return f"the log's payoffs are {recorded}, but its decisions lead to {computed}"

    def _begin(self, entry: Mapping[str, Any]) -> None:
        if entry["seed"] is None:
            raise ValueError("the match has no seed in the log, and cannot be played again")
        played = entry["game"], entry["options"]
        if self._env is None or self._game != played:
            with no_files():
                self._env, self._game = envs.GameEnv(envs.game(played[0], **played[1]), "flat"), played
        self._env.reset(seed=entry["seed"], options=entry.get("setup"))
        ids, names = agents_of(entry)
        self._name_of_id = dict(zip(ids, names, strict=True))
        seats = self._env.possible_agents
        if names and len(names) != len(seats):
            agents = counted(len(names), "agents")
            raise ValueError(f"{agents} for the {counted(len(seats), 'seats')} of {entry['game']}")
        self._names = SeatNames(names, seats) if names and names != seats else None
        self.match += 1
        self._open = True
        self._title = str(entry.get("match_id", self._env.match.match_id))
        options = {name: value for name, value in entry["options"].items() if value is not None}
        self._details = {"game": entry["game"], "seed of the match": str(entry["seed"])}
        if options:
            self._details["options"] = ", ".join(f"{name}={value}" for name, value in options.items())
        self._thought.clear()
        self._renamed.clear()

    def _record_thought(self, event: Mapping[str, Any]) -> None:
        """Collect the thoughts of a mafia agent, which the host logs in parts before the decision."""
        if event["eventType"] == "AGENT_THINK_STREAM":
            payload = event["payload"]
            who = self._name_of_id.get(payload["agentId"], payload["agentId"])
            self._thought[who] = self._thought.get(who, "") + str(payload["chunk"])

    @property
    def _about(self) -> dict[str, Any]:
        """What all moments of a match share."""
        game = None if self._env is None else self._env.game
        return {"details": self._details, "names": self._names, "game": game}

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
        """Return a text with the players' names in place of the seats' names, unless a player is named like a seat."""
        if self._names is None or self._names.agent_of.keys() & self._names.seat_of:
            return words
        if words not in self._renamed:
            self._renamed[words] = self._names.words_for_agents(words)
        return self._renamed[words]

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
            messages = [self._intent(intent)]
            decision = Moment(
                self.match, self._title, self._states(), self._name(agent), "says", messages, **self._about
            )
            result = self._env.send(agent, intent)
        else:
            answer = _answer(entry["response"])
            decision = self._decision(entry, self._name(agent), answer, self._states())
            decision.said += self._action_messages(answer.action)
            result = self._env.submit(agent, entry["response"])
        if not result.ok:
            raise ValueError(f"{agent} {result.error}: {result.error_detail}")
        return decision

    def _action_messages(self, action: Action) -> list[MessageIntent]:
        """Return the messages of an action, in games whose actions send messages."""
        assert self._env is not None
        game = self._env.game
        talk = game.capabilities.talk
        if talk is None or talk.action_messages is None:
            return []
        return [self._intent(message) for message in talk.action_messages(self._env.table, action)]

    def _live_turn(self, entry: Mapping[str, Any]) -> Moment:
        state = TurnState.from_dict(entry["turn_state"])
        table = state.match_id or str(entry.get("table_id", ""))
        hand = hand_number(state)
        if hand is not None:  # at a poker table every hand is a match
            self._table += hand < self._hand or (hand == self._hand and not self._seen)
            self._hand = hand
            table = f"{table or f'table {self._table}'} · hand {hand}"
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
        answer, reasons = _without_reasons(answer)
        thought = [self._thought.pop(agent, ""), str(entry.get("think") or ""), *reasons]
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
            **self._about,
        )

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
    shown = [row for row in entry.get("results") or () if row.get("cards")]
    facts += [f"seat {row['seat']} had {' '.join(row['cards'])}, {row.get('rank') or 'not shown'}" for row in shown]
    return ", ".join(facts)


def _finite(value: Any) -> float:
    if not isfinite(number := float(value)):
        raise ValueError(f"{value!r} is not a finite number")
    return number


BESIDE = ("reason", "metadata")
"""Fields of a payload that explain an action and do not change it. They are shown as thoughts, not as the action."""


def _without_reasons(answer: AgentResponse | None) -> tuple[AgentResponse | None, list[str]]:
    """Return an answer without the fields that explain its action, and these fields as text."""
    if answer is None:
        return None, []
    action = answer.action
    left = {name: value for name, value in action.payload.items() if name not in BESIDE}
    reasons = [f"{name}: {action.payload[name]}" for name in BESIDE if action.payload.get(name)]
    return AgentResponse(Action(action.action_type, left), answer.messages), reasons


def _answer(response: Any) -> AgentResponse:
    if isinstance(response, Mapping) and "action_type" in response:
        return AgentResponse(Action.from_dict(response))
    return AgentResponse.from_dict(response)
