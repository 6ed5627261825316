"""Action index ◄─► move ◄─► payload: mafia-ai-benchmark's `NightAction` and `VoteAction`, and `say` for statements.

Action indices are relative to the acting seat: see `action_ranges`.
"""

from collections.abc import Sequence
from reprlib import repr
from typing import Any

import msgspec
import numpy as np
from gymnasium import spaces

from ..core import turn_state as ts
from ..core.rng import choose, mix
from ..core.turn_state import (
    MESSAGE_LENGTH,
    NOTHING,
    Action,
    ActionResult,
    AgentResponse,
    AllowedAction,
    MessageIntent,
    MessageScope,
    or_else,
    payload_schema,
)
from ..core.view import ActionRange
from .rules import Choice, decode, legal
from .statements import CLAIMS, TYPES, from_wire, read, sentence, to_wire
from .table import (
    ACCUSE,
    CLAIM_DOCTOR,
    CLAIM_SHERIFF,
    CLAIM_VILLAGER,
    CLEARED,
    DEFEND,
    DISCUSSION,
    DOCTOR,
    FOUND,
    GENERAL,
    MAFIA,
    NIGHT,
    PHASES,
    ROLES,
    SHERIFF,
    TARGET,
    VOTE,
    VOTING,
)
from .view import Knowledge, MafiaState, name

NIGHT_ACTIONS = {MAFIA: "KILL", DOCTOR: "PROTECT", SHERIFF: "INVESTIGATE"}
TYPE_OF_PHASE = ("nightAction", "say", "vote")


