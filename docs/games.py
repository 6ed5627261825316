"""Writes the pages of the games and their pictures, from the definitions that the code uses: ``make docs``.

A page is its hand-written beginning (``games/intro/<game>.md``) and what the code says: options from the signature and
docstring of `game`, actions from `View.action_ranges` and the schemas of a played episode, the observation from its
`Layout`, the wire from the messages' types, versions from the changelog. A test compares the committed pages with
these.
"""

import inspect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import docstring_parser
import msgspec
import numpy as np
from msgspec import Struct
from msgspec import inspect as types
from parlour.envs import GAMES, AgentResponse, Game, TurnState, find
from parlour.envs.render.svg import HEIGHT, WIDTH
from parlour.wrappers.live.common.sessions import Decision
from parlour.wrappers.live.mafia import messages as mafia
from parlour.wrappers.live.poker import messages as poker
from parlour.wrappers.live.poker.agent_session import PokerAgentSession as PokerSession
from parlour.wrappers.live.poker.host_session import PokerHostSession as PokerTable
from parlour.wrappers.live.tangram import messages as tangram

DOCS = Path(__file__).parent
CHANGELOG = DOCS.parent / "CHANGELOG.md"


@dataclass(frozen=True)
class Scene:
    """A moment of a game for its picture and its example of TurnState.

    Attributes:
        options: the game's.
        seed: of the episode.
        play: action numbers; or a bot that plays `decisions` of them.
        variants: options with which the observation has further slices.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    play: Sequence[int] | str = ()
    decisions: int = 0
    variants: Sequence[Mapping[str, Any]] = ()


SCENES = {
    "holdem-v0": Scene(seed=4, play=(1, 4, 1, 0, 0, 0, 1, 1, 4, 1, 0, 4)),
    "mafia-v0": Scene(seed=3, play="mixed", decisions=31),
    "tangram-v0": Scene({"figure": "A house"}, 3, "solver", 9, variants=[{"modality": "both"}]),
    "bargaining-v0": Scene(seed=3, play="conceder", decisions=7, variants=[{"talk": True}, {"public": True}]),
    "auction-v0": Scene({"seats": 4}, 3, "equilibrium", 2, variants=[{"talk": True}]),
    "kuhn-v0": Scene(seed=5, play=(0, 1)),
    "leduc-v0": Scene(seed=2, play=(1, 2, 1, 2)),
    "liars_dice-v0": Scene({"dice": 3}, 3, "careful", 4),
}
WIRES: dict[str, dict[str, Any]] = {
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
    "bargaining-v0": {"to the agent": TurnState, "its answer": AgentResponse},
    "auction-v0": {"to the agent": TurnState, "its answer": AgentResponse},
    "kuhn-v0": {"to the agent": TurnState, "its answer": AgentResponse},
    "leduc-v0": {"to the agent": TurnState, "its answer": AgentResponse},
    "liars_dice-v0": {"to the agent": TurnState, "its answer": AgentResponse},
}
"""What travels, by game: the types of the bridge's messages."""
BRIDGES = {
    "turnstate": ("TurnState", "arena"),
    "mafia": ("mafia", "mafia"),
    "poker": ("poker", "poker"),
    "tangram": ("tangram", "tangram"),
}
"""What people call the protocol of a document that docstrings name, and the page of its bridge."""


def main() -> None:
    """Write all of it."""
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files() -> dict[Path, str]:
    """Return every generated file's text by its path."""
    written = {DOCS / "parlour.svg": front_picture()}
    for game_id in SCENES:
        name = game_id.partition("-")[0]
        written[DOCS / "games" / f"{name}.svg"] = picture(game_id)
        written[DOCS / "games" / f"{name}.md"] = page(game_id)
    return written


# Pictures.


def moment(game_id: str) -> tuple[Game, Any]:
    """Return the game of a scene, and the table at its moment."""
    scene = SCENES[game_id]
    game = find(game_id)(**scene.options)
    table = game.tables(1)[0]
    table.stream = scene.seed
    game.rules.reset(table)
    if not isinstance(scene.play, str):
        for number in scene.play:
            game.rules.play(table, number)
        return game, table
    bot = game.bots[scene.play](game, seed=scene.seed)
    for _ in range(scene.decisions):
        seat = int(table.turn)
        (number,) = bot.act(game.observation(table, seat)[None], game.mask(table, seat)[None])
        game.rules.play(table, int(number))
    return game, table


def picture(game_id: str, seat: int | None = None) -> str:
    """Return the picture of a scene, with everything shown or as `seat` sees it."""
    game, table = moment(game_id)
    seats = range(game.seats) if seat is None else [seat]
    return game.renderer.picture([game.turn_state(table, one) for one in seats])


