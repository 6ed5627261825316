"""Writes the pages of the games and their pictures from the code: ``make docs``.

A page is its hand-written beginning (``games/intro/<game>.md``) and what the code says: options from the signature and
docstring of `game`, actions from `View.action_ranges` and the schemas of a played episode, the observation from its
`Layout`, the wire from the messages' types. A test compares the committed pages with these. The
site's reference has the rest (`details`), which is not committed.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import docstring_parser
import numpy as np
from curves import RECORDED, caption, command, results
from moving import moving
from parlour import zoo
from parlour.envs import GAMES, Game, GameState, find, how_to_play
from parlour.envs.core.how_to_play import FIELDS
from parlour.envs.core.options import rules_of
from parlour.envs.phases import view as phases_view
from parlour.envs.render.svg import HEIGHT, WIDTH
from parlour.zoo import span
from wires import rows_of, wire
from words import brief, first_sentence, linked, markdown, plain, rounded, table, written

DOCS = Path(__file__).parent


@dataclass(frozen=True)
class Scene:
    """A moment of a game for its picture and its example of TurnState.

    Attributes:
        options: the game's.
        seed: of the episode.
        play: action numbers; or a bot that plays `decisions` of them.
        variants: options with which the observation has further slices.
        front: whether it is a part of the front picture.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    play: Sequence[int] | str = ()
    decisions: int = 0
    variants: Sequence[Mapping[str, Any]] = ()
    front: bool = True


SCENES = {
    "holdem-v0": Scene(seed=4, play=(1, 4, 1, 0, 0, 0, 1, 1, 4, 1, 0, 4)),
    "mafia-v0": Scene(seed=3, play="mixed", decisions=31),
    "tangram-v0": Scene({"figure": "A house"}, 3, "solver", 9, variants=[{"modality": "both"}]),
    "bargaining-v0": Scene(seed=3, play="conceder", decisions=7, variants=[{"talk": True}, {"public": True}]),
    "auction-v0": Scene({"seats": 4}, 3, "equilibrium", 2, variants=[{"talk": True}]),
    "multi_issue_bargaining-v0": Scene(
        {"seats": 3, "issues": {"price": 6, "delivery": 4, "warranty": 5}},
        5,
        "aspiration-linear",
        17,
        variants=[{"public": True}],
        front=False,
    ),
    "kuhn-v0": Scene(seed=5, play=(0, 1)),
    "leduc-v0": Scene(seed=2, play=(1, 2, 1, 2)),
    "liars_dice-v0": Scene({"dice": 3}, 3, "careful", 4),
    "werewolf-v0": Scene(seed=3, play="mixed", decisions=9, front=False),
    "dutch_auction-v0": Scene(seed=3, play="truthful", decisions=9, variants=[{"rounds": 3}], front=False),
    "centipede-v0": Scene(seed=3, play="patient", decisions=5, variants=[{"rounds": 3}], front=False),
}
"""The moments that were chosen. Of the other games, the page shows some decisions
of random play, and of games in phases also what repeated play adds."""

RELEASED = [game_id for game_id, source in GAMES.items() if isinstance(source, str)]
GAME_IDS = list(dict.fromkeys([*SCENES, *RELEASED]))
"""The ids of all games of the suite."""
LONGEST, FRAMES = 80, 14
"""Most decisions of the match of a picture that moves; about how many moments it shows."""


def main() -> None:
    """Write all of it."""
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files() -> dict[Path, str]:
    """Return every generated file's text by its path."""
    written = {DOCS / "parlour.svg": front_picture()}
    for game_id in GAME_IDS:
        name = game_id.partition("-")[0]
        written[DOCS / "games" / f"{name}.svg"] = film(game_id)
        written[DOCS / "games" / f"{name}.md"] = page(game_id)
        if name in zoo.names():
            written[DOCS / "games" / f"{name}-results.svg"] = results(game_id)
    return written


# Pictures.


def scene_of(game_id: str) -> Scene:
    """Return the scene of a game."""
    if game_id in SCENES:
        return SCENES[game_id]
    if find(game_id).__module__.startswith("parlour.envs.economics."):
        return Scene(play="random", decisions=1, variants=[{"rounds": 3}])
    return Scene(play="random", decisions=2)


