"""Action index ◄─► move ◄─► payload, in the platform's payloads. The action indices are those of mafia."""

from collections.abc import Mapping
from reprlib import repr
from typing import Any

from gymnasium import spaces

from ..core import turn_state as ts
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
)
from ..core.view import ActionRange
from ..mafia import actions as mafia
from ..mafia.actions import Among, text_space
from ..mafia.rules import Choice, decode
from ..mafia.statements import read, sentence
from ..mafia.table import CLAIM_DOCTOR, GENERAL, MAFIA, NIGHT, TARGET, VOTE, VOTING
from ..mafia.view import name
from .view import DISCUSSION, NIGHT_OF_SEER, NIGHT_OF_WOLVES, SILENT, WerewolfState, in_mafia, in_werewolf, is_ready
from .view import VOTE as VOTE_PHASE
from .view import phase as phase_of

KILL, INSPECT, CAST, READY, SAY = TYPES = (
    "night_kill",
    "seer_inspect",
    "cast_vote",
    "ready_to_vote",
    "send_public_message",
)
KINDS_OF_PHASE = {NIGHT_OF_WOLVES: (KILL,), NIGHT_OF_SEER: (INSPECT,), DISCUSSION: (SAY, READY), VOTE_PHASE: (CAST,)}
"""The action types that the acting seat may play."""
TARGET_KEYS = {KILL: "target", INSPECT: "inspect", CAST: "target"}
"""The key of the target in the payload."""
MEANINGS = {
    KILL: "nominate whom the werewolves kill; the last nomination decides",
    INSPECT: "learn whether a player is a werewolf",
    CAST: "vote to lynch a player",
    READY: "say nothing more; if more than half of the living are ready, the vote begins",
    SAY: "say this to everybody",
}


def action_spaces(table: Any) -> dict[str, spaces.Dict]:
    """Return every action type with the space of its payload."""
    ids, text = mafia.ids_of(table), text_space()
    targets = {kind: spaces.Dict({key: Among(ids)}) for kind, key in TARGET_KEYS.items()}
    return {**targets, READY: spaces.Dict({}), SAY: spaces.Dict({"content": text}), "message_only": spaces.Dict({})}


def action_ranges(seats: int) -> tuple[ActionRange, ...]:
    """Return the action ranges: six blocks of n = `seats` indices, and two more. Index r of a block is the
    relative seat r, counted from the acting seat."""
    inspect, say = (INSPECT,), (SAY,)
    blocks = [
        ((inspect, "oneself is the target"), ((KILL, INSPECT), "r is the target of the night")),
        (((CAST,), "never legal"), ((CAST,), "vote for r")),
        (((READY,), "say nothing more"), (say, "“r is a werewolf” (accusation)")),
        ((say, "“I am innocent” (defense)"), (say, "“r is innocent” (defense)")),
        ((say, "“I am the seer”"), (say, "“I am the seer: r is not a werewolf” (claim)")),
        ((say, "never legal"), (say, "“I am the seer: r is a werewolf” (claim)")),
    ]
    return mafia.ranges_of(seats, blocks, ((say, "“I am a villager”"), (say, "“I am a werewolf”")))


def kinds_now(table: Any) -> tuple[str, ...]:
    """Return the action types that the acting seat may play."""
    return KINDS_OF_PHASE[phase_of(table)]


def allowed(game_state: WerewolfState, seat: int, phase: str) -> list[AllowedAction]:
    """Return the legal actions of the acting seat, with their legal targets."""
    kinds = KINDS_OF_PHASE[game_state.phase]
    own = game_state.agent_ids[seat]
    offers = [AllowedAction(kind, MEANINGS[kind], _schema(game_state, own, kind)) for kind in kinds]
    later = AllowedAction("message_only", "send messages and decide later in this turn", NOTHING)
    return offers if SAY in kinds else [*offers, later]


def _schema(game_state: WerewolfState, own: str, kind: str) -> dict[str, Any]:
    if kind == READY:
        return NOTHING
    if kind == SAY:
        return ts.payload_schema({"content": {"type": "string", "maxLength": MESSAGE_LENGTH}}, [])
    kept = [] if kind == INSPECT else [own]
    kept += or_else(game_state.fellow_werewolves, []) if kind == KILL else []
    targets = [target for target in game_state.alive_players if target not in kept]
    return ts.payload_schema({TARGET_KEYS[kind]: {"type": "string", "enum": targets}})


def encode(table: Any, action: int) -> AgentResponse:
    """Return the payload of a legal action index."""
    move = decode(table, action)
    kind, target, turn = int(move.kind), int(move.target), int(table.turn)
    if kind in (TARGET, VOTE):
        (word,) = kinds_now(table)
        return AgentResponse(Action(word, {TARGET_KEYS[word]: name(target)}))
    if kind == GENERAL:
        return AgentResponse(Action(READY))
    text = in_werewolf(sentence((kind, target), turn, mafia.ids_of(table)))
    return AgentResponse(Action(SAY, {"content": text}))


def parse(table: Any, action: Action) -> Choice | ActionResult:
    """Return the exact move of a payload, or a refusal that names the right values."""
    kind, payload, open_now = action.action_type, action.payload, kinds_now(table)
    if kind not in TYPES:
        return ts.unknown_action(action, (*TYPES, "message_only"))
    if kind not in open_now:
        return ts.refused(ts.GAME_RULE_VIOLATION, f"cannot {kind} now; legal: {', '.join(open_now)}")
    if kind == READY:
        if payload:
            return ts.unwanted_payload(action)
        return Choice(GENERAL, -1)
    return _said(table, payload) if kind == SAY else _target(table, kind, payload)


def _target(table: Any, kind: str, payload: Mapping[str, Any]) -> Choice | ActionResult:
    ids, key = mafia.ids_of(table), TARGET_KEYS[kind]
    if set(payload) != {key} or payload[key] not in ids:
        wanted = f"{kind} needs {key}, one of {', '.join(ids)}"
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}; got {repr(dict(payload))}")
    return mafia.aimed(table, VOTE if kind == CAST else TARGET, payload[key])


def _said(table: Any, payload: Mapping[str, Any]) -> Choice | ActionResult:
    text = payload.get("content", "")
    if set(payload) - {"content"} or not isinstance(text, str) or len(text) > MESSAGE_LENGTH:
        wanted = f"{SAY} needs content, text of at most {MESSAGE_LENGTH:,} characters"
        return ts.refused(ts.INVALID_PAYLOAD, f"{wanted}; got {repr(dict(payload))}")
    seats = {called: seat for seat, called in enumerate(mafia.ids_of(table))}
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
    ours = [other for other in range(int(table.seats)) if table.role[other] == MAFIA]
    return mafia.private_violation(table, seat, intent, ours, "the werewolves")


def nearest(table: Any, move: Choice) -> int:
    """Return the action index of `move`; for a text in which nothing was found, that of `ready_to_vote`."""
    return int(mafia.nearest(table, move if is_ready(move) else Choice(GENERAL, -1)))


def safe(table: Any) -> int:
    """Return the action index of the safe action: a random legal target, or ready to vote."""
    return mafia.any_legal(table) if table.phase in (NIGHT, VOTING) else 2 * int(table.seats)
