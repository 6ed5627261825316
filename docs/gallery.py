"""Writes a gallery of every game into a folder: pictures and texts of one match, as all views see it: ``make gallery``.

The matches are always the same. If the folder has an earlier gallery, the changed files are printed, so that a change
of a picture is seen.
"""

import argparse
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from games import GAME_IDS
from parlour.envs import Game, find

MOMENTS = 5
"""The number of moments of a match: its beginning, its end, and some between them."""
VARIANTS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "holdem-v0": ({}, {"seats": 2}, {"seats": 9}),
    "mafia-v0": ({}, {"seats": 5}),
    "tangram-v0": ({"figure": "A cat"}, {"figure": "A house", "seats": 1}),
}
"""The options of the galleries of a game; of the other games, the defaults."""


def main() -> None:
    """Write the gallery, and print the files that were not the same before."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build/gallery"), help="default: %(default)s")
    folder = parser.parse_args().folder
    changed = write(folder, drawings(GAME_IDS))
    print(f"{folder / 'index.html'}: {len(changed)} files are new or changed")
    for name in changed:
        print(f"  {name}")


def drawings(game_ids: list[str]) -> Iterator[tuple[str, str]]:
    """Yield name and contents of every picture (``.svg``) and text (``.txt``)."""
    for game_id in game_ids:
        for options in VARIANTS.get(game_id, ({},)):
            game = find(game_id)(**options)
            label = "-".join([game_id, *(f"{name}={value}" for name, value in options.items())]).replace(" ", "_")
            for number, table in enumerate(moments(game)):
                states = [game.turn_state(table, seat) for seat in range(game.seats)]
                views = {"all": states, "first": states[:1], "last": states[-1:]}
                if game.public_view is not None:
                    views["public"] = [game.public_turn_state(table)]
                for view, seen in views.items():
                    yield f"{label}/{number}-{view}.svg", game.renderer.picture(seen)
                    yield f"{label}/{number}-{view}.txt", game.renderer.text(seen) + "\n"


def moments(game: Game) -> list[Any]:
    """Return `MOMENTS` tables (or fewer) of one match of random play, in order."""
    generator = np.random.default_rng(1)
    table = game.tables(1)[0]
    table.stream = 1
    game.rules.reset(table)
    played = [table.copy()]
    while not table.done:
        game.rules.play(table, int(generator.choice(np.flatnonzero(game.mask(table, int(table.turn))))))
        played.append(table.copy())
    chosen = np.unique(np.linspace(0, len(played) - 1, MOMENTS).round().astype(int))
    return [played[i] for i in chosen]


def write(folder: Path, drawn: Iterator[tuple[str, str]]) -> list[str]:
    """Write the files and their index; return the names of those that are new or other than before, or gone."""
    before = {str(path.relative_to(folder)) for path in folder.glob("*/*.*")}
    names, changed = [], []
    for name, text in drawn:
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            changed.append(name)
        names.append(name)
    gone = sorted(before - set(names))
    for name in gone:
        (folder / name).unlink()
    (folder / "index.html").write_text(index(folder, names, {*changed}), encoding="utf-8")
    return [*changed, *gone]


def index(folder: Path, names: list[str], changed: set[str]) -> str:
    """Return a page with all drawings, game by game; a changed one has a frame."""
    parts, game = [], ""
    for name in names:
        if name.partition("/")[0] != game:
            game = name.partition("/")[0]
            parts.append(f"<h2>{escape(game)}</h2>")
        mark = " class=changed" if name in changed else ""
        shown = (
            f'<img src="{escape(name)}" alt="{escape(name)}" loading=lazy>'
            if name.endswith(".svg")
            else f"<pre>{escape((folder / name).read_text(encoding='utf-8'))}</pre>"
        )
        parts.append(f"<figure{mark}>{shown}<figcaption>{escape(name)}</figcaption></figure>")
    style = "body{font:14px sans-serif}figure{display:inline-block;vertical-align:top;margin:6px}img{width:400px}"
    style += "pre{width:600px;overflow:auto;background:#f4efe2}.changed{outline:3px solid #b3261e}"
    body = "\n".join(parts)
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>Gallery</title><style>{style}</style>\n{body}\n"


if __name__ == "__main__":
    main()
