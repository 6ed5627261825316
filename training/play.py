"""`parlour play`: a match in the terminal, to watch or to play in."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import tyro
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ..envs import ActionResult, AgentResponse, Game, GameEnv
from ..envs.core.rng import streams
from ..wrappers.agent import Agent, HumanAgent
from ..wrappers.record import MatchLog, Recorder
from .names import agent, game_with, has_seats

Submit = Callable[[str, AgentResponse], ActionResult]


@dataclass
class Match:
    """Agents at one table, episode after episode, shown as they play.

    Args:
        game: the game with its options.
        agents: one per seat.
        names: what they are called, seat by seat.
        console: where the table is shown; one that is quiet shows nothing.
        delay: seconds to wait after every action.
        log: where the moves are written, if anywhere.

    Attributes:
        totals: each seat's reward so far.
    """

    game: Game
    agents: Sequence[Agent]
    names: Sequence[str]
    console: Console
    delay: float = 0.0
    log: MatchLog | None = None
    totals: list[float] = field(init=False)

    def __post_init__(self) -> None:
        """Check the seats; with a person among them only that seat's cards are shown."""
        if len(self.agents) != self.game.seats:
            raise ValueError(f"{len(self.agents)} agents for {self.game.seats} seats")
        people = [seat for seat, one in enumerate(self.agents) if isinstance(one, HumanAgent)]
        if len(people) > 1:
            raise ValueError("two people cannot share one terminal: they would see each other's cards")
        self.eyes = people[0] if people else None
        self.totals = [0.0] * self.game.seats

    def play(self, episodes: int, seed: int | None) -> None:
        """Play so many episodes and add up the results. Without a seed every match is another."""
        env = GameEnv(self.game)
        for number, one in enumerate(streams(seed, episodes).tolist(), 1):
            if self.log is None:
                env.reset(seed=one)
                submit = env.submit
            else:
                submit = Recorder(self.log, env, one).submit
            self._show(env, f"{number} of {episodes}")
            self._episode(env, submit)

    def _episode(self, env: GameEnv, submit: Submit) -> None:
        while not env.table.done:
            player = env.agent_selection
            seat = self.game.agents.index(player)
            response = self.agents[seat].respond(env.turn_state(player))
            result = submit(player, response)
            if result.ok:
                self.totals = [total + float(env.table.rewards[i]) for i, total in enumerate(self.totals)]
                self._show(env, f"{player} ({self.names[seat]}): {_sentence(response)}")
                time.sleep(self.delay)
            elif seat == self.eyes:
                self.console.print(result.error_detail or "", markup=False)
            else:
                raise ValueError(f"{self.names[seat]} answered {response}, refused: {result.error_detail}")

    def _show(self, env: GameEnv, headline: str) -> None:
        self.console.print(
            Panel(Text(self.game.render(env.table, self.eyes)), title=Text(headline), title_align="left")
        )

    def table(self) -> Table:
        """Return the results as a table for people."""
        table = Table("seat", "who", self.game.unit_name)
        table.columns[2].justify = "right"
        for seat, name in enumerate(self.names):
            table.add_row(self.game.agents[seat], name, f"{self.totals[seat] / self.game.unit:+,.1f}")
        return table


def _sentence(response: AgentResponse) -> str:
    values = " ".join(str(value) for value in response.action.payload.values())
    return f"{response.action.action_type} {values}".strip()


def command(
    game: tyro.conf.Positional[str],
    *,
    agents: tuple[str, ...],
    hands: int = 3,
    delay: float = 0.5,
    options: tuple[str, ...] = (),
    seed: int | None = None,
    log: Path | None = None,
) -> None:
    """Watch a match in the terminal, every seat's cards open; or play in it, and see only your own.

    Args:
        game: its name, such as holdem.
        agents: who plays, seat by seat: runs, policy files, bots, human.
        hands: how many hands (episodes of other games) to play.
        delay: seconds to wait after every action.
        options: the game's options as key=value.
        seed: of everything that is dealt and drawn; default: another match every time.
        log: file to which the match is written, to be replayed.
    """
    if hands < 1 or delay < 0:
        raise ValueError(f"hands={hands}, delay={delay}: need at least 1 hand, and a delay from 0 up")
    if seed is not None and seed < 0:
        raise ValueError(f"seed {seed} is negative; give one from 0 up")
    chosen = game_with(game, options, seats=len(agents) if has_seats(game) else None)
    seeds = [None] * len(agents) if seed is None else range(seed + 1, seed + 1 + len(agents))
    players = [agent(spec, chosen, one) for spec, one in zip(agents, seeds, strict=True)]
    console = Console(highlight=False)
    with MatchLog(log) if log is not None else nullcontext() as book:
        match = Match(chosen, players, agents, console, delay, book)
        try:
            match.play(hands, seed)
        except EOFError:
            raise ValueError("the input ended before the match") from None
    console.print(match.table())