class NightAction(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `nightAction`. `metadata` may hold anything and has no effect."""

    actionType: str
    targetId: str
    metadata: dict[str, Any] | None = None


class VoteAction(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `vote`: `targetId` None abstains. `reason` has no effect."""

    targetId: str | None
    reason: str | None = None


class Say(msgspec.Struct, forbid_unknown_fields=True):
    """The payload of `say`: an act, a text, or both. Without a `type` the act is read from `text` (`statements.read`);
    without a `text` the message is a standard sentence (`statements.sentence`)."""

    type: str | None = None
    targetId: str | None = None
    role: str | None = None
    isMafia: bool | None = None
    text: str | None = None


def action_spaces(table: Any) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    ids = ids_of(table)
    space = {
        "nightAction": {"actionType": Among(list(NIGHT_ACTIONS.values())), "targetId": Among(ids)},
        "vote": {"targetId": Among([None, *ids])},
        "say": {
            "type": Among(list(TYPES)),
            "targetId": Among([None, *ids]),
            "role": Among([None, *CLAIMS]),
            "isMafia": Among([None, False, True]),
            "text": text_space(),
        },
        "message_only": {},
    }
    types = ["nightAction", "say", "vote", "message_only"] if table.talk else ["nightAction", "vote", "message_only"]
    return {name: spaces.Dict(space[name]) for name in types}  # type: ignore[arg-type]


def ids_of(table: Any) -> list[str]:
    """Return the ids of all seats."""
    return [name(seat) for seat in range(int(table.seats))]


def action_ranges(seats: int) -> tuple[ActionRange, ...]:
    """Return the action ranges: six blocks of n = `seats` indices, and two more. Index r of a block is the
    relative seat r, counted from the acting seat."""
    night, vote, say = (("nightAction",), ("vote",), ("say",))
    blocks = [
        ((night, "oneself is (doctors)"), (night, "r is the target of the night")),
        ((vote, "abstain"), (vote, "vote for r")),
        ((say, "nothing of note (general)"), (say, "“r is mafia” (accusation)")),
        ((say, "“I am innocent” (defense)"), (say, "“r is innocent” (defense)")),
        ((say, "“I am the sheriff”"), (say, "“I am the sheriff: r is not mafia” (claim)")),
        ((say, "“I am the doctor”"), (say, "“I am the sheriff: r is mafia” (claim)")),
    ]
    return ranges_of(seats, blocks, ((say, "“I am a villager”"), (say, "“I am mafia”")))


Meaning = tuple[tuple[str, ...], str]
"""Action types, and what their indices mean."""


def ranges_of(
    seats: int, blocks: Sequence[tuple[Meaning, Meaning]], last: tuple[Meaning, Meaning]
) -> tuple[ActionRange, ...]:
    """Return the action ranges of blocks of n = `seats` indices, and those of two indices more.

    Args:
        seats: number of seats.
        blocks: the meaning of the first index, which is about oneself, and that of the others.
        last: the meanings of the last two indices.
    """
    ranges = []
    for block, (of_oneself, of_others) in enumerate(blocks):
        first = block * seats
        ranges += [ActionRange(first, first + 1, *of_oneself), ActionRange(first + 1, first + seats, *of_others)]
    first = len(blocks) * seats
    return (*ranges, *(ActionRange(first + place, first + place + 1, *meaning) for place, meaning in enumerate(last)))


def allowed(game_state: MafiaState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their legal targets."""
    own, alive = game_state.players[seat], [player.id for player in game_state.players if player.alive]
    others = [target for target in alive if target != own.id]
    knows = or_else(game_state.private_knowledge, Knowledge())
    later = AllowedAction("message_only", "send private messages to your teammates and decide later", NOTHING)
    if game_state.phase == PHASES[NIGHT]:
        kind = NIGHT_ACTIONS[ROLES.index(own.role or "")]
        living = [target for target in alive if target != knows.last_protected] if kind == "PROTECT" else others
        fields = {
            "actionType": {"type": "string", "enum": [kind]},
            "targetId": {"type": "string", "enum": living},
            "metadata": {"type": ["object", "null"]},
        }
        description = {
            "KILL": "choose whom the mafia kills tonight",
            "PROTECT": "protect a player tonight, not the same one twice running",
            "INVESTIGATE": "learn whether a player is mafia",
        }[kind]
        action = AllowedAction("nightAction", description, payload_schema(fields, ["actionType", "targetId"]))
        return [action, later] if or_else(knows.mafia_teammates, None) else [action]
    if game_state.phase == PHASES[VOTING]:
        fields = {
            "targetId": {"type": ["string", "null"], "enum": [None, *others]},
            "reason": {"type": ["string", "null"]},
        }
        return [
            AllowedAction("vote", "vote to eliminate a player; null abstains", payload_schema(fields, ["targetId"]))
        ]
    fields = {
        "type": {"type": ["string", "null"], "enum": [None, *TYPES]},
        "targetId": {"type": ["string", "null"], "enum": [None, *alive]},
        "role": {"type": ["string", "null"], "enum": [None, *CLAIMS]},
        "isMafia": {"type": ["boolean", "null"]},
        "text": {"type": ["string", "null"], "maxLength": MESSAGE_LENGTH},
    }
    description = "make your statement of one to five sentences: an act (a type, and what it needs), a text, or both"
    return [AllowedAction("say", description, payload_schema(fields, []))]


def targets(table: Any) -> list[int]:
    """Return the seats that the acting seat may choose tonight, or vote for."""
    seats = int(table.seats)
    mask = np.zeros(6 * seats + 2, np.int8)
    legal(table, mask)
    first = 0 if table.phase == NIGHT else seats
    turn = int(table.turn)
    away = np.flatnonzero(mask[first : first + seats]).tolist()
    return sorted((turn + r) % seats for r in away if r > 0 or table.phase == NIGHT)


# Encode and parse.


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    kind, target, turn = int(move.kind), int(move.target), int(table.turn)
    target_id = name(target) if target >= 0 else None
    if kind == TARGET:
        action_type = NIGHT_ACTIONS[int(table.role[turn])]
        return AgentResponse(Action("nightAction", {"actionType": action_type, "targetId": target_id}))
    if kind == VOTE:
        return AgentResponse(Action("vote", {"targetId": target_id}))
    ids, act = ids_of(table), (kind, target)
    return AgentResponse(Action("say", {**to_wire(act, ids), "text": sentence(act, turn, ids)}))


def parse(table: Any, action: Action) -> Choice | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    expected = TYPE_OF_PHASE[int(table.phase)]
    if action.action_type not in TYPE_OF_PHASE:
        return ts.unknown_action(action, (*TYPE_OF_PHASE, "message_only"))
    if action.action_type != expected:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"{action.action_type} is not legal in this phase; {expected} is")
    try:
        return {"nightAction": _night, "vote": _vote, "say": _say}[expected](table, action.payload)
    except msgspec.ValidationError as error:
        return ts.refused(ts.INVALID_PAYLOAD, f"{expected}: {error}")
    except ValueError as error:
        return ts.refused(ts.INVALID_PAYLOAD, str(error))


def _night(table: Any, payload: dict[str, Any]) -> Choice | ActionResult:
    wanted = msgspec.convert(payload, NightAction)
    kind = NIGHT_ACTIONS[int(table.role[int(table.turn)])]
    if wanted.actionType != kind:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"actionType {repr(wanted.actionType)}: yours is {kind}")
    return aimed(table, TARGET, wanted.targetId)


def _vote(table: Any, payload: dict[str, Any]) -> Choice | ActionResult:
    target = msgspec.convert(payload, VoteAction).targetId
    return Choice(VOTE, -1) if target is None else aimed(table, VOTE, target)


def aimed(table: Any, kind: int, target_id: str) -> Choice | ActionResult:
    """Return the choice of a target, or a refusal that names the legal ones.

    Raises:
        ValueError: for an id that nobody has.
    """
    target, open_ = _seat(table, target_id), targets(table)
    if target in open_:
        return Choice(kind, target)
    why = "is of your own team"
    if not table.alive[target]:
        why = "is dead"
    elif kind == TARGET and table.role[int(table.turn)] == DOCTOR:
        why = "was protected last night"
    elif target == table.turn:
        why = "is yourself"
    names = ", ".join(map(name, open_))
    return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot choose {target_id}, who {why}; the legal targets are {names}")


def _seat(table: Any, target_id: str) -> int:
    ids = ids_of(table)
    if target_id not in ids:
        raise ValueError(f"targetId {repr(target_id)} is not one of {', '.join(ids)}")
    return ids.index(target_id)


def _say(table: Any, payload: dict[str, Any]) -> Choice | ActionResult:
    wanted = msgspec.convert(payload, Say)
    text = wanted.text or ""
    if len(text) > MESSAGE_LENGTH:
        raise ValueError(f"text has {len(text):,} characters; at most {MESSAGE_LENGTH:,} are allowed")
    if wanted.type is None:
        if (wanted.targetId, wanted.role, wanted.isMafia) != (None, None, None):
            raise ValueError(f"targetId, role and isMafia need a type: {', '.join(TYPES)}")
        if not text.strip():
            raise ValueError(f"give a type ({', '.join(TYPES)}) or a text")
        return _heard(table, text, ids_of(table))
    target = -1 if wanted.targetId is None else _seat(table, wanted.targetId)
    kind, target = from_wire(wanted.type, target, wanted.role, wanted.isMafia)
    if not sayable(table, kind, target):
        why = "is dead" if not table.alive[target] else "is yourself"
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot say that of {wanted.targetId}, who {why}")
    return Choice(kind, target)


def _heard(table: Any, text: str, names: Sequence[str]) -> Choice:
    kind, target = read(text, int(table.turn), {called: seat for seat, called in enumerate(names)})
    return Choice(kind, target) if sayable(table, kind, target) else Choice(GENERAL, -1)


def interpret(table: Any, action: Action, names: Sequence[str]) -> Action:
    """Return a `say` action with the act that its text states, by `names`; any other action unchanged."""
    text = action.payload.get("text")
    if action.action_type != "say" or not isinstance(text, str) or not text.strip() or len(text) > MESSAGE_LENGTH:
        return action
    if table.phase != DISCUSSION or any(part is not None for key, part in action.payload.items() if key != "text"):
        return action
    act = _heard(table, text, names)
    return Action("say", {**to_wire((int(act.kind), int(act.target)), names), "text": text})


def sayable(table: Any, kind: int, target: int) -> bool:
    """Return True if a statement is legal: about nobody, about another living player, or in one's own defence."""
    return target < 0 or (bool(table.alive[target]) and (target != table.turn or kind == DEFEND))


def action_messages(table: Any, action: Action) -> list[MessageIntent]:
    """Return the messages of an accepted action: the text of a statement, public."""
    if action.action_type != "say":
        return []
    text = action.payload.get("text")
    if text is None or not text.strip():
        ids = ids_of(table)
        target_id = action.payload.get("targetId")
        target = -1 if target_id is None else ids.index(target_id)
        act = from_wire(action.payload["type"], target, action.payload.get("role"), action.payload.get("isMafia"))
        text = sentence(act, int(table.turn), ids)
    return [MessageIntent(MessageScope.PUBLIC, text)]


def message_violation(table: Any, seat: int, intent: MessageIntent) -> str | None:
    """Return why `seat` may not send a message now: only living mafia may, at night, and only to their teammates."""
    if intent.scope == MessageScope.PUBLIC:
        return "a public statement is the action say, once in a discussion round"
    ours = [other for other in range(int(table.seats)) if table.role[other] == MAFIA and table.alive[other]]
    return private_violation(table, seat, intent, ours, "the living mafia")


def private_violation(table: Any, seat: int, intent: MessageIntent, ours: Sequence[int], who: str) -> str | None:
    """Return why `seat` may not send a private message now: only some seats may, at night, and only to each other.

    Args:
        table: the record.
        seat: who sends it.
        intent: the message.
        ours: the seats that may send and get it.
        who: what these are called.
    """
    if table.phase != NIGHT or seat not in ours:
        return f"private messages are only for {who}, at night"
    ids, readers = [name(other) for other in ours], intent.to_agent_ids or []
    if not readers or any(reader not in ids for reader in readers):
        return f"a private message needs to_agent_ids among {who}: {', '.join(ids)}"
    return None


def nearest(table: Any, move: Choice) -> int:
    """Return the action index of `move`; every move has one."""
    kind, target, seats = int(move.kind), int(move.target), int(table.seats)
    away = (target - int(table.turn)) % seats if target >= 0 else 0
    blocks = ((TARGET,), (VOTE,), (GENERAL, ACCUSE), (DEFEND,), (CLEARED, CLAIM_SHERIFF), (FOUND, CLAIM_DOCTOR))
    block = next((block for block, kinds in enumerate(blocks) if kind in kinds), None)
    return 6 * seats + kind - CLAIM_VILLAGER if block is None else block * seats + away


def safe(table: Any) -> int:
    """Return the index of the safe action: a random legal target, a general statement, or abstain."""
    seats = int(table.seats)
    if table.phase != NIGHT:
        return seats if table.phase == VOTING else 2 * seats
    return any_legal(table)


def any_legal(table: Any) -> int:
    """Return a random legal action index, the same whenever it is asked for in this turn."""
    mask = np.zeros(6 * int(table.seats) + 2, np.int8)
    legal(table, mask)
    return int(choose(mask, 0, np.uint64(mix(np.uint64(table.stream) ^ np.uint64(1 + int(table.turn))))))


class Among(spaces.Space[Any]):
    """The space of a few values, such as names or None."""

    def __init__(self, values: list[Any], seed: int | np.random.Generator | None = None) -> None:
        self.values = list(values)
        super().__init__(None, None, seed)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        """Return one of the values, drawn uniformly."""
        return self.values[int(self.np_random.integers(len(self.values)))]

    def contains(self, x: Any) -> bool:
        """Return True if `x` is one of the values."""
        return any(type(value) is type(plain) and value == plain for plain in [_plain(x)] for value in self.values)

    @property
    def is_np_flattenable(self) -> bool:
        """False: the values are not numbers."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Among) and other.values == self.values

    def __repr__(self) -> str:
        return f"Among({self.values})"


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, (np.generic, np.ndarray)) and value.ndim == 0 else value


def text_space() -> spaces.Text:
    """Return the space of what is said."""
    return spaces.Text(MESSAGE_LENGTH, min_length=0, charset=frozenset(map(chr, range(32, 127))))
