"""A match of an arena, without I/O: the order of turns, limits, refusals, and the cost of mistakes.

It has no socket and no clock: the shell calls `MatchSession.failed` where an agent raised, vanished or was late.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

from ....envs.core import turn_state as ts
from ....envs.core.game import Game
from ....envs.core.match import WAITS_PER_TURN, Match
from ....envs.core.options import AT_LEAST_0, AT_LEAST_1, NO_LIMIT, Checked, whole
from ....envs.core.turn_state import MESSAGES_PER_TURN, Action, ActionResult, AgentResponse, MessageIntent, TurnState
from ...agents.base import SeatNames
from ...agents.schemas import IDLE
from .player import plain, read_response

Cost = Literal["keep", "pass", "end"]
"""What a mistake costs: nothing, the turn (the safe action is played), or the match (the error is recorded)."""

USUAL = -1


@dataclass(frozen=True, kw_only=True)
class MatchLimits(Checked):
    """Limits of a match, and the cost of mistakes.

    Attributes:
        actions: game actions of a match, after which it ends with what has been won so far; None: no limit;
            -1: 20 for two agents, no limit for more.
        messages: messages of an agent in one turn, 0 to 10.
        waits: `message_only` actions in one turn, 0 to 10; the next one plays the safe action.
        stale: turns in a row with no action but `pass`, or waits, after which `message_only` is not offered, until an
            agent acts; at least 0. A pass stays: it is a move of some games.
        attempts: mistakes in one turn that "keep" forgives; the last one costs the turn.
        rejected: what a rejected answer costs.
        failed: what an exception, a lost connection or a late answer costs.

    Raises:
        ValueError: naming one that is out of its range.
    """

    actions: Annotated[int | None, lambda name, value: value == USUAL or NO_LIMIT(name, value)] = USUAL
    messages: Annotated[int, partial(whole, low=0, high=MESSAGES_PER_TURN)] = MESSAGES_PER_TURN
    waits: Annotated[int, partial(whole, low=0, high=WAITS_PER_TURN)] = WAITS_PER_TURN
    stale: Annotated[int, AT_LEAST_0] = 10
    attempts: Annotated[int, AT_LEAST_1] = 3
    rejected: Cost = "keep"
    failed: Cost = "pass"


class MatchSession:
    """One match, with `Match` as its referee.

    Args:
        game: the game; or a referee of it, which is reset and must not be used by others meanwhile.
        agent_ids: the players, seat by seat.
        seed: of the match; None for fresh entropy.
        match_id: the arena's name for it; default: a random one.
        limits: see `MatchLimits`.

    Attributes:
        match: the referee.
        turn: the id of the agent that decides next; None when the match is over.
        actions: game actions so far, forced ones included.
        payoffs: what each agent has won so far.
        rejections, failures, forced: by agent: answers refused, failures, safe actions played in its place.
        outcome: None while it runs; ``{payoffs, reason, …}``, with the game's own fields as the first seat sees them.
        error: what ended the match, where a mistake did.
        events: what happened, as lines for a match log. Seats have the game's names there, so that the log replays.

    Raises:
        ValueError: if there are not as many agents as seats, or two have one id.
    """

    def __init__(
        self,
        game: Game | Match,
        agent_ids: Sequence[str],
        *,
        seed: int | None = None,
        match_id: str | None = None,
        limits: MatchLimits | None = None,
    ) -> None:
        self.match = game if isinstance(game, Match) else Match(game)
        self.game = self.match.game
        if len(agent_ids) != self.game.seats or len(set(agent_ids)) != len(agent_ids):
            raise ValueError(f"agents {', '.join(agent_ids)}: {self.game.id} needs {self.game.seats} different ones")
        self.agent_ids = list(agent_ids)
        self.limits = limits or MatchLimits()
        usual = 20 if len(agent_ids) == 2 else None
        self._most = usual if self.limits.actions == USUAL else self.limits.actions
        self._names = SeatNames(self.agent_ids, self.game.agents)
        self.match.reset(seed=seed)
        self.match_id = match_id or f"{self.game.id}-{secrets.token_hex(8)}"
        self.actions = 0
        self.payoffs = dict.fromkeys(self.agent_ids, 0.0)
        self.rejections, self.failures, self.forced = (dict.fromkeys(self.agent_ids, 0) for _ in range(3))
        self.turn: str | None = self._acting()
        self._stale = 0
        self.outcome: dict[str, Any] | None = None
        self.error: str | None = None
        self._new_turn()
        about = {"kind": "match", "game": self.game.id, "options": self.game.options, "seed": seed}
        self.events: list[dict[str, Any]] = [{**about, "match_id": self.match_id, "agent_ids": self.agent_ids}]

    def turn_state(self, agent_id: str) -> TurnState:
        """Return the agent's TurnState, at any time: a copy.

        Raises:
            ValueError: if it is not in the match.
        """
        if agent_id not in self._names.seat_of:
            raise ValueError(f"{agent_id!r} is not one of {', '.join(self.agent_ids)}")
        state = self._names.for_agents.state(self.seat_state(agent_id))
        if self.outcome is not None and not state.game_over:
            state.is_my_turn, state.current_turn_agent_id, state.allowed_actions = False, None, []
            state.game_over, state.outcome = True, self.outcome
        return state

    def act(self, agent_id: str, answer: Any, thoughts: Mapping[str, Any] | None = None) -> ActionResult:
        """Take an answer of any kind (see `read_response`). Recipients that are not in the match are left out.

        Args:
            agent_id: the agent.
            answer: its answer.
            thoughts: its notes on the answer, for the log.

        Returns:
            ok, or a documented error code with a sentence. In its own turn a refusal costs what the limits say.
        """
        if (problem := self._barred(agent_id)) is not None:
            return problem
        # Counted before they are read: thousands of empty ones would keep the event loop from everybody else.
        said = answer.get("messages") if isinstance(answer, Mapping) else getattr(answer, "messages", None)
        problem = self._too_many(agent_id, len(said) if isinstance(said, (list, tuple)) else 0)
        if problem is None:
            try:
                response = read_response(answer)
                problem = self._too_many(agent_id, len(response.messages))  # of whatever else holds messages
            except ValueError as error:
                problem = ts.refused(ts.INVALID_PAYLOAD, str(error))
        if problem is not None:
            return self._refuse(agent_id, problem)
        response.messages = self._names.without_strangers(response.messages)
        talk = self.game.capabilities.talk
        if talk is not None and talk.interpret is not None:
            response.action = talk.interpret(self.match.table, response.action, self.agent_ids)
        return self._submit(agent_id, self._names.for_game.response(response), thoughts)

    def seat_state(self, agent_id: str) -> TurnState:
        """Return the agent's TurnState with the game's own names, for our policies."""
        state = self.match.turn_state(self._names.seat_of[agent_id])
        state.match_id = self.match_id
        decisive = [offer for offer in state.allowed_actions if offer.action_type != IDLE[1]]
        if self._stale >= self.limits.stale and decisive:
            state.allowed_actions = decisive
        return state

    def act_as_seat(
        self, agent_id: str, response: AgentResponse, thoughts: Mapping[str, Any] | None = None
    ) -> ActionResult:
        """Do the same as `act` for an answer with the game's own names; `thoughts` are written to the log."""
        if (problem := self._barred(agent_id)) is not None:
            return problem
        if (problem := self._too_many(agent_id, len(response.messages))) is not None:
            return self._refuse(agent_id, problem)
        return self._submit(agent_id, self._names.text_for_agents(response), thoughts)

    def _submit(self, agent_id: str, response: AgentResponse, thoughts: Mapping[str, Any] | None) -> ActionResult:
        """Submit an answer to the referee."""
        over = self._waited == self.limits.waits or self._stale >= self.limits.stale
        only_talked = response.action.action_type == "message_only" and over
        if only_talked and not response.action.payload:
            response.action = self._safe()
        seat = self._names.seat_of[agent_id]
        result = self.match.submit(seat, response)
        if not result.ok:
            return self._refuse(agent_id, result)
        if response.messages:
            self._sent[agent_id] = self._sent.get(agent_id, 0) + len(response.messages)
        note = {"replaced": "it only talked"} if only_talked else dict(thoughts or {})
        self.forced[agent_id] += only_talked
        self._played(agent_id, response, **note)
        return result

    def send(self, agent_id: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Send one message, in turn or out of it. It never moves the turn, and a refusal costs nothing.

        Recipients that are not in the match are left out; a private message without any is seen by its sender alone.
        """
        if (problem := self._barred(agent_id, in_turn=False)) is not None:
            return problem
        try:
            given = MessageIntent.from_dict(plain(intent))
        except (ValueError, TypeError, RecursionError) as error:
            return ts.refused(ts.INVALID_PAYLOAD, str(error))
        if (problem := self._too_many(agent_id, 1)) is not None:
            return problem
        seat = self._names.seat_of[agent_id]
        (message,) = self._names.for_game.intents(self._names.without_strangers([given]))
        result = self.match.send(seat, message)
        if result.ok:
            self._sent[agent_id] = self._sent.get(agent_id, 0) + 1
            self.events.append({"kind": "message", "agent": seat, "intent": message})
        return result

    def failed(self, agent_id: str, problem: str, cost: Cost | None = None) -> ActionResult:
        """Record that the acting agent gave no answer, and what that costs (None: what the limits say)."""
        if (refusal := self._barred(agent_id)) is None:
            self.failures[agent_id] += 1
            self.events.append({"kind": "failed", "agent_id": agent_id, "problem": problem})
            self._pay(agent_id, cost or self.limits.failed, problem)
        return refusal or ts.accepted()

    def timeout(self, agent_id: str) -> ActionResult:
        """Record that the agent's time is over. Where a failure costs nothing ("keep"), this costs the turn."""
        return self.failed(agent_id, "no answer in time", "pass" if self.limits.failed == "keep" else None)

    # Below: not for others.

    def _barred(self, agent_id: str, in_turn: bool = True) -> ActionResult | None:
        if agent_id not in self._names.seat_of:
            return ts.refused(ts.AGENT_NOT_IN_MATCH, f"{agent_id!r} is not one of {', '.join(self.agent_ids)}")
        if self.outcome is not None:
            return ts.refused(ts.MATCH_NOT_RUNNING, f"match {self.match_id} is over")
        if in_turn and agent_id != self.turn:
            seen = self.game.visible_turn(self.match.table, self.game.agents.index(self._names.seat_of[agent_id]))
            whose = "another" if seen is None else self._names.agent_of[seen]
            return ts.refused(ts.NOT_YOUR_TURN, f"{agent_id} cannot act: it is {whose}'s turn")
        return None

    def _too_many(self, agent_id: str, count: int) -> ActionResult | None:
        if self._sent.get(agent_id, 0) + count > self.limits.messages:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"{self.limits.messages} messages a turn are the limit")
        return None

    def _safe(self) -> Action:
        return self.game.view.encode(self.match.table, self.game.view.safe(self.match.table)).action

    def _new_turn(self) -> None:
        self._waited = 0
        self._mistakes = 0
        self._sent: dict[str, int] = {}

    def _refuse(self, agent_id: str, result: ActionResult) -> ActionResult:
        self.rejections[agent_id] += 1
        self.events.append({"kind": "rejected", "agent_id": agent_id, "result": result})
        self._pay(agent_id, self.limits.rejected, f"{result.error}: {result.error_detail}")
        return result

    def _pay(self, agent_id: str, cost: Cost, problem: str) -> None:
        """Apply the cost of a mistake in the agent's turn."""
        self._mistakes += 1
        if cost == "end":
            self.error = f"{agent_id}: {problem}"
            self._end(self._cut_short("error") | {"error": self.error})
        elif cost == "pass" or self._mistakes >= self.limits.attempts:
            response = AgentResponse(self._safe())
            result = self.match.submit(self._names.seat_of[agent_id], response)
            if not result.ok:
                raise RuntimeError(f"{self.game.id} refuses its own safe action: {result.error_detail}")
            self.forced[agent_id] += 1
            self._played(agent_id, response, replaced=problem)

    def _played(self, agent_id: str, response: AgentResponse, **note: Any) -> None:
        """Go on after an accepted answer, which the referee has already carried out."""
        seat = self._names.seat_of[agent_id]
        self.events.append({"kind": "turn", "agent": seat, "response": response, **note})
        self._stale = self._stale + 1 if response.action.action_type in IDLE else 0
        if response.action.action_type == "message_only":
            self._waited += 1
            return
        self.actions += 1
        self._new_turn()
        for name, reward in zip(self.agent_ids, self.match.rewards, strict=True):
            self.payoffs[name] += reward
        if self.match.done:
            self._end(self._names.for_agents.state(self.match.turn_state(self.game.agents[0])).outcome or {})
        elif self.actions == self._most:
            self._end(self._cut_short("max_actions_exceeded"))
        else:
            self.turn = self._acting()

    def _acting(self) -> str:
        return self._names.agent_of[self.game.agents[self.match.turn]]

    def _cut_short(self, reason: str) -> dict[str, Any]:
        payoffs = [{"agent_id": name, "utility": won} for name, won in self.payoffs.items()]
        return {"payoffs": payoffs, "reason": reason}

    def _end(self, outcome: dict[str, Any]) -> None:
        self.turn = None
        self.outcome = outcome
        self.events.append({"kind": "end", "outcome": outcome})
