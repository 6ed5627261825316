"""Takes screenshots of every page for people into build/gallery/pages, on a desk and on a phone: ``make gallery``.

``python docs/screenshots.py --pictures`` takes those of a person's turn on the games' pages instead.

Pages are tables of every game (before a seat is taken, at one's turn, after it, at the end), the lobby, the results of
an arena, a replay, and a leaderboard. ``index.html`` there shows all. It needs Chromium and playwright.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from games import GAME_IDS
from parlour.envs import find

SIZES = {
    "desk": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
MINE, OVER = "body.mine #controls button[data-key]:enabled", "#status:text('is over')"
LONGEST = 60_000
"""Milliseconds for a page to come to a state."""


def main() -> None:
    """Take the screenshots and write their index."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--games", nargs="*", default=GAME_IDS, help="games by id; default: all. Other pages always come"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/gallery/pages"), help="default: %(default)s")
    parser.add_argument("--pictures", action="store_true", help="the pictures of the games' pages, and nothing else")
    given = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("no screenshots: there is no Chromium", file=sys.stderr)
        return
    from playwright.sync_api import sync_playwright

    given.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        if given.pictures:
            for game in given.games:
                picture(browser, game, Path(__file__).parent / "games" / f"{game.rpartition('-v')[0]}-table.webp")
            return
        results(browser, given.folder)
        lobby(browser, given.folder)
        for game in given.games:
            table(browser, given.folder, game)
        browser.close()
    files = sorted(given.folder.glob("*.png"))
    images = (
        f'<figure><img src="{one.name}" loading=lazy><figcaption>{one.stem}</figcaption></figure>' for one in files
    )
    style = "<style>figure{display:inline-block;vertical-align:top;margin:6px}img{height:400px}</style>"
    (given.folder / "index.html").write_text(f"<!doctype html><title>Pages</title>{style}{''.join(images)}", "utf-8")
    print(f"{given.folder / 'index.html'}: {len(files)} screenshots")


@contextmanager
def served(*args: str) -> Iterator[str]:
    """Run a command that serves pages, and yield their address."""
    command = [sys.executable, "-m", "parlour.training.cli", *args, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        address = re.search(r"http://\S+", server.stdout.readline())
        assert address is not None, " ".join(command)
        yield address[0]
    finally:
        server.terminate()
        server.wait()


def visit(browser: Any, size: str, address: str) -> Any:
    """Return a page in a browser of its own."""
    page = browser.new_context(**SIZES[size]).new_page()
    page.set_default_timeout(LONGEST)
    page.goto(address)
    return page


def shoot(page: Any, folder: Path, name: str, size: str) -> None:
    """Take a screenshot of what is seen without scrolling."""
    page.wait_for_timeout(300)  # motion
    page.screenshot(path=folder / f"{name}-{size}.png")


def picture(browser: Any, game_id: str, file: Path) -> None:
    """Write the picture of a person's turn for the page of a game."""
    from PIL import Image

    name, seats = game_id.rpartition("-v")[0], find(game_id)().seats
    bots = [next(iter(find(game_id)().bots), "random")] * (seats - 1)
    with served("table", name, "--agents", "human", *bots, "--seed", "2", "--timeout", "60", "--delay", "0.1") as url:
        page = visit(browser, "desk", url)
        page.wait_for_selector("#sit:visible")
        page.fill("#name", "Ann")
        page.click("#sit button")
        page.wait_for_selector(MINE)
        page.wait_for_timeout(500)  # motion
        shot = Image.open(BytesIO(page.screenshot()))
        page.context.close()
    shot.resize((800, 500)).save(file, quality=60, method=6)


def table(browser: Any, folder: Path, game_id: str) -> None:
    """Show the table of a game: the server plays the safe action after a second in which nobody acts."""
    game = find(game_id)()
    name = game_id.rpartition("-v")[0]
    bots = [next(iter(game.bots), "random")] * (game.seats - 1)
    for size in SIZES:
        with served(
            "table", name, "--agents", "human", *bots, "--seed", "2", "--timeout", "4", "--delay", "0.1"
        ) as url:
            page = visit(browser, size, url)
            page.wait_for_selector("#sit:visible")
            shoot(page, folder, f"{name}-1-before", size)
            page.fill("#name", "Ann")
            page.click("#sit button")
            for state, selector in (
                ("2-turn", MINE),
                ("3-after", f"body:not(.mine), {OVER}"),
                ("4-later", f"{MINE}, {OVER}"),
            ):
                page.wait_for_selector(selector)
                shoot(page, folder, f"{name}-{state}", size)
            page.context.close()


def lobby(browser: Any, folder: Path) -> None:
    """Show the lobby, empty, with a name, and with open tables."""
    for size in SIZES:
        with served("table", "--lobby") as url:
            page = visit(browser, size, url)
            page.wait_for_selector("#enter:visible")
            shoot(page, folder, "lobby-1-empty", size)
            for person in ("Ann", "Bartholomew Featherstonehaugh"):
                other = visit(browser, size, url)
                other.fill("#name", person)
                other.click("#enter button")
                other.wait_for_selector("#new [type=submit]:enabled")
                other.select_option("#game", "kuhn")
                other.click("#new [type=submit]")
                other.wait_for_selector("#stand:visible")
            page.wait_for_timeout(2000)
            shoot(page, folder, "lobby-2-full", size)


def results(browser: Any, folder: Path) -> None:
    """Show the pages of results: an arena, a replay's overview and a match of it, a leaderboard."""
    made = folder / "made"

    def run(*args: str) -> None:
        subprocess.run([sys.executable, "-m", "parlour.training.cli", *args], check=True, stdout=subprocess.DEVNULL)

    run("host", "arena", "bargaining,kuhn", "--agents", "fair", "random", "zoo", "--port", "0", "--out", str(made))
    run("play", "holdem", "--agents", "call", "tight", "maniac", "--matches", "12", "--out", str(made / "holdem.html"))
    for player in ("call", "tight"):
        run("evaluate", "reference", "leduc", player, "--deals", "40", "--out", str(made / "rated"))
    run("evaluate", "crossplay", "call", "tight", "random", "--game", "leduc", "--ladder", str(made / "ladder.html"))
    pages: Sequence[tuple[str, str]] = (
        ("arena", "index.html"), ("replay", "holdem.html"), ("leaderboard", "rated/index.html"),
        ("result", "rated/leduc-tight.html"), ("ladder", "ladder.html"),
    )  # fmt: skip
    for size in SIZES:
        for name, file in pages:
            page = visit(browser, size, (made / file).resolve().as_uri())
            shoot(page, folder, name, size)
            if name == "replay":
                page.click("#matches tr:nth-child(2) button")
                shoot(page, folder, "replay-match", size)


if __name__ == "__main__":
    main()
