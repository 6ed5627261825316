"""The types of the AgentPolicy document as structs: attributes have Python's names, the wire has the document's.

We send the document's form. Messages that we read may have unknown fields, and lack fields with a default here or have
null for them. The document's context does not contain the statements of others. Our hosts add ``statements`` to
`GameState`, and ``nightActions``, the mafia's choices so far, to `PrivateKnowledge`.
"""

from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ....envs.mafia.view import Alive, Dead, NightResult, VotingRound
from ....envs.mafia.view import Player as PlayerState

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


class Statement(Struct, kw_only=True, rename="camel", frozen=True):
    """A statement and the act that it is read as (our addition; see `parlour.envs.mafia.statements`).

    ``round`` is the day's number; ``target_id``, ``role`` and ``is_mafia`` are None if the act has none.
    """

    player_id: str
    round: int
    type: StatementType
    content: str
    target_id: str | None = None
    role: str | None = None
    is_mafia: bool | None = None


class GameState(Struct, kw_only=True, rename="camel"):
    """The context of every call: the state of the game for its agent."""

    game_id: str = ""
    phase: Phase
    day_number: int = 0
    round_number: int = 1
    players: list[Player]
    alive_players: list[Player] = []
    dead_players: list[Player] = []
    mafia_count: int = 0
    town_count: int = 0
    winner: Literal["town", "mafia"] | None = None
    last_night_result: LastNight | None = None
    voting_history: list[VotingRound] = []
    statements: list[Statement] | UnsetType = UNSET


class PublicInfo(Struct, kw_only=True, rename="camel"):
    """The public information."""

    game_id: str = ""
    phase: Phase
    day_number: int = 0
    round_number: int = 1
    alive_players: list[Alive] = []
    dead_players: list[Dead] = []
    last_night_result: NightResult | None = None
    voting_history: list[VotingRound] = []


class Investigation(Struct, kw_only=True, rename="camel", frozen=True):
    """A sheriff's result."""

    target: Player
    is_mafia: bool
    round: int


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
    """A scripted agent; None takes the personality's own value.

    Attributes:
        personality: one of the four personalities.
        lie_frequency: the share of lies of a mafia member, 0 to 1.
        suspicion_threshold: the suspicion from which sheriff and doctor reveal themselves, 0 to 100.
    """

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