def front_picture() -> str:
    """Return the games side by side, and hold'em again as one player sees it."""
    pictures = [picture(game_id) for game_id in SCENES]
    pictures.insert(1, picture("holdem-v0", 0))
    places = [(column * WIDTH, row * HEIGHT) for row in range(3) for column in range(3)]
    placed = [one.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1) for one, (x, y) in zip(pictures, places, strict=True)]
    size = f'viewBox="0 0 {3 * WIDTH} {3 * HEIGHT}" width="{3 * WIDTH}" height="{3 * HEIGHT}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *placed, "</svg>", ""])


# Pages.


def page(game_id: str) -> str:
    """Return the page of a game."""
    name = game_id.partition("-")[0]
    game = find(game_id)()
    heading, _, intro = (DOCS / "games" / "intro" / f"{name}.md").read_text(encoding="utf-8").strip().partition("\n")
    parts = [
        f"<!-- Written by docs/games.py from intro/{name}.md and the code: change those, then `make docs`. -->",
        heading,
        f"![{heading.removeprefix('# ')}, with all hidden information]({name}.svg)",
        intro.strip(),
        f"## At a glance\n\n{glance(game)}",
        f"## Options\n\n`{name}_{game.encoder}.env(**options)`. A value out of its range is an error."
        f"\n\n{options(game_id)}",
        f"## Actions\n\n{actions(game)}",
        f"## Observation\n\n{observation(game_id)}",
        f"## Bots\n\n{bots(name)}",
        f"## TurnState\n\n{linked(turn_state(game_id))}",
        f"## On the wire\n\n{linked(wire(game_id))}",
        f"## Versions\n\n{versions(name)}",
    ]
    return "\n\n".join(parts) + "\n"


def glance(game: Game) -> str:
    """Return the facts of a game with its default options."""
    low, high = game.payoffs.low, game.payoffs.high
    sums = "; the rewards of all seats sum to zero" if game.payoffs.zero_sum else ""
    unit = (
        ""
        if game.payoffs.unit == 1
        else f"; reports and single-agent environments count {game.payoffs.unit:g} as 1 ({game.payoffs.unit_name})"
    )
    grid = "" if game.view.grid is None else f'; `action="grid"`: `MultiDiscrete({list(game.view.grid.sizes)})`'
    extras = {
        "talk is an observed part of the game": game.capabilities.talk is not None,
        "whose turn it is may be hidden": game.capabilities.hidden_turn is not None,
        "seats form teams": game.capabilities.teams is not None,
    }
    rows = {
        "environment": f"`parlour.envs.{game.name}_{game.encoder}`, `parlour/{game.id}` (PettingZoo), "
        f"`parlour/{game.name.capitalize()}-{game.encoder}` (Gymnasium)",
        "agents": f"{game.seats}: `{game.agents[0]}` to `{game.agents[-1]}`",
        "action": f'`Discrete({game.num_actions})` with a mask; `action="payload"`: `Dict` of the payloads below{grid}',
        "observation": f'float32[{game.layout.size}] (`observation="flat"`), or a `Dict` structured as TurnState',
        "reward": f"{low:g} to {high:g} per episode and seat{sums}{unit}",
        "safe action": f"{first_sentence(game.view.safe).partition(': ')[2]}; played for an agent that gives no answer",
    }
    besides = "; ".join(what for what, so in extras.items() if so)
    return table(["with default options", ""], [*rows.items(), *([("besides", besides)] if besides else [])])


def options(game_id: str) -> str:
    """Return the options as a table, from the signature and its docstring."""
    make = find(game_id)
    told = {param.arg_name: param.description or "" for param in docstring_parser.parse(make.__doc__ or "").params}
    rows = []
    for name, parameter in inspect.signature(make, eval_str=False).parameters.items():
        kind = inspect.formatannotation(parameter.annotation).replace("collections.abc.", "")
        rows.append([f"`{name}`", f"`{kind}`", f"`{rounded(parameter.default)!r}`", plain(told[name])])
    return table(["option", "type", "default", ""], rows)


def actions(game: Game) -> str:
    """Return what the action indices mean, and every payload that was allowed in some episodes of random play."""
    rows = []
    for block in game.view.action_ranges:
        span = f"{block.start}" if block.stop == block.start + 1 else f"{block.start} to {block.stop - 1}"
        rows.append([span, " or ".join(f"`{name}`" for name in block.action_types), block.meaning])
    numbers = table(["action", "stands for", "meaning"], rows)
    payloads = [[f"`{name}`", plain(told), f"`{schema}`"] for name, told, schema in allowed(game)]
    return (
        f"{numbers}\n\n`env.submit(agent, Action(action_type, payload))` and live hosts take these payloads. The "
        "bounds here are those of one turn; `allowed_actions` in TurnState has those of the current turn.\n\n"
        + table(["action_type", "in that turn", "properties of its payload"], payloads)
    )


