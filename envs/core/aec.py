"""GameEnv: any Game as a PettingZoo AECEnv."""

import json
from collections.abc import Mapping
from copy import deepcopy
from hashlib import blake2b
from operator import index
from reprlib import repr
from typing import Any, TypeVar

import msgspec
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from . import turn_state as ts
from .game import Batch, Game, Grid
from .rng import streams
from .screen import FPS, MODES, Window, check_mode, pixels, warn_unshown
from .turn_state import Action, ActionResult, AgentResponse, Message, MessageIntent, TurnState

Wired = TypeVar("Wired", bound=ts.Wire)

MESSAGES_PER_TURN = 10
"""Messages an agent may send in one turn (turnstate-notes.md, Matches)."""
WAITS_PER_TURN = 10
"""`message_only` actions an agent may take in one turn before its safe action is played for it."""
MESSAGE_LENGTH = 4_000
"""Characters a message may have."""

_VIEWS = ("table", "_records", "_stream", "_done", "_rewards")  # of a GameEnv's one table
_OWN = (*_VIEWS, "_window")  # what a copy makes for itself


class GameEnv(AECEnv[str, Any, Any]):
    """One table of a game as a PettingZoo environment.

    Besides PettingZoo's API: `turn_state` (any agent, any time), `submit` (documented payloads, exact), `send`.

    Args:
        game: the game with its options.
        observation: ``"dict"``: nested dict that mirrors TurnState; ``"flat"``: float32[game.layout.size]. Either is
            the ``"observation"`` of ``{"observation": …, "action_mask": int8[A]}``.
        action: ``"discrete"``: masked action numbers; ``"payload"``: ``{"action_type": i, <type>: payload}``, a dict
            space of the documented payloads, with `action_mask` over the action types; ``"grid"``: one value of each
            of `Game.grid`'s choices, with `action_mask` a tuple of theirs, as `spaces.MultiDiscrete.sample` takes it.
        render_mode: ``"human"`` (a window, drawn anew by every reset, step and submit), ``"rgb_array"``, ``"svg"``,
            ``"ansi"`` or None; see `render`.
        render_view: whose eyes `render` has: ``"public"`` (what all may see), an agent's name, or ``"all"`` (every
            hidden card open). None: public; where nobody may look on, the first agent's.

    Attributes:
        table: the record itself; its bytes are the whole game.
        messages: everything said in this episode.
        match_id: differs from episode to episode.

    Raises:
        ValueError: for an unknown mode, or one that the game does not have.
    """

    def __init__(
        self,
        game: Game,
        observation: str = "dict",
        action: str = "discrete",
        render_mode: str | None = None,
        render_view: str | None = None,
    ) -> None:
        super().__init__()
        _check("observation", observation, ("dict", "flat"))
        _check("action", action, ("discrete", "payload", *(("grid",) if game.grid else ())))
        check_mode(render_mode)
        public = ("public",) if game.public is not None else ()
        _check("render_view", render_view, (None, *public, *game.agents, "all"))
        self.game = game
        self.metadata = {
            "name": game.id.replace("-", "_"),
            "render_modes": list(MODES),
            "render_fps": FPS,
            "is_parallelizable": False,
        }
        self.render_mode = render_mode
        self.render_view = render_view or (*public, *game.agents)[0]
        self._window: Window | None = None
        self.possible_agents = list(game.agents)
        self._seat_of = {agent: seat for seat, agent in enumerate(game.agents)}
        self._nested = observation == "dict"
        self._payloads = action == "payload"
        self._grid = game.grid if action == "grid" else None
        self._action_types = list(game.action_spaces)
        self._observation_space = spaces.Dict(
            {
                "observation": game.layout.dict_space() if self._nested else game.layout.flat_space(),
                "action_mask": self._mask_space(),
            }
        )
        self._action_space = self._space_of_actions()
        self._tables = game.tables(1)
        self._share()
        self._batch = Batch.of(game, 1)
        self._action = np.zeros(1, np.int64)
        self._seeded = False
        self.agents: list[str] = []
        self.messages: list[Message] = []
        self.match_id = ""
        self._matches = 0

    # PettingZoo's API

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of `observe`, the same for every agent."""
        return self._observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of actions, the same for every agent."""
        return self._action_space

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin an episode. Without a seed the table's own stream goes on (a first reset takes fresh entropy).

        `options` is PettingZoo's and changes nothing: a game's options belong to its constructor.

        Raises:
            ValueError: for a negative seed.
        """
        if seed is not None or not self._seeded:
            fresh = streams(seed, 1)[0]
            self._tables[:] = self.game.blank
            self._stream[0] = fresh
            self._seeded = True
            self._matches = 0
        # One-way: from the stream itself an agent could work out every hidden card.
        number = blake2b(self._stream.tobytes(), digest_size=8).hexdigest()
        self.match_id = f"{self.game.id}-{number}-{self._matches}"
        self._matches += 1
        self.game.reset_batch(self._records, self._batch)
        self.messages = []
        self._waited = 0
        self._sent: dict[str, int] = {}
        self._rewarded = False
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._select()

    def observe(self, agent: str) -> dict[str, Any]:
        """Return ``{"observation": …, "action_mask": int8[A]}`` in new arrays; no action is open out of turn."""
        seat = self._seat(agent)
        if seat == self._batch.turn[0] and not self._done[0]:
            flat = self._batch.observations[0].copy()
        else:
            flat = self.game.observation(self.table, seat)
        return {"observation": self.game.layout.tree(flat) if self._nested else flat, "action_mask": self._mask(seat)}

    def step(self, action: Any) -> None:
        """Play the selected agent's action (None for an agent whose episode is over).

        Raises:
            ValueError: if the action is not legal, naming the legal ones; nothing has changed then.
        """
        if not self.agents:
            raise ValueError("step() on a finished episode: call reset() first")
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
        elif self._grid is not None:
            self._move(self._grid.move(self.table, self._values(self._grid, action)))
        elif self._payloads:
            result = self.submit(self.agent_selection, self._payload(action))
            if not result.ok:
                raise ValueError(f"{result.error}: {result.error_detail}")
        else:
            self._play(self._number(action))

    def state(self) -> NDArray[np.uint8]:
        """Return the whole record as bytes (uint8[itemsize]), hidden information included."""
        return np.frombuffer(self._tables.tobytes(), np.uint8)

    def render(self) -> NDArray[np.uint8] | str | None:
        """Show the table as `render_view` sees it: uint8[480, 640, 3], SVG or text, by `render_mode`; else None."""
        if self.render_mode is None:
            warn_unshown()
            return None
        if self.render_mode == "ansi":
            eyes = {"all": None, "public": -1}
            seat = eyes[self.render_view] if self.render_view in eyes else self._seat_of[self.render_view]
            return self.game.render(self.table, seat)
        drawn = self.game.picture(self.seen(self.render_view))
        if self.render_mode == "svg":
            return drawn
        if self.render_mode == "rgb_array":
            return pixels(drawn)
        self._window = self._window or Window(self.game.id)
        self._window.show(drawn)
        return None

    def close(self) -> None:
        """Close the window of ``render_mode="human"``."""
        if self._window is not None:
            self._window.close()
            self._window = None

    # TurnState's API

    def turn_state(self, agent: str) -> TurnState:
        """Return what `agent` sees, at any time.

        Raises:
            ValueError: for an unknown agent, or before the first reset.
        """
        seat = self._seat(agent)
        return self.game.view(self.table, seat, [m for m in self.messages if _reads(agent, m)], self.match_id)

    def seen(self, view: str) -> list[TurnState]:
        """Return the TurnStates that make a view, as `Game.picture` takes them.

        Args:
            view: ``"public"``, an agent's name, or ``"all"`` (every agent's).

        Raises:
            ValueError: for an unknown agent, where nobody may look on, or before the first reset.
        """
        if view == "all":
            return [self.turn_state(agent) for agent in self.possible_agents]
        if view != "public":
            return [self.turn_state(view)]
        self._seat(self.possible_agents[0])
        public = [message for message in self.messages if message.scope == ts.MessageScope.PUBLIC]
        return [self.game.look(self.table, public, self.match_id)]

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """Play a documented payload exactly: messages first, then the action.

        Args:
            agent: who answers.
            response: `AgentResponse` or `Action`, or either as a dict. ``message_only {}`` sends the messages and keeps
                the turn; ``pass {}`` plays the game's safe action where the game has no `pass` of its own.

        Returns:
            ok, or a documented error code with a sentence. A refused response changes nothing and keeps the turn.
        """
        if agent not in self._seat_of:
            return ts.refused(ts.AGENT_NOT_IN_MATCH, f"{agent!r} is not one of {', '.join(self.possible_agents)}")
        if not self._running():
            return ts.refused(ts.MATCH_NOT_RUNNING, "the match is over or was not begun; reset() begins one")
        if agent != self.agent_selection:
            whose = self.game.turn_seen(self.table, self._seat_of[agent]) or "another"
            return ts.refused(ts.NOT_YOUR_TURN, f"{agent} cannot act: it is {whose}'s turn")
        try:
            messages, action = _response(response)
        except (ValueError, TypeError, RecursionError) as error:
            return ts.refused(ts.INVALID_PAYLOAD, str(error))
        problem = self._unsendable(agent, messages)
        if problem is not None:
            return problem
        if action.action_type == "message_only":
            if action.payload:
                return ts.refused(ts.INVALID_PAYLOAD, f"message_only takes no payload, got {repr(action.payload)}")
            self._deliver(agent, messages, heard=True)
            self._waited += 1
            if self._waited > WAITS_PER_TURN:
                self._play(self.game.safe(self.table))
            return ts.accepted()
        if action.action_type == "pass" and "pass" not in self.game.action_spaces and not action.payload:
            move = self.game.menu(self.table, self.game.safe(self.table))
        else:
            move = self.game.decode(self.table, action)
        if isinstance(move, ActionResult):
            return move
        self._deliver(agent, messages, heard=True)
        if self.game.aloud is not None:
            self._deliver(agent, self.game.aloud(self.table, action), heard=False)
        self._move(move)
        return ts.accepted()

    def send(self, agent: str, intent: MessageIntent | Mapping[str, Any]) -> ActionResult:
        """Send one message, in turn or out of it. It never moves the turn."""
        if agent not in self._seat_of:
            return ts.refused(ts.AGENT_NOT_IN_MATCH, f"{agent!r} is not one of {', '.join(self.possible_agents)}")
        if not self._running():
            return ts.refused(ts.MATCH_NOT_RUNNING, "the match is over or was not begun; reset() begins one")
        try:
            message = _read(intent, MessageIntent)
        except (ValueError, TypeError, RecursionError) as error:
            return ts.refused(ts.INVALID_PAYLOAD, str(error))
        problem = self._unsendable(agent, [message])
        if problem is None:
            self._deliver(agent, [message], heard=True)
        return problem or ts.accepted()

    def clone(self) -> "GameEnv":
        """Return an independent copy: the record's bytes, the agents' bookkeeping and the messages."""
        return deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "GameEnv":
        for shared in (self.game, self._observation_space, self._action_space):
            memo[id(shared)] = shared
        twin = GameEnv.__new__(GameEnv)
        twin.__setstate__(deepcopy(self.__getstate__(), memo))
        return twin

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._window = None
        self._share()

    def _share(self) -> None:
        """Make the views of the table, which all lie in its memory."""
        self.table = self._tables[0]
        self._records = self._tables.view(np.ndarray)  # Numba takes a plain array faster
        self._stream, self._done = self._tables["stream"], self._tables["done"]  # faster than the record's attributes
        self._rewards = self._tables["rewards"][0]

    # below: this class's own business

    def _seat(self, agent: str) -> int:
        if agent not in self._seat_of:
            raise ValueError(f"{agent!r} is no agent of this game; the agents are {', '.join(self.possible_agents)}")
        if not self._seeded:
            raise ValueError("the table is empty: call reset() first")
        return self._seat_of[agent]

    def _running(self) -> bool:
        # The wrapper around may have ended the episode for an illegal action; the record does not know.
        return bool(self.agents) and not self._done[0] and not self.terminations[self.agents[0]]

    def _mask_space(self) -> spaces.Space[Any]:
        if self._grid is not None:
            return spaces.Tuple([spaces.Box(0, 1, (size,), np.int8) for size in self._grid.sizes])
        return spaces.Box(0, 1, (self._mask_size(),), np.int8)

    def _space_of_actions(self) -> spaces.Space[Any]:
        if self._grid is not None:
            return spaces.MultiDiscrete(list(self._grid.sizes))
        if self._payloads:
            return spaces.Dict({"action_type": spaces.Discrete(len(self._action_types)), **self.game.action_spaces})
        return spaces.Discrete(self.game.num_actions)

    def _mask_size(self) -> int:
        return len(self._action_types) if self._payloads else self.game.num_actions

    def _mask(self, seat: int) -> NDArray[np.int8] | tuple[NDArray[np.int8], ...]:
        closed = self._done[0] or self._batch.turn[0] != seat
        if self._grid is not None:
            return (
                tuple(np.zeros(size, np.int8) for size in self._grid.sizes) if closed else self._grid.legal(self.table)
            )
        if closed:
            return np.zeros(self._mask_size(), np.int8)
        if not self._payloads:
            mask: NDArray[np.int8] = self._batch.masks[0].copy()
            return mask
        open_types = {allowed.action_type for allowed in self.game.allowed(self.table)}
        return np.array([name in open_types for name in self._action_types], np.int8)

    def _number(self, action: Any) -> int:
        mask = self._batch.masks[0]
        try:
            number = index(action)  # any whole number, also of NumPy or in an array without axes, as learners return it
        except TypeError:
            number = -1
        if not 0 <= number < len(mask) or not mask[number]:
            legal = np.flatnonzero(mask).tolist()
            raise ValueError(f"action {action!r} is not legal for {self.agent_selection}; legal are {legal}")
        return number

    def _values(self, grid: Grid, action: Any) -> list[int]:
        values = np.asarray(action)
        if values.dtype.kind not in "iu" or values.shape != (len(grid.sizes),):
            raise ValueError(f"action {action!r} is no choice on this grid; give {len(grid.sizes)} whole numbers")
        for value, mask in zip(values.tolist(), grid.legal(self.table), strict=True):
            if not 0 <= value < len(mask) or not mask[value]:
                raise ValueError(f"action {action!r} is not legal: {value} is none of {np.flatnonzero(mask).tolist()}")
        return [int(value) for value in values]

    def _payload(self, action: Any) -> Action:
        if not isinstance(action, Mapping) or "action_type" not in action:
            raise ValueError(f"action {action!r} is no payload; give {{'action_type': i, <type>: payload}}")
        number = int(action["action_type"])
        if not 0 <= number < len(self._action_types):
            raise ValueError(f"action_type {number} is none of 0 to {len(self._action_types) - 1}")
        name = self._action_types[number]
        payload = {key: np.asarray(value).tolist() for key, value in action.get(name, {}).items()}
        return Action(name, payload)

    def _play(self, number: int) -> None:
        if self.game.hear is not None or self.game.aloud is not None:
            response = self.game.encode(self.table, number)
            spoken = self.game.aloud(self.table, response.action) if self.game.aloud is not None else []
            self._deliver(self.agent_selection, response.messages + spoken, heard=False)
        self._action[0] = number
        self.game.step_batch(self._records, self._action, self._batch, False)
        self._settle()

    def _move(self, move: Any) -> None:
        """Play a move that no action number stands for."""
        self.game.step(self.table, move)
        self._show()
        self._settle()

    def _show(self) -> None:
        """Bring the batch up to the record after what no action number stands for: an exact move, a message heard."""
        self._batch.rewards[0] = self._rewards[: self.game.seats]
        self._batch.truncations[0] = self.table.truncated
        if not self._done[0]:
            self._batch.turn[0] = turn = int(self.table.turn)  # another width would be compiled anew
            self.game.observe(self.table, turn, self._batch.observations[0])
            self.game.legal(self.table, self._batch.masks[0])

    def _settle(self) -> None:
        """Bring PettingZoo's bookkeeping up to the batch after a move."""
        self._cumulative_rewards[self.agent_selection] = 0.0
        rewarded = any(self._batch.rewards[0].tolist())
        if rewarded or self._rewarded:
            self._rewarded = rewarded
            self.rewards = dict(zip(self.agents, self._rewards.tolist(), strict=False))
            self._accumulate_rewards()
        if self._done[0]:
            truncated = bool(self._batch.truncations[0])
            self.terminations = dict.fromkeys(self.agents, not truncated)
            self.truncations = dict.fromkeys(self.agents, truncated)
        self._select()

    def _select(self) -> None:
        # The agents' dead steps come in seat order once the episode is over.
        self.agent_selection = self.agents[0 if self._done[0] else self._batch.turn[0]]
        if self._waited or self._sent:
            self._waited = 0
            self._sent = {}
        if self.render_mode == "human":
            self.render()

    def _unsendable(self, agent: str, messages: list[MessageIntent]) -> ActionResult | None:
        if self._sent.get(agent, 0) + len(messages) > MESSAGES_PER_TURN:
            return ts.refused(ts.GAME_RULE_VIOLATION, f"{MESSAGES_PER_TURN} messages a turn are the limit")
        for message in messages:
            strangers = [reader for reader in message.to_agent_ids or () if reader not in self._seat_of]
            if strangers:
                return ts.refused(ts.INVALID_PAYLOAD, f"no such recipient: {', '.join(map(repr, strangers))}")
            if len(message.content) > MESSAGE_LENGTH:
                return ts.refused(ts.INVALID_PAYLOAD, f"a message has at most {MESSAGE_LENGTH} characters")
            if self.game.forbids is not None:
                why = self.game.forbids(self.table, self._seat_of[agent], message)
                if why is not None:
                    return ts.refused(ts.GAME_RULE_VIOLATION, why)
        return None

    def _deliver(self, agent: str, messages: list[MessageIntent], *, heard: bool) -> None:
        for intent in messages:
            number = f"{len(self.messages)}"
            self.messages.append(Message(number, agent, intent.scope, intent.content, list(intent.to_agent_ids or ())))
            if heard and self.game.hear is not None:
                self.game.hear(self.table, self._seat_of[agent], intent)
                self._show()
        self._sent[agent] = self._sent.get(agent, 0) + len(messages)