@cache
def match(game_id: str) -> tuple[Game, list[Any], int]:
    """Return the game of a scene, the tables of its match before and after every decision, and which is its moment.

    After the moment the bot of the scene plays on, or the bot `random`.
    """
    scene = scene_of(game_id)
    game = find(game_id)(**scene.options)
    table = game.tables(1)[0]
    table.stream = scene.seed
    game.rules.reset(table)
    chosen, name = ([], scene.play) if isinstance(scene.play, str) else (list(scene.play), "random")
    bot = game.bots[name](game, seed=scene.seed)
    tables = [table.copy()]
    while not table.done and len(tables) <= LONGEST:
        seat = int(table.turn)
        (number,) = bot.act(game.observation(table, seat)[None], game.mask(table, seat)[None])
        game.rules.play(table, chosen.pop(0) if chosen else int(number))
        tables.append(table.copy())
    at = scene.decisions if isinstance(scene.play, str) else len(scene.play)
    return game, tables, min(at, len(tables) - 1)


def moment(game_id: str) -> tuple[Game, Any]:
    """Return the game of a scene, and the table at its moment."""
    game, tables, at = match(game_id)
    return game, tables[at]


def film(game_id: str) -> str:
    """Return the picture of a match that moves, with everything shown."""
    game, tables, at = match(game_id)
    last = len(tables) - 1
    numbers = sorted({at, *(round(last * part / (FRAMES - 1)) for part in range(FRAMES))})
    pictures = [
        game.renderer.picture([game.turn_state(tables[i], seat) for seat in range(game.seats)]) for i in numbers
    ]
    return moving(pictures, numbers.index(at))


def picture(game_id: str, seat: int | None = None) -> str:
    """Return the picture of a scene, with everything shown or as `seat` sees it."""
    game, table = moment(game_id)
    seats = range(game.seats) if seat is None else [seat]
    return game.renderer.picture([game.turn_state(table, one) for one in seats])