def allowed(game: Game) -> list[tuple[str, str, str]]:
    """Return the actions seen in random play, each kind once: type, description, the properties of its schema."""
    seen: dict[tuple[str, str], tuple[str, str, str]] = {}
    generator = np.random.default_rng(0)
    table = game.tables(1)[0]
    table.stream = 0
    for _ in range(6):
        game.rules.reset(table)
        for _ in range(60):
            if table.done:
                break
            for action in game.view.allowed(table):
                kind = action.action_type, re.sub(r"[\d.]+", "", action.description)
                properties = brief(action.payload_schema["properties"])
                seen.setdefault(kind, (action.action_type, action.description, properties))
            game.rules.play(table, int(generator.choice(np.flatnonzero(game.mask(table, int(table.turn))))))
    order = list(game.view.action_spaces)
    return sorted(seen.values(), key=lambda row: order.index(row[0]))


def observation(game_id: str) -> str:
    """Return the slices, and those that other options add."""
    layout = find(game_id)().layout
    parts = [
        f"{layout.size} numbers with the default options. For others: `env.unwrapped.game.layout.describe()`.",
        layout.describe(),
    ]
    for variant in SCENES[game_id].variants:
        other = find(game_id)(**variant).layout
        known = {part.path for part in layout}
        new = [
            [f"`{p.path}`", f"{p.shape}", f"{p.low:g} … {p.high:g}", p.meaning] for p in other if p.path not in known
        ]
        setting = ", ".join(f"{key}={value!r}" for key, value in variant.items())
        parts += [f"`{setting}` adds:", table(["slice", "shape", "range", "meaning"], new)]
    return "\n\n".join(parts)


def bots(name: str) -> str:
    """Return what the definition of the game's bots says of them."""
    module = import_module(f"parlour.envs.{name}.bots")
    (told,) = (one.description for one in docstring_parser.parse_from_object(module).params if one.arg_name == "BOTS")
    return f"Bots are policies: they get the observation and the mask of their seat.\n\n{plain(told or '')}"


def turn_state(game_id: str) -> str:
    """Return what the code says of TurnState, and an example of it."""
    name = game_id.partition("-")[0]
    game, table_ = moment(game_id)
    view = import_module(f"parlour.envs.{name}.view")
    state = game.turn_state(table_, int(table_.turn), match_id="example").to_dict()
    inside = ",\n".join(f'  "{key}": {written(value)}' for key, value in state.pop("game_state").items())
    outside = [f' "{key}": {written(value)}' for key, value in state.items()]
    shown = "{\n" + ",\n".join([*outside[:5], f' "game_state": {{\n{inside}\n }}', *outside[5:]]) + "\n}"
    words = markdown(view.__doc__ or "").replace("Record ──► ", "`view` and `load`: record ──► ", 1)
    return (
        f"{words}\n\n<details>\n<summary>An example: what {state['agent_id']} sees in the picture above</summary>\n\n"
        f"```json\n{shown}\n```\n\n</details>"
    )


def wire(game_id: str) -> str:
    """Return the messages of the game's live protocol, from their types."""
    parts = [WIRE_INTRO[game_id]]
    for direction, kinds in WIRES[game_id].items():
        parts.append(f"**{direction[0].upper()}{direction[1:]}**")
        parts.append(table(["message", "fields (? may be missing)", ""], [described(kind) for kind in structs(kinds)]))
    if game_id == "holdem-v0":
        parts += ["One turn, as both ends of Parlour write it:", f"```jsonl\n{poker_turn()}\n```"]
    return "\n\n".join(parts)


WIRE_INTRO = {
    "holdem-v0": "[Poker, live](../bridges/poker.md). `kind` is the action type, `amount` that of `raiseTo`'s payload.",
    "mafia-v0": "[Mafia, live](../bridges/mafia.md). `nightAction` and `vote` return the payloads above; `say` streams "
    "the `text` of its payload, and hosts read the act from these words.",
    "tangram-v0": "[Tangram, live](../bridges/tangram.md). `play` and `finish` are the payloads above with a `type`; "
    "messages of TurnState are sent as `chat`.",
    "bargaining-v0": "[Arenas](../bridges/arena.md). The messages are TurnState itself, as JSON. The arenas call it "
    "`unfair-split`.",
    "auction-v0": "[Arenas](../bridges/arena.md). The messages are TurnState itself, as JSON. The arenas call it "
    "`first-price-auction`.",
    **dict.fromkeys(
        ("kuhn-v0", "leduc-v0", "liars_dice-v0"), "[Arenas](../bridges/arena.md). TurnState itself travels, as JSON."
    ),
}


