"""`parlour record`: a match as a film or as a page to step through."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import tyro
from rich.console import Console

from ...wrappers.agents.human import HumanAgent
from ...wrappers.logs.match_log import MatchLog
from ...wrappers.replay.moment import ALL
from .arguments import language_model
from .play import TerminalMatch, check, finish, seated
from .replay import check_out, write


def command(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...],
    out: Path,
    hands: int = 1,
    view: str = ALL,
    fps: float = 1.5,
    options: tuple[str, ...] = (),
    model: str | None = None,
    llm_url: str | None = None,
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Play a match into a film or a page.

    Args:
        game: its name, such as holdem.
        agents: who plays, seat by seat: runs, policy files, bots, llm, human.
        out: where to write: .gif, .mp4, or .html (a page with every view, which needs no network).
        hands: how many hands (episodes of other games) to play.
        view: whose eyes a film has: a player as it is called in the film, or all.
        fps: actions a second in a film.
        options: the game's options as key=value.
        model: the language model that llm stands for.
        llm_url: its endpoint, such as http://127.0.0.1:8080/v1; default: the environment's OPENAI_BASE_URL.
        seed: of everything that is dealt and drawn; default: another match every time.
        log: file to which the match is written, too, with the policies' probabilities and values.
    """
    check(hands, 0)
    check_out(out)
    chosen, players = seated(game, agents, options, seed, language_model(model, llm_url))
    console = Console(highlight=False, quiet=not any(isinstance(player, HumanAgent) for player in players))
    with ExitStack() as stack:
        file = Path(stack.enter_context(TemporaryDirectory())) / "match.jsonl"
        with MatchLog(file) as book:
            finish(TerminalMatch(chosen, players, agents, console, 0.0, book), hands, seed)
        if log is not None:
            log.parent.mkdir(parents=True, exist_ok=True)
            with log.open("ab") as kept:
                kept.write(file.read_bytes())
        write(file, out, f"{chosen.id}: {', '.join(agents)}", view, fps)
    Console(highlight=False).print(f"written: {out}", markup=False, soft_wrap=True)
