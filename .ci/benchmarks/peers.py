"""Other libraries in the same run: the same game or the nearest, the same work, random legal play."""

import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from parlour.envs import GameEnv
from parlour.envs import game as make_game
from parlour.envs.core.aec import TurnBasedParallel
from parlour.wrappers.rl.gymnasium_env import SingleAgentEnv
from parlour.wrappers.text import TextGame

from .base import Meter, Row, Seconds, alternate, meter, ratios
from .environments import aec_hands, parallel_hands, seat_hands, vector

VENVS = Path(__file__).parents[2] / "build" / "peers"
"""Folders of virtual environments by the name of a package: ``.ci/peers`` makes them."""
PLAYER = Path(__file__).with_name("peer_games.py")
Ours = Mapping[str, Callable[[], Callable[[], int]]]


@dataclass(frozen=True)
class Peer:
    """A game of another library.

    Attributes:
        package: its package, as pip has it.
        game: the function of `peer_games` that plays it, and its arguments.
        what: library and game.
        ours: what is compared with it: a description, and what returns the function that plays.
        unit: of the rates.
    """

    package: str
    game: tuple[str, ...]
    what: str
    ours: Ours
    unit: str = "decisions/s"

    @property
    def name(self) -> str:
        """The name of its row."""
        return "-".join(self.game).replace("_", "-").replace("(players=2,max-value=101)", "")


def single(name: str, **options: int) -> Callable[[], int]:
    """Return what plays 20 episodes at one table of a game, by PettingZoo's API without wrappers."""
    return aec_hands(GameEnv(make_game(name, **options), "flat"))


def text(name: str, **options: int) -> Callable[[], int]:
    """Return what plays one episode of a text game, each turn with its prompt."""
    table, generator = TextGame(name, **options), random.Random(0)

    def run() -> int:
        turn, decisions = table.reset(seed=generator.randrange(2**30)), 0
        while not turn.done:
            turn = table.step(generator.choice(turn.answers))
            decisions += 1
        return decisions

    return run


def standard(name: str, **options: int) -> Callable[[], int]:
    """Return what plays 20 episodes with PettingZoo's standard checks."""
    game = make_game(name, **options)
    return aec_hands(GameEnv(game, "flat", illegal_reward=-game.payoffs.unit))


def parallel(name: str, **options: int) -> Callable[[], int]:
    """Return what plays 20 episodes as a parallel environment: all agents observe each step."""
    game = make_game(name, **options)
    return parallel_hands(TurnBasedParallel(GameEnv(game, "flat", illegal_reward=-game.payoffs.unit)))


def seat(name: str, **options: int) -> Callable[[], int]:
    """Return what plays 20 episodes as a Gymnasium environment with a random opponent, whose decisions count too."""
    return seat_hands(SingleAgentEnv(make_game(name, **options)))


def ways(label: str, name: str, **options: int) -> Ours:
    """Return all ways to step one table, and 1,024 tables."""
    kinds = {"one table": single, "env": standard, "parallel_env": parallel, "Gymnasium seat": seat}
    one = {f"{label}, {kind}": partial(play, name, **options) for kind, play in kinds.items()}
    return one | {f"{label}, 1,024 tables": partial(vector, name, 1_024, **options)}


