"""The types of the AgentPolicy document as structs: attributes have Python's names, the wire has the document's.

We send the document's form. Messages that we read may have unknown fields, and lack fields with a default here or have
null for them. The document's context does not contain the statements of others. Our hosts add ``statements`` to
`GameState`, and ``nightActions``, the mafia's choices so far, to `PrivateKnowledge`.

`ContextWriter` is for hosts: the game's view decides what an agent sees, and the writer converts it to the document's
types. `turn_state` is the inverse, for agents. The document's own host writes every player's role into the context; it
leaves out what the agent may not know: only its own role, the dead, its teammates and its results are kept.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, convert, to_builtins
from msgspec.structs import asdict, replace

from ....envs import Game
from ....envs import game as make_game
from ....envs.core.turn_state import TurnState, or_else
from ....envs.mafia.table import DAYS, SPEECHES
from ....envs.mafia.view import Alive, Dead, Knowledge, MafiaState, NightResult, VotingRound
from ....envs.mafia.view import Investigation as InvestigationState
from ....envs.mafia.view import Player as PlayerState
from ....envs.mafia.view import Statement as StatementState

UNKNOWN = "unknown"
"""The role of a living player that the reader may not know."""

ROLES = ("mafia", "doctor", "sheriff", "villager")
_ROLES = {*ROLES, UNKNOWN}
_DIALECT = {role: role for role in ROLES} | {"vigilante": "villager"}
Phase: TypeAlias = Literal[
    "SETUP", "NIGHT_ACTIONS", "MORNING_REVEAL", "DAY_DISCUSSION", "DAY_VOTING", "RESOLUTION", "END"
]
Method: TypeAlias = Literal["think", "say", "nightAction", "vote"]
Personality: TypeAlias = Literal["aggressive", "cautious", "analytical", "social"]
ActionType: TypeAlias = Literal["KILL", "PROTECT", "INVESTIGATE"]
StatementType: TypeAlias = Literal["defense", "accusation", "claim", "general"]

NIGHT_ACTIONS: dict[str, ActionType] = {"mafia": "KILL", "doctor": "PROTECT", "sheriff": "INVESTIGATE"}
"""The action of a role at night; villagers have none."""


# The arguments of calls.


class Player(PlayerState, frozen=True):
    """A player; ``role`` is one of `ROLES`, or ``"unknown"`` if the reader may not know it.

    Later versions of the platform write roles in capital letters, which are read as the document's. They have a
    vigilante, who is read as a villager: both belong to the town, and the document has no action for it. Any other role
    is read as unknown.
    """

    def __post_init__(self) -> None:
        """Read the role."""
        if self.role not in _ROLES:
            msgspec.structs.force_setattr(self, "role", _DIALECT.get(str(self.role).lower(), UNKNOWN))


class LastNight(Struct, kw_only=True, rename="camel", frozen=True):
    """Last night's result in `GameState`; ``protected`` is shown to the doctor only."""

    killed: Player | None = None
    protected: Player | None = None
    prevented: bool = False


class Statement(StatementState, kw_only=True, frozen=True):
    """A statement and the act that it is read as (our addition; see `parlour.envs.mafia.statements`).

    ``round`` is the day's number; ``target_id``, ``role`` and ``is_mafia`` are None if the act has none.
    """

    type: StatementType
    content: str


class Moment(Struct, kw_only=True, rename="camel"):
    """When it is."""

    game_id: str = ""
    phase: Phase
    day_number: int = 0
    round_number: int = 1


class GameState(Moment, kw_only=True):
    """The context of every call: the state of the game for its agent."""

    players: list[Player]
    alive_players: list[Player] = []
    dead_players: list[Player] = []
    mafia_count: int = 0
    town_count: int = 0
    winner: Literal["town", "mafia"] | None = None
    last_night_result: LastNight | None = None
    voting_history: list[VotingRound] = []
    statements: list[Statement] | UnsetType = UNSET


class PublicInfo(Moment, kw_only=True):
    """The public information."""

    alive_players: list[Alive] = []
    dead_players: list[Dead] = []
    last_night_result: NightResult | None = None
    voting_history: list[VotingRound] = []


class Investigation(InvestigationState, kw_only=True, frozen=True):
    """A sheriff's result."""

    target: Player


