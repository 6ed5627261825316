"""Action index ◄─► move ◄─► payload, in the platform's payloads. The action indices are those of mafia."""

from collections.abc import Mapping
from reprlib import repr
from typing import Any

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
)
from ..core.view import ActionRange
from ..mafia import actions as mafia
from ..mafia.actions import Among
from ..mafia.moves import decode, legal
from ..mafia.rules import Choice
from ..mafia.statements import read, sentence
from ..mafia.table import CLAIM_DOCTOR, GENERAL, MAFIA, NIGHT, TARGET, VOTE, VOTING
from ..mafia.view import name
from .view import SILENT, is_ready
from .words import in_mafia, in_werewolf

KILL, INSPECT, CAST, READY, SAY = TYPES = (
    "night_kill",
    "seer_inspect",
    "cast_vote",
    "ready_to_vote",
    "send_public_message",
)
TARGET_KEYS = {KILL: "target", INSPECT: "inspect", CAST: "target"}
"""The key of the target in the payload."""
MEANINGS = {
    KILL: "nominate whom the werewolves kill; the last nomination decides",
    INSPECT: "learn whether a player is a werewolf",
    CAST: "vote to lynch a player",
    READY: "say nothing more; if more than half of the living are ready, the vote begins",
    SAY: "say this to everybody",
}
_PRINTABLE = frozenset(map(chr, range(32, 127)))


def action_spaces(table: Any) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    ids = [name(seat) for seat in range(int(table.seats))]
    text = spaces.Text(MESSAGE_LENGTH, min_length=0, charset=_PRINTABLE)
    targets = {kind: spaces.Dict({key: Among(ids)}) for kind, key in TARGET_KEYS.items()}
    return {**targets, READY: spaces.Dict({}), SAY: spaces.Dict({"content": text}), "message_only": spaces.Dict({})}


def action_ranges(seats: int) -> tuple[ActionRange, ...]:
    """Return the action ranges: six blocks of n = `seats` indices, and two more. Index r of a block is the
    relative seat r, counted from the acting seat."""
    others = {
        0: ((KILL, INSPECT), "r is the target of the night", (INSPECT,), "oneself is the target"),
        1: ((CAST,), "vote for r", (CAST,), "never legal"),
        2: ((SAY,), "“r is a werewolf” (accusation)", (READY,), "say nothing more"),
        3: ((SAY,), "“r is innocent” (defense)", (SAY,), "“I am innocent” (defense)"),
        4: ((SAY,), "“I am the seer: r is not a werewolf” (claim)", (SAY,), "“I am the seer”"),
        5: ((SAY,), "“I am the seer: r is a werewolf” (claim)", (SAY,), "never legal"),
    }
    ranges = []
    for block, (types, meaning, own_types, of_oneself) in others.items():
        first = block * seats
        ranges.append(ActionRange(first, first + 1, own_types, of_oneself))
        ranges.append(ActionRange(first + 1, first + seats, types, meaning))
    last = 6 * seats
    ranges.append(ActionRange(last, last + 1, (SAY,), "“I am a villager”"))
    ranges.append(ActionRange(last + 1, last + 2, (SAY,), "“I am a werewolf”"))
    return tuple(ranges)


def kinds_now(table: Any) -> tuple[str, ...]:
    """Return the action types that the acting seat may play."""
    if table.phase == NIGHT:
        return (KILL,) if table.role[int(table.turn)] == MAFIA else (INSPECT,)
    return (CAST,) if table.phase == VOTING else (SAY, READY)