HOLDEM, LEDUC, KUHN = ways("hold'em", "holdem", seats=2), ways("Leduc", "leduc"), ways("Kuhn", "kuhn")
PEERS = (
    Peer("open_spiel", ("openspiel", "holdem"), "OpenSpiel universal_poker, 2 seats, one table", HOLDEM),
    Peer("open_spiel", ("openspiel", "kuhn_poker"), "OpenSpiel kuhn_poker, one table", KUHN),
    Peer("open_spiel", ("openspiel", "leduc_poker"), "OpenSpiel leduc_poker, one table", LEDUC),
    Peer(
        "open_spiel",
        ("openspiel", "first_sealed_auction(players=2,max_value=101)"),
        "OpenSpiel first_sealed_auction, 2 seats, one table",
        {
            "auction, one table": partial(single, "auction"),
            "auction, 4,096 tables": partial(vector, "auction", 4_096),
            "Cournot, 4,096 tables": partial(vector, "cournot", 4_096),
            "public good, 4,096 tables": partial(vector, "voluntary_contribution", 4_096),
        },
    ),
    Peer("rlcard", ("rlcard", "no-limit-holdem"), "RLCard no-limit-holdem, 2 seats, one table", HOLDEM),
    Peer("rlcard", ("rlcard", "leduc-holdem"), "RLCard leduc-holdem, one table", LEDUC),
    Peer(
        "pettingzoo",
        ("pettingzoo", "texas_holdem_no_limit_v6"),
        "PettingZoo texas_holdem_no_limit, 2 seats, one table",
        HOLDEM,
    ),
    Peer(
        "pgx",
        ("pgx", "leduc_holdem", "1024"),
        "pgx leduc_holdem, 1,024 tables",
        {"Leduc, 1,024 tables": LEDUC["Leduc, 1,024 tables"]},
    ),
    Peer(
        "pgx",
        ("pgx", "kuhn_poker", "1024"),
        "pgx kuhn_poker, 1,024 tables",
        {"Kuhn, 1,024 tables": partial(vector, "kuhn", 1_024)},
    ),
    Peer(
        "pgx",
        ("pgx", "leduc_holdem", "1"),
        "pgx leduc_holdem, one table, step by step",
        {"Leduc, one table": LEDUC["Leduc, one table"]},
    ),
    Peer(
        "jaxmarl",
        ("jaxmarl", "1024"),
        "JaxMARL Hanabi (another game), 2 seats, 1,024 tables",
        {"hold'em, 1,024 tables": HOLDEM["hold'em, 1,024 tables"]},
    ),
    Peer(
        "jumanji",
        ("jumanji", "FlatPack-v0", "16"),
        "jumanji FlatPack (another game), 16 boards",
        {"tangram, 16 boards": partial(vector, "tangram", 16)},
    ),
    Peer(
        "textarena",
        ("textarena", "KuhnPoker-v0", "2"),
        "TextArena KuhnPoker, one table of text",
        {"Kuhn, one table of text": partial(text, "kuhn")},
    ),
    Peer(
        "textarena",
        ("textarena", "SecretMafia-v0", "6"),
        "TextArena SecretMafia, 6 seats, one table of text",
        {"mafia, 6 seats, one table of text": partial(text, "mafia", seats=6)},
    ),
    Peer(
        "negmas",
        ("negmas",),
        "NegMAS, alternating offers on three issues, one table",
        {
            "multi-issue bargaining, one table": partial(single, "multi_issue_bargaining"),
            "multi-issue bargaining, 1,024 tables": partial(vector, "multi_issue_bargaining", 1_024),
        },
    ),
)
GOALS = {
    ("openspiel", "Kuhn, one table"): 0.6,
    ("openspiel", "Leduc, one table"): 0.6,
    ("openspiel", "hold'em, one table"): 2.2,
    ("openspiel", "hold'em, 1,024 tables"): 20,
    ("openspiel", "Cournot, 4,096 tables"): 40,
    ("openspiel", "auction, 4,096 tables"): 40,
    ("openspiel", "public good, 4,096 tables"): 40,
    ("pettingzoo", "hold'em, 1,024 tables"): 500,
}
"""Goals of our rate as a multiple of a library's."""


def peers(seconds: Seconds) -> list[Row]:
    """Every peer that is installed, in rounds in turn with our games, each by its own processor time."""
    return [row for peer in PEERS for row in beside(peer, seconds)]


def beside(peer: Peer, seconds: Seconds) -> list[Row]:
    """Return the rate of a peer and ours as multiples of it; one row that says why if it cannot be played."""
    try:
        with playing(peer) as (versions, theirs):
            runs = [make() for make in peer.ours.values()]
            rates, *others = alternate(theirs, *(meter(run) for run in runs), seconds=seconds)
    except (OSError, ValueError) as missing:
        return [Row(peer.name, peer.what, None, peer.unit, note=f"{missing}; .ci/peers {peer.package} installs it")]
    rows = [Row.of(peer.name, peer.what, rates, peer.unit, note=versions)]
    for ours, own in zip(peer.ours, others, strict=True):
        note, goal = f"{max(own):,.0f} {peer.unit} here in the same run", GOALS.get((peer.game[0], ours))
        rows.append(Row.of(f"{peer.name}-ratio", f"— {ours}, beside it", ratios(own, rates), "times", goal, note=note))
    return rows


@contextmanager
def playing(peer: Peer) -> Iterator[tuple[str, Meter]]:
    """Start a Python that plays the peer's game; yield its versions, and what measures its rate.

    Raises:
        ValueError: if it ends, as where the package is not installed.
    """
    own = VENVS / peer.package / "bin" / "python"
    command = [str(own) if own.exists() else sys.executable, str(PLAYER), *peer.game]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin and process.stdout and process.stderr
        versions, asked, answers = process.stdout.readline(), process.stdin, process.stdout
        if not versions:
            raise ValueError(process.stderr.read().strip().rpartition("\n")[2])

        def measure(seconds: Seconds) -> float:
            asked.write(f"{seconds}\n")
            asked.flush()
            return float(answers.readline())

        try:
            yield versions.strip(), measure
        finally:
            process.kill()