class PrivateKnowledge(Struct, kw_only=True, rename="camel"):
    """The knowledge of a role; ``night_actions`` (our addition) are the mafia's targets so far tonight, by id."""

    mafia_teammates: list[Player] | UnsetType | None = UNSET
    last_protected: str | UnsetType | None = UNSET
    investigation_results: list[Investigation] = []
    night_actions: dict[str, str] | UnsetType = UNSET


class PrivateInfo(Struct, kw_only=True, rename="camel"):
    """The private information of one agent."""

    self: Player
    game_state: GameState
    private_knowledge: PrivateKnowledge

    def kept(me) -> "PrivateInfo":
        """Return a copy without the context, which every call contains anew."""
        state = GameState(game_id=me.game_state.game_id, phase=me.game_state.phase, players=[])
        return PrivateInfo(self=me.self, game_state=state, private_knowledge=me.private_knowledge)


Info: TypeAlias = PublicInfo | PrivateInfo
"""The second argument of a call."""

# Answers.


class NightAction(Struct, rename="camel", omit_defaults=True):
    """A night's choice."""

    action_type: ActionType
    target_id: str
    metadata: dict[str, Any] | None = None


class VoteAction(Struct, rename="camel"):
    """A vote; None abstains."""

    target_id: str | None
    reason: str | UnsetType | None = UNSET


# Settings of agents.


