"""The `parlour` command: the overview, the handling of errors, and standard output in any encoding."""

import codecs
import errno
import os
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import metadata
from threading import Timer

from .commands import COMMANDS, SUBCOMMANDS
from .parser import COMPLETION, parse

PLAIN = dict(zip("–—−×·›’“”øØłŁ", '---x->\'""oOlL', strict=True)) | {"ß": "ss"}
"""ASCII for characters that Unicode does not decompose."""
READABLE = "parlour-readable"
"""The name of the error handler `readable`."""


def readable(error: UnicodeError) -> tuple[str, int]:
    """Return characters that an encoding lacks as similar ASCII, else as escapes: an error handler of `codecs`.

    >>> codecs.register_error(READABLE, readable)
    >>> "Zoë: −1…".encode("ascii", READABLE)
    b'Zoe: -1...'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(char: str) -> str:
    letters = unicodedata.normalize("NFKD", PLAIN.get(char, char)).encode("ascii", "ignore").decode()
    return letters or ("" if unicodedata.combining(char) else ascii(char)[1:-1])


def prepare_streams() -> None:
    """Set up standard output and standard error for all characters, whatever their encoding is."""
    codecs.register_error(READABLE, readable)
    for stream in (sys.stdout, sys.stderr):
        if not (stream.encoding or "").lower().startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=READABLE)


EXAMPLES = """\
  parlour demo
  parlour play holdem
  parlour table holdem --agents zoo:holdem
  parlour train holdem --minutes 8 --run first
  parlour evaluate first --against call tight
  parlour evaluate reference leduc call
  parlour host poker --seats 6 --port 9000
  parlour deploy poker first --api http://127.0.0.1:9000
  parlour host arena bargaining --agents fair conceder boulware
  parlour replay matches.jsonl --serve"""

EXTRAS = {
    "cuda": ("numba_cuda",),
    "train": ("torch", "stable_baselines3", "sb3_contrib", "tensorboard", "threadpoolctl"),
    "plot": ("matplotlib",),
    "phh": ("pokerkit",),
    "ray": ("ray",),
    "live": ("prometheus_client",),
    "render": ("resvg_py", "ttf_opensans", "PIL", "imageio_ffmpeg"),
}
"""Packages that some commands need, and the extras that install them."""

MISTAKE = 2
"""Exit code of an error that the user can correct."""

PATIENCE = 1.0
"""Seconds of starting before a terminal says so."""

REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "this is a folder, not a file",
    errno.EACCES: "this file or port may not be used, permission is denied",
    errno.ENOSPC: "the disk is full",
    errno.EADDRINUSE: "the port is in use by another program; choose one with --port",
}
"""What an error of the operating system means for a user."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the `parlour` command and return its exit code.

    A user error prints one line on stderr and returns exit code 2. ``PARLOUR_TRACEBACK=1`` shows the traceback.

    Args:
        argv: the arguments; None: those of the process.
    """
    prepare_streams()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small networks are slower with more threads
    args = list(sys.argv[1:] if argv is None else argv)
    if not args or args[0] in ("-h", "--help", "help"):
        _front_page()
        return 0
    if args[0] in ("-V", "--version"):
        print(f"parlour {metadata.version('parlour')}")
        return 0
    name = args[0]
    before, sys.argv = sys.argv, ["parlour", *args]  # runs and results keep the command that made them
    try:
        with _said_that_it_starts(name):
            run = parse(args)
        run()
        return 0
    except KeyboardInterrupt as stop:
        return _complain(name, str(stop) or "stopped", 130)
    except BrokenPipeError:  # the reader has gone, as in `parlour … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get("PARLOUR_TRACEBACK"):
            raise
        lacking = isinstance(error, ValueError) and not [
            one for one in args[1:] if one not in SUBCOMMANDS.get(name, ())
        ]
        return _complain(name, _sentence(error) + (_example(args) if lacking else ""), MISTAKE)
    except SystemExit as end:
        if isinstance(end.code, str):
            return _complain(name, end.code.removeprefix(f"parlour {name}: "), MISTAKE)
        return end.code or 0
    finally:
        sys.argv = before


@contextmanager
def _said_that_it_starts(name: str) -> Iterator[None]:
    """Say on a terminal that the command starts, if the body takes long: on a slow machine imports take 20 seconds."""
    timer = Timer(PATIENCE, lambda: print(f"parlour {name} is starting …", file=sys.stderr, flush=True))
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _sentence(error: Exception) -> str:
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        for extra, packages in EXTRAS.items():
            if package in packages:
                from ..envs.core.installed import install  # loads Numba

                return f"this needs {package}, which is not installed: {install(extra)}"
    if isinstance(error, OSError) and error.errno is not None:
        reason = REASONS.get(error.errno, os.strerror(error.errno))
        return f"{reason}: {error.filename}" if error.filename else f"{reason} ({error.strerror})"
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {str(error).partition(' for an array')[0]}"  # NumPy goes on with the dtype
    return " ".join(str(error).split()) or type(error).__name__


def _example(args: Sequence[str]) -> str:
    """Return how a command may go on that was given without arguments; empty: the examples have none."""
    given = f"  parlour {' '.join(args)} "
    example = next((line for line in EXAMPLES.splitlines() if line.startswith(given)), None)
    return "" if example is None else f" (for example: {example.strip()})"


def _complain(name: str, sentence: str, code: int) -> int:
    print(f"parlour {name}: {sentence}", file=sys.stderr)
    return code


def _front_page() -> None:
    from rich.table import Table

    from .terminal.console import Console

    console = Console()
    console.print("[bold]Parlour[/]: parlour games for multi-agent learning and live play.\n")
    console.print("[bold]Usage:[/] parlour COMMAND …      (parlour COMMAND --help describes a command)\n")
    table = Table.grid(padding=(0, 3))
    for name, summary in COMMANDS.items():
        table.add_row(f"  [bold cyan]{name}[/]", summary)
    console.print(table)
    console.print(f"\n[bold]For example:[/]\n{EXAMPLES}")
    console.print(f"\nTab completion: parlour {COMPLETION} bash (zsh, fish)", markup=False)


if __name__ == "__main__":
    sys.exit(main())
