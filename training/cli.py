"""The `parlour` command. Every subcommand lives in a module of its own, loaded when it is called."""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module, metadata
from typing import Any

COMMANDS = {
    "demo": ("demo", "command", "the whole road in a few minutes: train, evaluate, play at a live table"),
    "train": ("train", "main", "train a policy by self-play against its past selves and bots"),
    "evaluate": ("evaluate", "command", "tell how strong a policy is, with confidence intervals"),
    "teams": ("teams", "command", "tell what the mafia and the town win, one policy in each team"),
    "figures": ("figures", "command", "tell how many tangram figures a policy solves, beside the bots"),
    "play": ("play", "command", "watch a match in the terminal, or play in it"),
    "table": ("table", "command", "play in the browser, alone or with others, beside policies and bots"),
    "watch": ("watch", "command", "watch a match in the terminal, on one screen"),
    "record": ("record", "command", "play a match into a film or a page: .gif, .mp4, .html"),
    "replay": ("replay", "command", "make a match log a page to step through, or a film"),
    "host": ("poker", "host", "serve a platform's protocol: poker, an arena, mafia, tangram"),
    "deploy": ("poker", "deploy", "let a policy play on a live platform"),
    "check": ("check", "command", "try the laws of all games on a game of your own"),
    "bench": ("bench", "command", "measure speed and size beside the peers"),
}
"""Subcommand: its module, the function there, and what it does."""

EXAMPLES = """\
  parlour demo
  parlour train holdem --minutes 5 --name first
  parlour evaluate first --against call tight --best-response
  parlour play holdem --agents first tight
  parlour table holdem --agents first tight
  parlour host poker --seats 6 --port 9000
  parlour deploy poker first --api http://127.0.0.1:9000
  parlour host arena bargaining --agents fair conceder boulware"""

EXTRAS = {
    "train": ("torch", "stable_baselines3", "sb3_contrib", "tensorboard"),
    "plot": ("matplotlib",),
    "render": ("resvg_py", "ttf_opensans", "PIL", "imageio_ffmpeg"),
}
"""Packages that some commands need, by the extra that installs them."""

MISTAKE = 2
"""Exit code for what the user can put right."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `parlour` command and return its exit code.

    A mistake is told in one line on stderr, with exit code 2; ``PARLOUR_TRACEBACK=1`` shows where it was found.

    Args:
        argv: the arguments; None takes the process's.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # networks this small only lose by more
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        _front_page()
        return 0
    if args[0] in ("-V", "--version"):
        print(f"parlour {metadata.version('parlour')}")
        return 0
    name = args.pop(0)
    try:
        return _run(name, args)
    except KeyboardInterrupt:
        return _complain(name, "stopped", 130)
    except BrokenPipeError:  # the reader has gone, as in `parlour … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get("PARLOUR_TRACEBACK"):
            raise
        return _complain(name, _sentence(error), MISTAKE)
    except SystemExit as end:
        if isinstance(end.code, str):
            return _complain(name, end.code.removeprefix(f"parlour {name}: "), MISTAKE)
        return end.code or 0


def _run(name: str, args: list[str]) -> int:
    if name not in COMMANDS:
        from ..envs.core.options import did_you_mean

        raise ValueError(f"no such command; {did_you_mean(name, COMMANDS)}")
    module, function, _summary = COMMANDS[name]
    command: Callable[..., Any] = getattr(import_module(f".commands.{module}", __package__), function)
    if name in ("train", "host", "deploy"):  # settings from files, or another set for every platform
        command(args)
        return 0
    import tyro

    tyro.cli(command, prog=f"parlour {name}", args=args, config=(tyro.conf.FlagCreatePairsOff,))
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        for extra, packages in EXTRAS.items():
            if package in packages:
                return f"this needs {package}, which is not installed: pip install 'parlour[{extra}]'"
    return " ".join(str(error).split()) or type(error).__name__


def _complain(name: str, sentence: str, code: int) -> int:
    print(f"parlour {name}: {sentence}", file=sys.stderr)
    return code


def _front_page() -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print("[bold]Parlour[/]: parlour games for multi-agent learning, and the road to a live table.\n")
    console.print("[bold]Usage:[/] parlour COMMAND …      (parlour COMMAND --help tells all of one)\n")
    table = Table.grid(padding=(0, 3))
    for name, (_module, _function, summary) in COMMANDS.items():
        table.add_row(f"  [bold cyan]{name}[/]", summary)
    console.print(table)
    console.print(f"\n[bold]For example:[/]\n{EXAMPLES}")


if __name__ == "__main__":
    sys.exit(main())