class LlmConfig(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """A language model. The document has the key here; ours comes from the environment and is never written out."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None


class ScriptedConfig(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """A scripted agent; None takes the personality's own value."""

    personality: Personality | None = None
    lie_frequency: float | None = None
    suspicion_threshold: float | None = None


class AgentConfig(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """The type of an agent, and the settings of that type."""

    type: Literal["scripted", "llm"]
    llm_config: LlmConfig | None = None
    scripted_config: ScriptedConfig | None = None


# The forwarding protocol.


class Call(Struct, kw_only=True, omit_defaults=True):
    """One call of an agent. ``agent`` (our addition) is its id, for connections of several agents."""

    id: int | str
    method: Method
    context: Raw
    info: Raw
    agent: str | None = None


class Cancel(Struct, kw_only=True):
    """The client cancels a call (our addition; other services answer it with an error)."""

    id: int | str
    cancel: Literal[True]


class Reply(Struct, kw_only=True):
    """A part of the answer to the call of that id: a chunk; or the end, with the result of an action; or an error."""

    id: int | str | None
    chunk: str | UnsetType = UNSET
    done: bool | UnsetType = UNSET
    result: Any = UNSET
    error: str | UnsetType = UNSET

    @property
    def ends(self) -> bool:
        """Whether it ends the call."""
        return self.done is True or self.error is not UNSET


# Events.


class Event(Struct, kw_only=True, rename="camel", omit_defaults=True):
    """An event. ``timestamp`` is milliseconds since 1970; private events tell roles or thoughts."""

    event_type: str
    game_id: str
    sequence: int
    timestamp: int
    private: bool = False
    payload: dict[str, Any]


# Reading and writing.

Wired = TypeVar("Wired", bound=Struct)
encode = msgspec.json.Encoder().encode
"""Return a struct as JSON bytes."""


def read(data: Any, kind: type[Wired]) -> Wired:
    """Read a struct from JSON or from parsed JSON.

    Raises:
        ValueError: if it is no JSON, or a field does not fit; the error names the field.
    """
    try:
        text = data if isinstance(data, (Raw, bytes, bytearray, str)) else encode(data)
        try:
            return msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError:
            return msgspec.convert(_mended(msgspec.json.decode(text)), kind)
    except (msgspec.MsgspecError, UnicodeError, TypeError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def _mended(value: Any) -> Any:
    """Convert whole floats to integers (JSON has one kind of number), and remove null fields."""
    if isinstance(value, dict):
        return {name: _mended(part) for name, part in value.items() if part is not None}
    if isinstance(value, list):
        return [_mended(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ContextWriter:
    """Writes the TurnStates of one match in the document's types."""

    def __init__(self, agents: Sequence[str], ids: Sequence[str], names: Sequence[str]) -> None:
        self._ids: dict[str | None, Any] = {None: None, **dict(zip(agents, ids, strict=True))}
        self._names: dict[str | None, Any] = {None: None, **dict(zip(agents, names, strict=True))}
        self._players: dict[tuple[Any, ...], Player] = {}
        self._votings: list[VotingRound] = []  # these only grow: every entry is written once
        self._statements: list[Statement] = []

    def private(self, turn_state: TurnState) -> tuple[GameState, PrivateInfo]:
        """Return the context of a call, and the private information of its agent."""
        state = MafiaState.of(turn_state)
        players = [self._player(player) for player in state.players]
        context = GameState(
            **self._about(turn_state, state),
            players=players,
            alive_players=[player for player in players if player.alive],
            dead_players=[player for player in players if not player.alive],
            mafia_count=state.mafia_count,
            town_count=state.town_count,
            winner=cast(Any, state.winner),
            last_night_result=self._last_night(state),
            statements=self._said(state, turn_state),
        )
        own = self._player(cast(PlayerState, state.own))
        return context, PrivateInfo(self=own, game_state=context, private_knowledge=self._knowledge(state))

    def public(self, turn_state: TurnState) -> PublicInfo:
        """Return the public information of a public TurnState."""
        state = MafiaState.of(turn_state)
        last = state.last_night_result
        return PublicInfo(
            **self._about(turn_state, state),
            alive_players=[self._renamed(player) for player in state.alive_players],
            dead_players=[self._renamed(player) for player in state.dead_players],
            last_night_result=last and NightResult(killed=self._names[last.killed], prevented=last.prevented),
        )

    def _about(self, turn_state: TurnState, state: MafiaState) -> dict[str, Any]:
        numbers = {"day_number": state.day_number, "round_number": state.round_number}
        votings = self._voting_history(state)
        return {"game_id": turn_state.match_id, "phase": state.phase, "voting_history": votings, **numbers}

    def _renamed(self, player: Any) -> Any:
        return replace(player, id=self._ids[player.id], name=self._names[player.id])

    def _player(self, player: PlayerState) -> Player:
        key = player.id, player.role, player.eliminated_round
        if key not in self._players:
            named = {"id": self._ids[player.id], "name": self._names[player.id], "role": player.role}
            self._players[key] = Player(alive=player.alive, eliminated_round=player.eliminated_round, **named)
        return self._players[key]

    def _last_night(self, state: MafiaState) -> LastNight | None:
        last, by_id = state.last_night_result, {player.id: self._player(player) for player in state.players}
        if last is None:
            return None
        killed, protected = by_id.get(last.killed or ""), by_id.get(last.protected or "")
        return LastNight(killed=killed, protected=protected, prevented=last.prevented)

    def _voting_history(self, state: MafiaState) -> list[VotingRound]:
        for voting in state.voting_history[len(self._votings) :]:
            votes = {self._names[voter]: self._names[target] for voter, target in voting.votes.items()}
            self._votings.append(replace(voting, eliminated=self._names[voting.eliminated], votes=votes))
        return self._votings.copy()

    def _said(self, state: MafiaState, turn_state: TurnState) -> list[Statement]:
        """Return the statements, with their texts from the messages."""
        written = self._statements
        for i in range(len(written), len(state.statements)):
            said = state.statements[i]
            ids = {"player_id": self._ids[said.player_id], "target_id": self._ids[said.target_id]}
            written.append(Statement(**{**asdict(said), **ids, "content": turn_state.messages[i].content}))
        return written.copy()

    def _knowledge(self, state: MafiaState) -> PrivateKnowledge:
        own = or_else(state.private_knowledge, Knowledge())
        seen = own.investigation_results
        found = [Investigation(target=self._player(one.target), is_mafia=one.is_mafia, round=one.round) for one in seen]
        knowledge = PrivateKnowledge(investigation_results=found)
        if own.mafia_teammates is not UNSET:
            knowledge.mafia_teammates = [self._player(mate) for mate in own.mafia_teammates or ()]
            if state.phase == "NIGHT_ACTIONS":
                tonight = or_else(state.night_actions, {}).items()
                knowledge.night_actions = {self._ids[actor]: self._ids[target] for actor, target in tonight}
        if own.last_protected is not UNSET:
            knowledge.last_protected = self._ids[own.last_protected]
        return knowledge


DECISIONS = {"SETUP": "NIGHT_ACTIONS", "MORNING_REVEAL": "DAY_DISCUSSION", "RESOLUTION": "DAY_VOTING"}
"""The phase of our game in which agents decide, by phase of the document, where it has another name."""


@cache
def game_of(seats: int, speeches: int = 1, days: int = 20, mafia: int | None = None) -> Game:
    """Return a game with this number of players, discussion rounds a day, days and mafia (None: the default number).

    Raises:
        ValueError: if a number is out of the game's range.
    """
    return make_game("mafia", seats=seats, discussion_rounds=speeches, max_days=days, mafia=mafia)


def of_context(context: GameState, seats: int | None = None) -> Game:
    """Return a game that can load a context, with one seat per player, or with `seats`.

    A context does not contain the game's options. The number of discussion rounds follows from the statements, and that
    of the mafia from the dead and the number of the living. The limit of days is the default, unless the match has
    passed it. There is one doctor and one sheriff.

    Raises:
        ValueError: if a number is out of the game's range.
    """
    seats = seats or len(context.players)
    mafia = context.mafia_count + sum(not player.alive and player.role == "mafia" for player in context.players)
    days = 20 if context.round_number <= 20 else DAYS
    speeches = min(speeches_a_day(context), 8, SPEECHES // days)
    return game_of(seats, speeches, days, mafia if 1 <= mafia <= (seats - 1) // 2 else None)


def speeches_a_day(context: GameState) -> int:
    """Return the most statements of a player on one day; at least 1."""
    said = [(statement.round, statement.player_id) for statement in context.statements or ()]
    return 1 if len(set(said)) == len(said) else max(Counter(said).values())


def known_roles(agent_id: str, context: GameState, private: PrivateInfo | None) -> dict[str, str]:
    """Return the roles that an agent may know, by player id.

    Args:
        agent_id: the agent's id.
        context: the context of its call, which may contain roles that it may not know.
        private: its private information; None: not received. Then the mafia of the context are its teammates.
    """
    over = context.phase == "END"
    roles = {}
    for player in context.players:
        if player.role not in (None, UNKNOWN) and (over or not player.alive or player.id == agent_id):
            roles[player.id] = str(player.role)
    if private is None:
        if roles.get(agent_id) == "mafia":
            roles |= {player.id: "mafia" for player in context.players if player.role == "mafia"}
        return roles
    if private.self.role not in (None, UNKNOWN):
        roles[agent_id] = str(private.self.role)
    if roles.get(agent_id) == "mafia":
        roles |= {mate.id: "mafia" for mate in private.private_knowledge.mafia_teammates or ()}
    elif roles.get(agent_id) == "sheriff":
        results = private.private_knowledge.investigation_results
        roles |= {result.target.id: "mafia" for result in results if result.is_mafia}
    return roles


def turn_state(agent_id: str, context: GameState, private: PrivateInfo | None) -> TurnState:
    """Return the TurnState of an agent that has the turn, as our game's view writes it.

    Args:
        agent_id: the agent's id.
        context: the context of the call.
        private: its latest private information; None: not received.

    Raises:
        ValueError: if it is none of the players.
    """
    roles, phase = known_roles(agent_id, context, private), DECISIONS.get(context.phase, context.phase)
    players = [replace(player, role=roles.get(player.id, UNKNOWN)) for player in context.players]
    own = next((player for player in players if player.id == agent_id), None)
    if own is None:
        raise ValueError(f"{agent_id!r} is none of the players {', '.join(player.id for player in context.players)}")
    knowledge = PrivateKnowledge() if private is None else private.private_knowledge
    last = context.last_night_result
    known = replace(
        context,
        game_id="mafia-v0",
        players=players,
        alive_players=[player for player in players if player.alive],
        dead_players=[player for player in players if not player.alive],
        last_night_result=None,
        statements=or_else(context.statements, []),
    )
    state = convert(known, MafiaState, from_attributes=True)
    state.phase, state.own, state.own_vote = phase, own, None
    state.private_knowledge = convert(to_builtins(knowledge), Knowledge)
    state.night_actions = or_else(knowledge.night_actions, {}) if phase == "NIGHT_ACTIONS" else {}
    if last is not None:
        killed = None if last.killed is None else last.killed.id
        protected = last.protected.id if last.protected and own.role == "doctor" else None
        state.last_night_result = NightResult(killed=killed, protected=protected, prevented=last.prevented)
    return TurnState(context.game_id, "mafia-v0", agent_id, phase, True, agent_id, state.to_dict())
