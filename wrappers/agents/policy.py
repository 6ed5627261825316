"""PolicyAgent: a policy as an agent that answers TurnStates. And a policy and agents that plan.

They plan by a beam search with the environment's own step, on top of any policy. The policy's probabilities say which
branches are likely; the `width` likeliest are kept at each depth, without those that are hopeless. The search ends when
a branch reaches the goal, when none is left, or when its time is over. The policy's own action stands ready from the
start, and is played where no plan is found in time.

Where others have made a table hopeless, the search plans from what is left once the fewest moves are taken back.
`SearchPolicy` then plays what the menu offers towards that plan; `SearchAgent` is not bound to the menu.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ...envs import Action, AgentResponse, Game, TurnState
from ...envs.core.plain_start import PLAIN_START
from ...envs.core.record import Tables
from ...envs.core.rollout import act_of, encoder_of
from ...envs.core.vector import NO_ACTION
from ..logs.match_log import describe_error
from ..policies.base import Policy
from .base import call_optional, search_seconds, sentence
from .schemas import acceptable, fitted, nearest_open, offered_mask, quiet_action


class PolicyAgent:
    """A policy as an agent: TurnState → record → observation → action index → documented payload.

    Args:
        game: the game the policy was trained for. A live table may have more or fewer seats (see `View.load`).
        policy: the policy. It gets the observations of its own encoder.

    Attributes:
        on_turn: called with every state before it is answered, except in `warm_up`; None: no call.

    Raises:
        ValueError: if the game does not have the policy's encoder, or it shows hidden information.
    """

    def __init__(self, game: Game, policy: Policy) -> None:
        self.game = game
        self.policy = policy
        self.on_turn: Callable[[TurnState], None] | None = None
        self._encoder = game.encoders[encoder_of(policy, game)]
        self._seen: tuple[Any, NDArray[np.float32], NDArray[np.int8]] | None = None

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn with one of the state's ``allowed_actions``.

        If the host offers fewer actions than the rules, or narrower bounds, the policy's mask has only these. If the
        policy still chooses another action, as a scripted player may, or one that is worth less than the outside option
        (see `acceptable`), the nearest one of `nearest_open` is played.

        Raises:
            ValueError: if `state` belongs to another game, its seat has no legal action, or the policy chose an
                illegal action.
            KeyError, TypeError: if `state` lacks a field.
        """
        name, _, _ = state.game_id.partition("-")
        if name != self.game.name:
            raise ValueError(f"a policy for {self.game.id} cannot play {state.game_id!r}")
        if self.on_turn is not None:
            self.on_turn(state)
        tables, seat = self.game.load(state)
        self.game.view.familiar(tables[0])
        mask = self.game.mask(tables[0], seat)
        if not mask.any():
            raise ValueError(f"{state.agent_id} has no legal action: it is not its turn")
        legal, mask = mask, offered_mask(self.game, tables[0], mask, state.allowed_actions)
        if not mask.any():
            self._seen = None
            return AgentResponse(quiet_action(state.allowed_actions))
        call_optional(self.policy, "set_terms", tables[0])
        observation = self._encoder.observation(tables[0], seat)
        self._seen = tables[0], observation[None], mask[None]
        chosen = act_of(self.policy, tables, np.zeros(1, np.int64), observation[None], mask[None])
        action = int(np.asarray(chosen).reshape(-1)[0])
        if not 0 <= action < len(legal) or not legal[action]:
            opened = np.flatnonzero(mask).tolist()
            raise ValueError(f"the policy chose action {action}, which is masked; open are {opened}")
        kept = acceptable(self.game, tables[0], mask)
        if not kept[action]:
            action = nearest_open(self.game, tables[0], action, kept)
        return fitted(self.game.view.encode(tables[0], action), state.allowed_actions)

    def set_seconds_left(self, seconds: float | None) -> None:
        """Set the time left for the next answer of a policy that searches; None: no limit."""
        call_optional(self.policy, "set_seconds_left", seconds)

    def thoughts(self) -> dict[str, Any]:
        """Return the probabilities of the answers to the latest turn and the value, if the policy has them."""
        if self._seen is None or not hasattr(self.policy, "probabilities"):
            return {}
        table, observations, masks = self._seen
        chances = self.policy.probabilities(observations, masks)[0]
        values = self.policy.values(observations) if hasattr(self.policy, "values") else None
        value = None if values is None else float(values[0])
        return notes(chances, lambda action: _answer(self.game.view.encode(table, action)), value)

    def warm_up(self) -> None:
        """Answer two turns of a random match, so that all code is compiled and loaded before a deadline runs.

        Raises:
            ValueError: as `respond`; and any error of the policy.
        """
        PLAIN_START.expect(self.game.registered, self.game.options, encoder_of(self.policy, self.game))
        table = self.game.tables(1)[0]
        self.game.rules.reset(table)
        call_optional(self.policy, "warm_up")
        on_turn, self.on_turn = self.on_turn, None
        try:
            for _ in range(2):  # the second one after some moves
                if not table.done:
                    answer = self.respond(self.game.turn_state(table, int(table.turn)))
                    self.game.rules.step(table, self.game.view.parse(table, answer.action))
        finally:
            self.on_turn = on_turn


