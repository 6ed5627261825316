"""Writes the part of a game's page about its live protocol, from the types of its messages."""

import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec
from msgspec import Struct
from msgspec import inspect as types
from parlour.envs import AgentResponse, TurnState
from parlour.envs.core.how_to_play import structs_in
from parlour.wrappers.live.common.player import Played, Turn
from parlour.wrappers.live.mafia import messages as mafia
from parlour.wrappers.live.poker import messages as poker
from parlour.wrappers.live.poker.agent import PokerAgentSession as PokerSession
from parlour.wrappers.live.poker.host import PokerHostSession as PokerTable
from parlour.wrappers.live.poker.host import PokerRules
from parlour.wrappers.live.tangram import messages as tangram
from words import plain, table

FIELDS_OF = "bargaining-v0"
"""The page with the fields of TurnState and of its answer."""
WIRES: dict[str, dict[str, Any]] = {
    FIELDS_OF: {"to the agent": TurnState, "its answer": AgentResponse},
    "holdem-v0": {"from the table": poker.ServerMessage, "from the agent": poker.ClientMessage},
    "mafia-v0": {
        "a call, to the agent": mafia.Call | mafia.Cancel,
        "its answer": mafia.Reply,
        "`context`": mafia.GameState,
        "`info` of `think` and `nightAction`": mafia.PrivateInfo,
        "`info` of `say` and `vote`": mafia.PublicInfo,
        "`result`": mafia.NightAction | mafia.VoteAction,
    },
    "tangram-v0": {"from the game": tangram.GameMessage, "from the agent": tangram.AgentMessage},
}
"""The types of the messages, by game; the other games have those of `FIELDS_OF`."""

ARENAS = "[Arenas](../bridges/arena.md). The messages are TurnState itself, as JSON"
FIELD_BY_FIELD = f"{ARENAS}, [field by field]({FIELDS_OF.replace('-', '_')}.rst)."
INTROS = {
    "holdem-v0": "[Poker, live](../bridges/poker.md). `kind` is the action type, `amount` that of `raiseTo`'s payload.",
    "mafia-v0": "[Mafia, live](../bridges/mafia.md). `nightAction` and `vote` return the payloads above; `say` streams "
    "the `text` of its payload, and hosts read the act from these words.",
    "tangram-v0": "[Tangram, live](../bridges/tangram.md). `play` and `finish` are the payloads above with a `type`; "
    "messages of TurnState are sent as `chat`.",
    "bargaining-v0": f"{ARENAS}. The arenas call it `unfair-split`.",
    "auction-v0": f"{FIELD_BY_FIELD} The arenas call it `first-price-auction`.",
}
"""What the page says first, by game."""


def wire(game_id: str) -> str:
    """Return the messages of the game's live protocol, from their types."""
    parts = [INTROS.get(game_id, FIELD_BY_FIELD)]
    for direction, kinds in WIRES.get(game_id, {}).items():
        parts.append(f"**{direction[0].upper()}{direction[1:]}**")
        parts.append(table(["message", "fields (? may be missing)", ""], [described(kind) for kind in structs(kinds)]))
    if game_id == "holdem-v0":
        parts += ["One turn, as both ends of Parlour write it:", f"```jsonl\n{poker_turn()}\n```"]
    return "\n\n".join(parts)


def poker_turn() -> str:
    """Return the messages of one turn at a table of two, spoken by the two sessions."""
    host = PokerTable(
        PokerRules(seats=2, stack=200, raise_cap=None), seed=0, token=lambda: "550e8400-e29b-41d4-a716-446655440099"
    )
    agents = [PokerSession(), PokerSession()]
    for seat in range(2):
        host.join(f"agt_{seat}", f"Player{seat}")
    sends = [send for seat in range(2) for send in host.connect(seat)]
    for send in sends:
        for event in agents[send.receiver].receive(poker.encode(send.message)):
            if isinstance(event, Turn):
                response, problem = event.settle(
                    lambda: {"action": {"action_type": "raiseTo", "payload": {"amount": 6}}}
                )
                (answer,) = agents[send.receiver].reply(event, Played(response, problem))
                ack = next(
                    one.message
                    for one in host.receive(send.receiver, poker.encode(answer))
                    if one.receiver == send.receiver
                )
                return "\n".join(map(poker.encode, (send.message, answer, ack)))
    raise AssertionError("nobody had a turn")


def structs(kinds: Any) -> Iterator[type[Struct]]:
    """Return the structs of a type, and after them those that their fields have, each once."""
    found: dict[type[Struct], None] = dict.fromkeys(get_args(kinds) or [kinds])
    queue = list(found)
    while queue:
        for part in msgspec.structs.fields(queue.pop(0)):
            for kind in structs_in(types.type_info(part.type)):
                if kind not in found:
                    found[kind] = None
                    queue.append(kind)
    yield from found


def described(kind: type[Struct]) -> list[str]:
    """Return a struct's name on the wire, its fields, and what its docstring says."""
    tag = kind.__struct_config__.tag
    name = f"`{tag}`" if tag else f"{kind.__name__}"
    fields = []
    for part in msgspec.structs.fields(kind):
        optional = "" if part.required else "?"
        fields.append(f"`{part.encode_name}{optional}: {kind_name(types.type_info(part.type))}`")
    words = plain((inspect.getdoc(kind) or "").partition("\n\n")[0])
    return [name, ", ".join(fields), words]


def rows_of(kind: type[Struct], meanings: Mapping[str, str], before: str = "") -> Iterator[list[str]]:
    """Return the path, the type and the meaning of a struct's fields, and after each those of the structs in it.

    `meanings` has words for fields of `kind`, which stand in place of the type's, unless they begin with these.
    """
    for part in msgspec.structs.fields(kind):
        info = types.type_info(part.type)
        name = kind_name(info)
        meaning = info.extra_json_schema["description"] if isinstance(info, types.Metadata) else ""
        words = meanings.get(part.encode_name, meaning)
        meaning = meaning if meaning and words.startswith(meaning) else words
        yield [f"`{before}{part.encode_name}`", f"`{name}`", plain(meaning)]
        for inner in structs_in(info):
            yield from rows_of(inner, {}, f"{before}{part.encode_name}{'[]' if '[]' in name else ''}.")


def kind_name(kind: Any) -> str:
    """Return a type as people write it."""
    match kind:
        case types.Metadata():
            return kind_name(kind.type)
        case types.StructType():
            return kind.cls.__name__
        case types.UnionType():
            return " | ".join(dict.fromkeys(map(kind_name, kind.types)))
        case types.ListType():
            return f"{kind_name(kind.item_type)}[]"
        case types.DictType():
            return f"{{{kind_name(kind.key_type)}: {kind_name(kind.value_type)}}}"
        case types.TupleType():
            return f"[{', '.join(map(kind_name, kind.item_types))}]"
        case types.LiteralType():
            return " | ".join(json.dumps(value) for value in kind.values)
        case types.EnumType():
            return " | ".join(json.dumps(value.value) for value in kind.cls)
        case types.AnyType() | types.RawType():
            return "any"
    return {"str": "text", "none": "null", "bool": "bool", "int": "int", "float": "number"}[
        type(kind).__name__.removesuffix("Type").lower()
    ]