def front_picture() -> str:
    """Return the games with chosen moments side by side, and hold'em again as one player sees it."""
    pictures = [picture(game_id) for game_id, scene in SCENES.items() if scene.front]
    pictures.insert(1, picture("holdem-v0", 0))
    rows = -(-len(pictures) // 3)
    places = [(column * WIDTH, row * HEIGHT) for row in range(rows) for column in range(3)][: len(pictures)]
    placed = [one.replace("<svg ", f'<svg x="{x}" y="{y}" ', 1) for one, (x, y) in zip(pictures, places, strict=True)]
    size = f'viewBox="0 0 {3 * WIDTH} {rows * HEIGHT}" width="{3 * WIDTH}" height="{rows * HEIGHT}"'
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', *placed, "</svg>", ""])


# Pages.


def page(game_id: str) -> str:
    """Return the page of a game."""
    name = game_id.partition("-")[0]
    game = find(game_id)()
    intro = (DOCS / "games" / "intro" / f"{name}.md").read_text(encoding="utf-8").strip()
    head, *notes = re.split(r"^(?=## )", intro, flags=re.MULTILINE)
    heading, _, told = head.strip().partition("\n")
    told, _, platform = told.partition("\nLive platform")
    parts = [
        f"<!-- From intro/{name}.md and the code, by `make docs`. -->",
        heading,
        f"![A match of {heading.removeprefix('# ')}, with all hidden information]({name}.svg)",
        told.strip(),
        glance(game_id, platform.partition(": ")[2]),
        rules(game),
        *[f"![A person's turn at the table in the browser: `parlour table {name}`]({name}-table.webp)"]
        * (DOCS / "games" / f"{name}-table.webp").is_file(),
        *([f"## Options\n\n{options(game_id)}"] if described(find(game_id)) else []),
        f"## In code\n\n{example(game_id)}",
        f"## Bots and policies\n\n{bots(game_id)} {policy_of_the_zoo(game)}\n\n{learning(name)}",
        *(part.strip() for part in notes),
        f"## TurnState\n\n{LAYOUT.format(name=name)}",
    ]
    return "\n\n".join(parts) + "\n"


def details(game_id: str) -> str:
    """Return the reference of a game: action indices, payloads, the observation, TurnState and the wire."""
    parts = [
        f"## Actions\n\n{actions(find(game_id)())}",
        f"## Observation\n\n{observation(game_id)}",
        f"## TurnState\n\n{linked(turn_state(game_id))}",
        f"## On the wire\n\n{linked(wire(game_id))}",
    ]
    return "\n\n".join(parts) + "\n"


BRIDGES = {"holdem": "poker", "mafia": "mafia", "tangram": "tangram"}
LAYOUT = "`parlour list {name}` prints payloads, observation and `game_state`."
LONG_OPTIONS, LONG_MEANING = 110, 14
"""From how many words on a page has the options' meanings in brief; words of a sentence that is cut then."""


def example(game_id: str) -> str:
    """Return some lines of code that play the game, and one exact action of its first turn."""
    name = game_id.replace("-", "_")
    game = find(game_id)()
    table = game.tables(1)[0]
    table.stream = 7
    game.rules.reset(table)
    legal = np.flatnonzero(game.mask(table, int(table.turn)))
    action = game.view.encode(table, int(legal[len(legal) // 2])).action
    payload = f", {written(action.payload)}" if action.payload else ""
    return f"""```python
from parlour.envs import Action, {name}

env = {name}.env()
env.reset(seed=7)
exact = Action("{action.action_type}"{payload})
print(env.submit(env.agent_selection, exact))
for agent in env.agent_iter():
    observation, reward, terminated, truncated, info = env.last()
    action = None if terminated or truncated else env.action_space(agent).sample(observation["action_mask"])
    env.step(action)
```"""


def rules(game: Game) -> str:
    """Return the rules as people and language models get them, with headings of the page."""
    words = how_to_play(game, fields=False).strip().partition("\n")[2]
    return f"## Rules\n\n{re.sub('^## ', '### ', words, flags=re.MULTILINE).strip()}"


def explained(game: Game) -> dict[str, str]:
    """Return the fields of `game_state` that the rules explain in words of their own, with these words."""
    lines = re.findall(r"^- ((?:`\w+`(?:, )?)+): (?!with `)(.+)", how_to_play(game).partition(FIELDS)[2], re.MULTILINE)
    return {
        name: f"{names}: {words}" if "," in names else words
        for names, words in lines
        for name in re.findall(r"`(\w+)`", names)
    }


def glance(game_id: str, platform: str) -> str:
    """Return the facts of a game with its default options: the same rows for every game."""
    make = find(game_id)
    game = make()
    low, high = game.payoffs.low, game.payoffs.high
    sums = "; zero-sum" if game.payoffs.zero_sum else ""
    unit = "" if game.payoffs.unit == 1 else f"; results count {game.payoffs.unit:g} as 1 ({game.payoffs.unit_name})"
    grid = "" if game.view.grid is None else f'; `action="grid"`: `MultiDiscrete({list(game.view.grid.sizes)})`'
    where = " ".join(platform.split()).rstrip(".") or "TurnState arenas"
    rows = {
        "players": f"{game.seats}: `{game.agents[0]}` to `{game.agents[-1]}`{other_seats(make)}",
        "actions": f'`Discrete({game.num_actions})` with a mask; `action="payload"`: `Dict`{grid}; '
        f"safe: {first_sentence(game.view.safe).partition(': ')[2]}",
        "observation": f'`Dict` structured as TurnState; `observation="flat"`: float32[{game.layout.size}]',
        "reward": f"{low:g} to {high:g} per episode and seat{sums}{unit}",
        "platform": f"{where} ([bridge](../bridges/{BRIDGES.get(game.name, 'arena')}.md))",
    }
    return table(["", "by default"], list(rows.items()))


def other_seats(make: Callable[..., Game]) -> str:
    """Return the numbers of seats that the option `seats` takes, from its rule; empty without one."""
    rules = rules_of(make.options) if hasattr(make, "options") else {}
    low, high = rules["seats"].range if "seats" in rules else (0, 0)
    return f"; the option `seats` takes {low} {'or' if high == low + 1 else 'to'} {high}" if high else ""


def learning(name: str) -> str:
    """Return what is won from the game's policies of the zoo, its recorded learning curve, and how that was made.

    A game may have none of them yet.
    """
    won = [f"![What each opponent wins]({name}-results.svg)"] * (name in zoo.names())
    curve = [f"`parlour {command(name, 1)}`:", f"![{caption(name)}]({name}-curve.svg)"] if name in RECORDED else []
    return "\n\n".join([*won, *curve])


def described(make: Callable[..., Game]) -> dict[str, str]:
    """Return the options of a game with the words of its docstring."""
    params = docstring_parser.parse(make.__doc__ or "").params
    return {param.arg_name: param.description or "" for param in params}


def policy_of_the_zoo(game: Game) -> str:
    """Return the name of the game's trained policy, and the numbers of seats at which it plays."""
    if game.name not in zoo.names():
        return ""
    return f"`{zoo.PREFIX}{game.name}` is trained, for {span(zoo.seats_of(game.name))} seats."


def options(game_id: str) -> str:
    """Return the options as a table, from the signature and its docstring; many words of it only in brief."""
    make = find(game_id)
    words = {name: plain(text) for name, text in described(make).items()}
    full = f'In full: `help(envs.find("{game_id}"))`.\n\n'
    if sum(len(text.split()) for text in words.values()) <= LONG_OPTIONS:
        full = ""
    else:
        words = {name: in_brief(text) for name, text in words.items()}
    rows = []
    for name, parameter in inspect.signature(make, eval_str=False).parameters.items():
        rows.append([f"`{name}`", f"`{rounded(parameter.default)!r}`", words[name]])
    return full + table(["option", "default", ""], rows)


def in_brief(text: str) -> str:
    """Return the first sentence of an option's meaning, or its beginning, and the words that it may be."""
    first = re.split(r"(?<=\.)\s+(?=[A-Z`\"])", text)[0]
    if len(first.split()) > LONG_MEANING:
        first = re.split(r"[:;]\s| \(see|, such as| \(which", first)[0]
    first = first.rstrip(".")
    choices = [one for one in dict.fromkeys(re.findall(r'`"[^"`]+"`', text)) if one not in first]
    return first + f"{', ' if first.startswith('`') else ': '}{', '.join(choices)}" * bool(choices)


def actions(game: Game) -> str:
    """Return what the action indices mean, and every payload that was allowed in some episodes of random play."""
    rows = []
    for block in game.view.action_ranges:
        span = f"{block.start}" if block.stop == block.start + 1 else f"{block.start} to {block.stop - 1}"
        rows.append([span, " or ".join(f"`{name}`" for name in block.action_types), block.meaning])
    numbers = table(["action", "stands for", "meaning"], rows)
    payloads = [[f"`{name}`", plain(told), f"`{schema}`"] for name, told, schema in allowed(game)]
    return (
        f"{numbers}\n\nThe payloads, with the bounds of one turn "
        "([how to send one](../environments.md#one-table-pettingzoo)):\n\n"
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
            for action in game.allowed_actions(table):
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
    for variant in scene_of(game_id).variants:
        other = find(game_id)(**variant).layout
        known = {part.path for part in layout}
        new = [
            [f"`{p.path}`", f"{p.shape}", f"{p.low:g} … {p.high:g}", p.meaning] for p in other if p.path not in known
        ]
        setting = ", ".join(f"{key}={value!r}" for key, value in variant.items())
        parts += [f"`{setting}` adds:", table(["slice", "shape", "range", "meaning"], new)]
    return "\n\n".join(parts)


def bots(game_id: str) -> str:
    """Return what the definition of the game's bots says of them: in its module, or in the module `bots` beside it."""
    module = import_module(find(game_id).__module__)
    if not hasattr(module, "BOTS"):
        module = import_module(".bots", module.__package__)
    (told,) = (one.description for one in docstring_parser.parse_from_object(module).params if one.arg_name == "BOTS")
    return plain(told or "")


def turn_state(game_id: str) -> str:
    """Return what the code says of TurnState, and an example of it."""
    game, table_ = moment(game_id)
    written_by: Any = game.view.game_state
    view = import_module(getattr(written_by, "func", written_by).__module__)
    state = game.turn_state(table_, int(table_.turn), match_id="example").to_dict()
    inside = ",\n".join(f'  "{key}": {written(value)}' for key, value in state.pop("game_state").items())
    outside = [f' "{key}": {written(value)}' for key, value in state.items()]
    shown = "{\n" + ",\n".join([*outside[:5], f' "game_state": {{\n{inside}\n }}', *outside[5:]]) + "\n}"
    words = markdown(view.__doc__ or "").replace("Record ──► ", "`view` and `load`: record ──► ", 1)
    if view is phases_view:
        shared = "[fields that all games of economics have](../games.md#turnstate-of-the-games-of-economics)"
        words = f"It has {shared}, and these."
    if game.view.state_type is not None:
        words += f"\n\n{fields_of(game.view.state_type, explained(game))}"
    return (
        f"{words}\n\n<details>\n<summary>An example: what {state['agent_id']} sees in this match</summary>\n\n"
        f"```json\n{shown}\n```\n\n</details>"
    )


def fields_of(kind: type[GameState], meanings: Mapping[str, str]) -> str:
    """Return what the docstring of a type of `game_state` says, and all of its fields; `meanings` as in `rows_of`."""
    words = docstring_parser.parse(inspect.getdoc(kind) or "").long_description or ""
    where = f"`game_state` is a `{kind.__name__}` of `{kind.__module__}`. {plain(words)}".strip()
    return f"{where}\n\n{table(['field of `game_state`', 'type', ''], list(rows_of(kind, meanings)))}"


if __name__ == "__main__":
    main()