def allowed(table: Any) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their legal targets."""
    kinds = kinds_now(table)
    offers = [AllowedAction(kind, MEANINGS[kind], _schema(table, kind)) for kind in kinds]
    later = AllowedAction("message_only", "send messages and decide later in this turn", NOTHING)
    return offers if SAY in kinds else [*offers, later]


def _schema(table: Any, kind: str) -> dict[str, Any]:
    if kind == READY:
        return NOTHING
    if kind == SAY:
        content = {"content": {"type": "string", "maxLength": MESSAGE_LENGTH}}
        return {"type": "object", "properties": content, "required": [], "additionalProperties": False}
    key = TARGET_KEYS[kind]
    target = {key: {"type": "string", "enum": [name(seat) for seat in mafia.targets(table)]}}
    return {"type": "object", "properties": target, "required": [key], "additionalProperties": False}


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    kind, target, turn = int(move.kind), int(move.target), int(table.turn)
    if kind in (TARGET, VOTE):
        (word,) = kinds_now(table)
        return AgentResponse(Action(word, {TARGET_KEYS[word]: name(target)}))
    if kind == GENERAL:
        return AgentResponse(Action(READY))
    ids = [name(seat) for seat in range(int(table.seats))]
    return AgentResponse(Action(SAY, {"content": in_werewolf(sentence((kind, target), turn, ids))}))


def parse(table: Any, action: Action) -> Choice | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    kind, payload, open_now = action.action_type, action.payload, kinds_now(table)
    if kind not in TYPES:
        known = ", ".join((*TYPES, "message_only"))
        return ts.refused(ts.INVALID_ACTION_TYPE, f"{repr(kind)} is not an action here: {known}")
    if kind not in open_now:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {kind} now; legal: {', '.join(open_now)}")
    if kind == READY:
        if payload:
            return ts.refused(ts.INVALID_PAYLOAD, f"{kind} takes no payload, got {repr(payload)}")
        return Choice(GENERAL, -1)
    return _said(table, payload) if kind == SAY else _target(table, kind, payload)


def _target(table: Any, kind: str, payload: Mapping[str, Any]) -> Choice | ActionResult:
    ids, key = [name(seat) for seat in range(int(table.seats))], TARGET_KEYS[kind]
    if set(payload) != {key} or payload[key] not in ids:
        wanted = f"{kind} needs {key}, one of {', '.join(ids)}"
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}; got {repr(dict(payload))}")
    open_, target = mafia.targets(table), ids.index(payload[key])
    if target not in open_:
        names = ", ".join(map(name, open_))
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot choose {payload[key]}; the legal targets are {names}")
    return Choice(VOTE if kind == CAST else TARGET, target)


def _said(table: Any, payload: Mapping[str, Any]) -> Choice | ActionResult:
    text = payload.get("content", "")
    if set(payload) - {"content"} or not isinstance(text, str) or len(text) > MESSAGE_LENGTH:
        wanted = f"{SAY} needs content, text of at most {MESSAGE_LENGTH:,} characters"
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}; got {repr(dict(payload))}")
    seats = {name(seat): seat for seat in range(int(table.seats))}
    kind, target = read(in_mafia(text), int(table.turn), seats)
    nothing = kind in (GENERAL, CLAIM_DOCTOR) or not mafia.sayable(table, kind, target)
    return Choice(GENERAL, SILENT) if nothing else Choice(kind, target)


def action_messages(table: Any, action: Action) -> list[MessageIntent]:
    """Return the messages of an accepted action: what is said to everybody."""
    text = action.payload.get("content", "") if action.action_type == SAY else ""
    return [MessageIntent(MessageScope.PUBLIC, text)] if text.strip() else []


def message_violation(table: Any, seat: int, intent: MessageIntent) -> str | None:
    """Return why `seat` may not send a message now: the living speak by day, and werewolves at night to each other."""
    if not table.alive[seat]:
        return "the dead say nothing"
    if intent.scope == MessageScope.PUBLIC:
        return "at night nobody speaks to everybody" if table.phase == NIGHT else None
    ours = [name(other) for other in range(int(table.seats)) if table.role[other] == MAFIA]
    if table.phase != NIGHT or name(seat) not in ours:
        return "private messages are only for werewolves, at night"
    readers = intent.to_agent_ids or []
    if not readers or any(reader not in ours for reader in readers):
        return f"a private message needs to_agent_ids among the werewolves: {', '.join(ours)}"
    return None


def nearest(table: Any, move: Choice) -> int:
    """Return the action index of `move`; for a text in which nothing was found, that of `ready_to_vote`."""
    return int(mafia.nearest(table, move if is_ready(move) else Choice(GENERAL, -1)))


def safe(table: Any) -> int:
    """Return the action index of the safe action: a random legal target, or ready to vote."""
    seats = int(table.seats)
    if table.phase not in (NIGHT, VOTING):
        return 2 * seats
    mask = np.zeros(6 * seats + 2, np.int8)
    legal(table, mask)
    return int(choose(mask, 0, np.uint64(mix(np.uint64(table.stream) ^ np.uint64(1 + int(table.turn))))))