def poker_turn() -> str:
    """Return the messages of one turn at a table of two, spoken by the two sessions."""
    host = PokerTable(seats=2, stack=200, raise_cap=None, seed=0, token=lambda: "550e8400-e29b-41d4-a716-446655440099")
    agents = [PokerSession(), PokerSession()]
    for seat in range(2):
        host.join(f"agt_{seat}", f"Player{seat}")
    sends = [send for seat in range(2) for send in host.connect(seat)]
    for send in sends:
        for event in agents[send.receiver].receive(poker.encode(send.message)):
            if isinstance(event, Decision):
                (answer,) = agents[send.receiver].act({"action": {"action_type": "raiseTo", "payload": {"amount": 6}}})
                ack = next(
                    one.message
                    for one in host.receive(send.receiver, poker.encode(answer))
                    if one.receiver == send.receiver
                )
                return "\n".join(map(poker.encode, (send.message, answer, ack)))
    raise AssertionError("nobody had a turn")


def versions(name: str) -> str:
    """Return every version with its entries in the changelog."""
    entries = re.findall(r"^- (.*?)(?=^- |^## |\Z)", CHANGELOG.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    rows = []
    for game_id in (one for one in GAMES if one.partition("-")[0] == name):
        module = game_id.replace("-", "_")
        rows += [[f"`{module}`", plain(entry)] for entry in entries if f"`{module}`" in entry]
    return (
        "The observations, masks and rewards of a version never change. A change is a new version with an entry in the "
        "[changelog](../../CHANGELOG.md).\n\n" + table(["version", "changelog"], rows)
    )


# Words and types.


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def plain(text: str) -> str:
    """Return a docstring's words on one line, in Markdown."""
    return " ".join(text.split()).replace("``", "`")


def linked(text: str) -> str:
    """Return the text with protocols linked to their bridges' pages where it names their documents."""
    for document, (name, bridge) in BRIDGES.items():
        link = f"[the {name} protocol](../bridges/{bridge}.md)"
        text = re.sub(rf"(?<![\w/]){document}(-notes)?\.md\b", link, text)
    return text


def first_sentence(function: Any) -> str:
    """Return the first line of a function's docstring."""
    whole = getattr(function, "func", function)
    return (inspect.getdoc(whole) or "").partition("\n")[0].rstrip(".")


def markdown(docstring: str) -> str:
    """Return a docstring in Markdown; its one table, of two columns, becomes one of Markdown."""
    text = inspect.cleandoc(docstring).replace("``", "`")
    before, *rest = re.split(r"^(=+ +=+)$", text, flags=re.MULTILINE)
    if not rest:
        return before
    lines = inspect.cleandoc(docstring).split(rest[0])[1].strip("\n").splitlines()
    column = rest[0].rindex(" ") + 1
    rows: list[list[str]] = []
    for line in lines:
        name, meaning = line[:column].strip(), line[column:].strip()
        if name:
            rows.append([name, meaning])
        else:
            rows[-1][1] += f" {meaning}"
    return before + table(["", ""], [[plain(cell) for cell in row] for row in rows]) + rest[-1]


def rounded(value: Any) -> Any:
    """Return plain data with floats of six digits, which are the same on every machine."""
    match value:
        case float():
            return float(f"{value:.6g}")
        case dict():
            return {key: rounded(part) for key, part in value.items()}
        case list() | tuple():
            return type(value)(map(rounded, value))
    return value


def written(value: Any) -> str:
    """Return JSON on one line."""
    return json.dumps(rounded(value), ensure_ascii=False)


def brief(value: Any) -> str:
    """Return JSON on one line, long lists of words shortened."""
    return re.sub(r'(\[(?:null, )?"\w+", )(?:"\w+", ){4,}("\w+"\])', r"\1…, \2", written(value))


def structs(kinds: Any) -> Iterator[type[Struct]]:
    """Return the structs of a type, and after them those that their fields have, each once."""
    found: dict[type[Struct], None] = dict.fromkeys(get_args(kinds) or [kinds])
    queue = list(found)
    while queue:
        for part in msgspec.structs.fields(queue.pop(0)):
            for kind in parts(types.type_info(part.type)):
                if kind not in found:
                    found[kind] = None
                    queue.append(kind)
    yield from found


def parts(kind: Any) -> Iterator[type[Struct]]:
    """Return the structs that a type is made of."""
    match kind:
        case types.StructType():
            yield kind.cls
        case types.UnionType():
            for one in kind.types:
                yield from parts(one)
        case types.ListType():
            yield from parts(kind.item_type)
        case types.DictType():
            yield from parts(kind.value_type)


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


def kind_name(kind: Any) -> str:
    """Return a type as people write it."""
    match kind:
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


if __name__ == "__main__":
    main()