LEAST_LIKELY = 0.0005
"""The least probability of an answer in `thoughts`."""


def notes(chances: NDArray[Any], written: Callable[[int], str], value: float | None) -> dict[str, Any]:
    """Return the notes on a decision: the chances of the likely actions, and its value if it is known."""
    likely = {written(one): round(float(chances[one]), 4) for one in np.flatnonzero(chances >= LEAST_LIKELY).tolist()}
    return ({"probabilities": likely} if likely else {}) | ({} if value is None else {"value": round(value, 4)})


def _answer(response: AgentResponse) -> str:
    """Return an answer as one line of text; for an action that only sends a message, the message."""
    said = " ".join(message.content for message in response.messages)
    return f"say: {said}" if said and response.action.action_type == "message_only" else sentence(response.action)


SURE = 0.9
"""Probability of the action of a policy without `probabilities`; the others share the rest."""
WIDER = (1, 4, 16)
"""Times `width`: the widths that are tried, one after the other, until a plan is found."""
REMEMBERED = 100_000
"""Boards whose next action is remembered."""


class Planning(Protocol):
    """A game's part of the search. Arrays of tables are recarrays of shape (N,)."""

    settle: int
    """The action index that ends a turn."""

    def key(self, table: Tables) -> bytes:
        """Return the key of the position at one table; turns, rewards and random stream do not count."""

    def unsettled(self, tables: Tables) -> NDArray[np.bool_]:
        """Return where only the end of the turn is left to play: bool[N]."""

    def solved(self, tables: Tables) -> NDArray[np.bool_]:
        """Return True for tables that have reached the goal: bool[N]."""

    def hopeless(self, tables: Tables) -> NDArray[np.bool_]:
        """Return from which tables the goal cannot be reached: bool[N]."""

    def candidates(self, masks: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Return True for those of the legal actions (int8[N, A]) that a plan may hold: bool[N, A]."""

    def mended(self, table: Any) -> Iterator[tuple[tuple[int, ...], Tables]]:
        """Yield what was taken back from a hopeless table, and that table (one record), the best one first."""

    def exact_step(self, table: Any, solved: Any, lifted: tuple[int, ...]) -> Action | None:
        """Return the same as an action that need not be on the menu, or None."""

    def first_step(self, table: Any, mask: NDArray[np.int8], solved: Any, lifted: tuple[int, ...]) -> int | None:
        """Return the legal action that brings a table nearer to a solved one, or None."""


class Plan(NamedTuple):
    """The tables on the way to the goal, the actions played there, and the table that has reached it."""

    tables: Sequence[Any]
    actions: Sequence[int]
    solved: Any


class SearchResult(NamedTuple):
    """What a search found: an action index; or a table that has reached the goal, and what was taken back for it."""

    action: int | None
    solved: Any = None
    lifted: tuple[int, ...] = ()


class SearchPolicy:
    """Plays as a policy does, and better where a search finds the goal.

    It plans on records, which `act_on` gets: `PolicyAgent` and `play_until_done` call that. `act` is the policy's.

    Args:
        game: the game that is played, with its options.
        policy: the guide, any policy of the game; one with `probabilities` guides best.
        planning: the game's part.
        width: branches that are kept at each depth; where they end without a plan, more are kept (`WIDER`).
        seconds: most time for a decision; None: no limit. It is looked at before every depth.

    Raises:
        ValueError: for a width below 1, or seconds not above 0.
    """

    def __init__(
        self, game: Game, policy: Policy, planning: Planning, *, width: int = 8, seconds: float | None = None
    ) -> None:
        if width < 1 or (seconds is not None and not seconds > 0):  # nan is not above 0
            raise ValueError(f"width={width}, seconds={seconds}: need 1 branch or more, and more than 0 seconds")
        self.encoder = encoder_of(policy, game)
        self.policy = policy
        self._game = game
        self._planning = planning
        self._width = width
        self._seconds = seconds
        self._encoder = game.encoders[self.encoder]
        self._loops = game.loops(self.encoder)
        self._batch = game.batch(WIDER[-1] * width * game.num_actions, self.encoder)
        self._next: dict[bytes, int] = {}

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return the policy's actions: int64[N]."""
        return self.policy.act(observations, masks)

    def act_on(
        self, tables: Tables, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """Return an action per table in `rows` (int64[M]), by observations and masks of the same length: int64[M]."""
        until = None if self._seconds is None else time.monotonic() + self._seconds
        actions = np.array(self.policy.act(observations, masks), np.int64)
        for index, row in enumerate(rows.tolist()):
            choice = self.choose(cast(Tables, tables[row : row + 1]), observations[index], masks[index], until)
            action = choice.action
            if choice.solved is not None:
                action = self._planning.first_step(tables[row], masks[index], choice.solved, choice.lifted)
            if action is not None and masks[index, action]:
                actions[index] = action
        return actions

    def choose(
        self, root: Tables, observation: NDArray[np.float32], mask: NDArray[np.int8], until: float | None
    ) -> "SearchResult":
        """Plan at one table.

        Args:
            root: recarray of shape (1,); it is not changed.
            observation, mask: float32[D], int8[A] of the seat that decides.
            until: when the time is over, on the clock `time.monotonic`; None: never.
        """
        if self._planning.unsettled(root)[0]:
            return SearchResult(self._planning.settle)
        if (action := self._next.get(self._planning.key(root))) is not None:
            return SearchResult(action)
        hopeless = self._planning.hopeless(root)[0]
        if not hopeless and (plan := self._widening(root, observation[None], mask[None], until)) is not None:
            if len(self._next) > REMEMBERED:
                self._next.clear()
            self._next |= zip(map(self._planning.key, plan.tables), plan.actions, strict=True)
            return SearchResult(plan.actions[0])
        for lifted, table in self._planning.mended(root[0]):
            if late(until):
                break
            if self._planning.hopeless(table)[0]:
                continue
            seen = self._encoder.observations(table, np.zeros(1, np.int64))
            legal = self._game.rules.mask(table[0], int(table[0].turn))[None]
            if (plan := self._widening(table, seen, legal, until)) is not None:
                return SearchResult(None, plan.solved, lifted)
        return SearchResult(None)

    def _widening(
        self, root: Tables, seen: NDArray[np.float32], masks: NDArray[np.int8], until: float | None
    ) -> Plan | None:
        """Return a plan for one table, searched with growing width, or None."""
        plans = (self._search(root, seen, masks, until, times * self._width) for times in WIDER)
        return next((plan for plan in plans if plan is not None), None)

    def _search(
        self, nodes: Tables, seen: NDArray[np.float32], masks: NDArray[np.int8], until: float | None, width: int
    ) -> Plan | None:
        """Return a plan that leads from the one table in `nodes` to the goal, or None."""
        scores = np.zeros(1)
        levels: list[tuple[Tables, NDArray[np.int64], NDArray[np.int64]]] = []  # tables, and by child: parent, action
        while len(nodes) and not late(until):
            parents, actions = np.nonzero(self._planning.candidates(masks))
            if not len(parents):
                return None
            likely = np.log(np.maximum(self._guide(seen, masks), 1e-9))
            total = scores[parents] + likely[parents, actions]
            children = cast(Tables, nodes[parents])
            self._step(children, actions)
            levels.append((nodes, parents, actions))
            solved = np.flatnonzero(self._planning.solved(children))
            if len(solved):
                return _path(levels, int(solved[total[solved].argmax()]), children)
            alive = np.flatnonzero(~self._planning.hopeless(children))
            kept = alive[np.argsort(-total[alive], kind="stable")[:width]]
            levels[-1] = nodes, parents[kept], actions[kept]
            nodes, scores = cast(Tables, children[kept]), total[kept]
            seen, masks = self._batch.observations[kept], self._batch.masks[kept]
        return None

    def _step(self, children: Tables, actions: NDArray[np.int64]) -> None:
        """Play an action on every table, and end the turns in which nothing else remains to be done."""
        count = len(children)
        parts = {name: getattr(self._batch, name)[:count] for name in self._batch._fields if name != "offsets"}
        batch = self._batch._replace(**parts)
        records = children.view(np.ndarray)
        self._loops.step(records, actions, batch, False)
        unsettled = self._planning.unsettled(children)
        if unsettled.any():
            self._loops.step(records, np.where(unsettled, self._planning.settle, NO_ACTION), batch, False)

    def _guide(self, seen: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.float64]:
        """Return the policy's probabilities: float64[N, A]."""
        if hasattr(self.policy, "probabilities"):
            return np.asarray(self.policy.probabilities(seen, masks), np.float64)
        chosen = self.policy.act(seen, masks)
        others = np.maximum(masks.sum(1, keepdims=True) - 1, 1)
        likely = np.where(masks > 0, (1 - SURE) / others, 0.0)
        likely[np.arange(len(chosen)), chosen] = SURE
        return likely


class SearchAgent(PolicyAgent):
    """An agent that plans, and is not bound to the actions of a menu where a table must be mended.

    Args:
        game: the game that the policy was trained for.
        policy: the guide, any policy of the game.
        planning: the game's part of the search.
        seconds: most time for a plan; None: half of the time left for an answer, if there is a deadline.
    """

    def __init__(self, game: Game, policy: Policy, planning: Planning, *, seconds: float | None = None) -> None:
        super().__init__(game, policy)
        self._planning = planning
        self._search = SearchPolicy(game, policy, planning)
        self._seconds = self._most = seconds

    def set_seconds_left(self, seconds: float | None) -> None:
        """Take at most `SEARCH_SHARE` of the seconds left for the next answer; None: only the own limit counts."""
        self._most = search_seconds(self._seconds, seconds)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn: as planned, or as the policy does; see `PolicyAgent`.

        Raises:
            ValueError, KeyError, TypeError: as `PolicyAgent.respond` does.
        """
        until = None if self._most is None else time.monotonic() + self._most
        ready = super().respond(state)
        tables, seat = self.game.load(state)
        mask = self.game.mask(tables[0], seat)
        choice = self._search.choose(tables, self._encoder.observation(tables[0], seat), mask, until)
        if choice.solved is not None:
            action = self._planning.exact_step(tables[0], choice.solved, choice.lifted)
            return ready if action is None else AgentResponse(action)
        if choice.action is None or not mask[choice.action]:
            return ready
        return self.game.view.encode(tables[0], choice.action)


def late(until: float | None) -> bool:
    """Return True if the time is over."""
    return until is not None and time.monotonic() >= until


def _path(levels: list[Any], child: int, children: Tables) -> Plan:
    """Return the way to a child of the last level."""
    tables: list[Any] = []
    actions: list[int] = []
    solved = children[child]
    for nodes, parents, played in reversed(levels):
        parent = int(parents[child])
        tables.insert(0, nodes[parent : parent + 1].copy())
        actions.insert(0, int(played[child]))
        child = parent
    return Plan(tables, actions, solved)


logger = logging.getLogger(__name__)

WAIT_SHARE = 0.75
"""The share of the time for an answer after which the policy's own action is played, whatever the search does."""


class ReadyAgent(PolicyAgent):
    """Answers by a search in a thread of its own, or as the policy does.

    The policy answers first. Its answer is played if the search fails or is late; while a search goes on that was late,
    no other one is begun.

    Args:
        plain: the agent without search.
        search: the agent with it. It has a policy of its own, because both are asked at the same time.
        seconds: most time to wait for a search; None: no limit.
    """

    def __init__(self, plain: PolicyAgent, search: PolicyAgent, seconds: float | None = None) -> None:
        super().__init__(plain.game, plain.policy)
        self.search = search
        self._seconds = self._most = seconds
        self._searching: threading.Thread | None = None

    def set_seconds_left(self, seconds: float | None) -> None:
        """Wait at most `WAIT_SHARE` of the seconds left for the next answer; None: only the own limit counts."""
        self.search.set_seconds_left(seconds)
        self._most = search_seconds(self._seconds, seconds, WAIT_SHARE)

    def warm_up(self) -> None:
        """Warm the policy up, and begin with the search, for which nobody waits: the policy plays until it is ready."""
        PolicyAgent(self.game, self.policy).warm_up()
        self._begin(self.search.warm_up)

    def respond(self, state: TurnState) -> AgentResponse:
        """Answer a turn.

        Raises:
            ValueError, KeyError, TypeError: as `PolicyAgent.respond` does.
        """
        ready = super().respond(state)
        if self._searching is not None and self._searching.is_alive():
            return ready
        try:
            answer = self._begin(lambda: self.search.respond(state)).get(timeout=self._most)
        except queue.Empty:
            logger.warning("%s: the search is late, and the policy's own action is played", state.game_id)
            return ready
        if not isinstance(answer, AgentResponse):
            logger.warning("%s: the search raised %s; the policy plays", state.game_id, describe_error(answer))
            return ready
        return answer

    def _begin(self, call: Callable[[], Any]) -> "queue.SimpleQueue[Any]":
        """Call the search in its thread; return the queue that gets what it returns or raises."""
        answers: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def run() -> None:
            try:
                answers.put(call())
            except Exception as error:  # whatever a search does, the game goes on
                answers.put(error)

        self._searching = threading.Thread(target=run, daemon=True, name="search")
        self._searching.start()
        return answers