def _of_table(name: str) -> property:
    return property(lambda wrapper: getattr(wrapper._raw, name))


class _Direct:
    """A wrapper that asks the table itself, where PettingZoo's ask the next wrapper, which asks the next."""

    agent_selection = _of_table("agent_selection")
    terminations = _of_table("terminations")
    truncations = _of_table("truncations")
    infos = _of_table("infos")

    def __init__(self, env: AECEnv[str, Any, Any], **settings: Any) -> None:
        super().__init__(env, **settings)  # type: ignore[call-arg]
        self._raw: Any = env.unwrapped


class _TerminateIllegal(_Direct, TerminateIllegalWrapper[str, Any, Any]):
    pass


class _AssertOutOfBounds(_Direct, AssertOutOfBoundsWrapper[str, Any, Any]):
    pass


class _TurnOrder(OrderEnforcingWrapper[str, Any, Any]):
    """PettingZoo's order check, which also knows that `submit` ends a turn, and asks the table without detours."""

    def __init__(self, env: AECEnv[str, Any, Any]) -> None:
        super().__init__(env)
        self._raw: Any = env.unwrapped

    def __getattr__(self, name: str) -> Any:
        if name in _AFTER_RESET and not self._has_reset:
            raise AttributeError(f"{name} cannot be accessed before reset")
        if name.startswith("_") and name != "_cumulative_rewards":
            raise AttributeError(f"accessing private attribute {name!r} is prohibited")
        return getattr(self._raw, name)

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation, rewards since its last turn, termination, truncation and info."""
        agent = self.agent_selection
        raw = self._raw
        observation = self.env.observe(agent) if observe else None  # by the wrappers: one keeps the mask
        return (
            observation,
            raw._cumulative_rewards[agent],
            raw.terminations[agent],
            raw.truncations[agent],
            raw.infos[agent],
        )

    def submit(self, agent: str, response: AgentResponse | Action | Mapping[str, Any]) -> ActionResult:
        """See `GameEnv.submit`."""
        result: ActionResult = self._raw.submit(agent, response)
        if result.ok:
            self._has_updated = True
            self.env.observe(self.agent_selection)  # the wrapper below must not keep the last turn's mask
        return result

    def clone(self) -> "_TurnOrder":
        """Return an independent copy, wrapped as this is."""
        return deepcopy(self)


_AFTER_RESET = {"rewards", "terminations", "truncations", "infos", "agent_selection", "num_agents", "agents"}


def wrapped(env: GameEnv, illegal_reward: float) -> AECEnv[str, Any, Any]:
    """Put PettingZoo's standard wrappers around `env`: an illegal action ends the episode with `illegal_reward`."""
    if env._payloads or env._grid is not None:
        return _TurnOrder(env)
    return _TurnOrder(_AssertOutOfBounds(_TerminateIllegal(env, illegal_reward=illegal_reward)))


def _check(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose from {', '.join(map(repr, choices))}")


def _reads(agent: str, message: Message) -> bool:
    public = message.scope == ts.MessageScope.PUBLIC
    return public or agent == message.sender_id or agent in (message.to_agent_ids or ())


def _response(response: Any) -> tuple[list[MessageIntent], Action]:
    if isinstance(response, Action) or (isinstance(response, Mapping) and "action_type" in response):
        return [], _read(response, Action)
    whole = _read(response, AgentResponse)
    return whole.messages, whole.action


def _read(data: Any, kind: type[Wired]) -> Wired:
    """Read `data` as if it had come over a wire; raise ValueError, TypeError or RecursionError if it could not."""
    plain = msgspec.to_builtins(msgspec.convert(data, kind, from_attributes=True), enc_hook=_number_of_numpy)
    json.dumps(plain, allow_nan=False, ensure_ascii=False).encode()
    return msgspec.convert(plain, kind)


def _number_of_numpy(value: Any) -> Any:
    if isinstance(value, np.generic):  # an amount that was computed from an observation
        return value.item()
    raise TypeError(f"{type(value).__name__} {value!r} is no JSON")
