"""TerminalMatch: a match between agents, shown in the terminal, also on one screen that is redrawn."""

import logging
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ...envs import Action, ActionResult, AgentResponse, Game, GameEnv, Match, MessageScope, TurnState, how_to_play
from ...envs.core.counted import counted, plural
from ...envs.core.rng import streams
from ...wrappers.agents.answers import typed_word
from ...wrappers.agents.base import Agent, printable, sentence, thoughts
from ...wrappers.agents.human import HumanAgent
from ...wrappers.agents.language_model import LLMAgent, ModelError, ModelStatistics, columns, statistics_of
from ...wrappers.logs.match_log import MatchLog, Recorder
from ...wrappers.replay.log_reader import distinct
from .console import Console, table_of


@contextmanager
def hidden_typing() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Do not show what is typed, and yield a context that does; what was typed before it is forgotten.

    Without a terminal, or where Python has no module `termios` (Windows), nothing changes.
    """
    if find_spec("termios") is None or not sys.stdin.isatty():
        yield nullcontext
        return
    import termios

    settings = termios.tcgetattr(sys.stdin)
    hidden = settings.copy()
    hidden[3] &= ~termios.ECHO

    @contextmanager
    def asking() -> Iterator[None]:
        termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, settings)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)

    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, hidden)
    try:
        yield asking
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)


logger = logging.getLogger(__name__)

AT_END = 4
"""The pause at the end of a match on a screen without a person, in pauses after an action."""


@dataclass
class TerminalMatch:
    """A match between agents, one or more episodes, shown in the terminal.

    Args:
        game: the game with its options.
        agents: one per seat.
        names: the agents' names, seat by seat.
        console: the console; a quiet one shows nothing.
        delay: seconds to wait after every action.
        log: the match log, with the moves and the agents' notes; None: no log.
        show: ``show(headline, table, messages)`` shows the table in place of what was shown before; None: prints panels
            on the console.
        opening: lines that are shown with the first table.

    Attributes:
        totals: each seat's sum of rewards so far.
        played: the number of episodes that have ended.
        number: which episode it is, such as "hand 2 of 3"; empty before the first.
    """

    game: Game
    agents: Sequence[Agent]
    names: Sequence[str]
    console: Console
    delay: float = 0.0
    log: MatchLog | None = None
    show: Callable[[str, str, Sequence[str]], None] | None = None
    opening: Sequence[str] = ()
    totals: list[float] = field(init=False)
    played: int = field(default=0, init=False)
    number: str = field(default="", init=False)
    _running: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Check the seats; with a person among them only that seat's cards are shown."""
        if len(self.agents) != self.game.seats:
            raise ValueError(f"{counted(len(self.agents), 'agents')} for {counted(self.game.seats, 'seats')}")
        people = [seat for seat, one in enumerate(self.agents) if isinstance(one, HumanAgent)]
        if len(people) > 1:
            raise ValueError("two people cannot share one terminal: they would see each other's cards")
        self.eyes = people[0] if people else None
        for agent in self.agents:
            if isinstance(agent, HumanAgent):
                agent.compact = True  # the table is on the screen already
                agent.rules = partial(rules_of, self.game)
        self.totals = [0.0] * self.game.seats

    def play(self, episodes: int, seed: int | None) -> None:
        """Play `episodes` episodes and add up the rewards. Without a seed the match is random."""
        env = GameEnv(self.game)
        for number, stream in enumerate(streams(seed, episodes).tolist(), 1):
            for who in self.agents:
                if isinstance(who, LLMAgent):
                    who.begin()
            self._running, self.number = True, f"{self.game.payoffs.episode_name} {number} of {episodes}"
            recorder = None if self.log is None else Recorder(self.log, env, stream, distinct(self.names))
            if recorder is None:
                env.reset(seed=stream)
            self._show(env, self.number, self.opening if number == 1 else ())
            while not env.table.done:
                self._turn(env, recorder)
            if number < episodes and self.show is not None:
                person = None if self.eyes is None else self.agents[self.eyes]
                if isinstance(person, HumanAgent):  # before the next table takes the place of this one
                    person.wait(f"Enter: next {self.game.payoffs.episode_name}, quit: leave > ")
                else:
                    time.sleep(AT_END * self.delay)

    def _turn(self, env: GameEnv, recorder: Recorder | None) -> None:
        """Ask the acting agent once, and show what it did."""
        player = env.agent_selection
        seat = self.game.agents.index(player)
        who = self.agents[seat]
        seen, phase, before = self._seen(env, seat), self._phase(env), env.match.clone()
        response, result = self._respond(who, env, recorder)
        if result.ok:
            self.totals = [total + float(env.table.rewards[i]) for i, total in enumerate(self.totals)]
            if env.table.done:
                self.played, self._running = self.played + 1, False
            if seen:
                did = self._did(env, seat, response.action, before)
                then = "" if env.table.done or self._phase(env) == phase else f" ({phase})"  # the table is further
                self._show(env, f"{player} ({self._who(seat)}): {did}{then}", self._said(response))
                time.sleep(self.delay)
            elif self._seen(env, seat):
                self._show(env, "others have chosen in secret")
        elif seat == self.eyes:
            self.console.print(result.error_detail or "", markup=False)
        else:
            raise ValueError(f"{self.names[seat]} answered {response}, refused: {result.error_detail}")

    def _did(self, env: GameEnv, seat: int, action: Action, before: Match) -> str:
        """Return an action in words: of a match with a person those that are typed, of another only what it may know.

        Its values are told if the person's table has them in a new line: an old one may be about another action. Its
        type is told if the person's state tells it from the other types.
        """
        if self.eyes is None:
            return _spoken(headline(action))
        typed = typed_word(action.action_type, self.game.allowed_actions(before.table))
        line = f"{self.game.agents[seat]} {headline(action)}\n"
        old, new = (f"{self.text(table)}\n".count(line) for table in (before.table, env.table))
        if seat == self.eyes or new > old:
            return _spoken(headline(action), typed)
        return _spoken(action.action_type, typed) if self._differs(before, action) else "has chosen"

    def _differs(self, before: Match, action: Action) -> bool:
        match = before.clone()
        match.submit(self.game.agents[before.turn], action)
        states = self._states(match.table)
        for index in self.game.mask(before.table, before.turn).nonzero()[0].tolist():
            if self.game.view.encode(before.table, index).action.action_type != action.action_type:
                match = before.clone()
                match.play(index, silent=True)
                if self._states(match.table) == states:
                    return False
        return True

    def _states(self, table: Any) -> list[TurnState]:
        seats = range(self.game.seats) if self.eyes is None else [self.eyes]
        return [self.game.turn_state(table, seat, messages=()) for seat in seats]

    def text(self, table: Any) -> str:
        """Return the table as text, with what the viewer may know."""
        return self.game.renderer.text(self._states(table))

    def _phase(self, env: GameEnv) -> str:
        return self.game.view.phase(env.table).lower().replace("_", " ")

    def _respond(self, who: Agent, env: GameEnv, recorder: Recorder | None) -> tuple[AgentResponse, ActionResult]:
        """Play an agent's answer; if a language model gives no legal answer, play the safe action."""
        player = env.agent_selection
        try:
            response = who.respond(env.turn_state(player))
        except ModelError as error:
            problem = str(error)
        else:
            result = _submitted(env, recorder, response, thoughts(who))
            if result.ok or not isinstance(who, LLMAgent):
                return response, result
            problem = result.error_detail or ""
            who.statistics.faults["illegal"] += 1
            who.statistics.replaced += 1
        if self._seen(env, self.game.agents.index(player)):  # a refusal of an opponent's answer is private
            why = f": {problem}" if self.eyes is None else ""
            logger.warning("the safe action is played for %s%s", player, why)
        response = self.game.view.encode(env.table, self.game.view.safe(env.table))
        return response, _submitted(env, recorder, response, {})

    def _said(self, response: AgentResponse) -> list[str]:
        """Return the messages sent with an action that the viewer may read."""
        heard = [one for one in response.messages if self.eyes is None or one.scope == MessageScope.PUBLIC]
        return [f"“{said}”" for one in heard if (said := printable(one.content))]

    def _seen(self, env: GameEnv, seat: int) -> bool:
        """Return True if the viewer may know that it was this seat's turn; always true after the end."""
        secret = self.eyes is not None and seat != self.eyes and not env.table.done
        return not secret or self.game.visible_turn(env.table, self.eyes or 0) is not None

    def _who(self, seat: int) -> str:
        return "you" if seat == self.eyes else self.names[seat]

    def _show(self, env: GameEnv, headline: str, said: Sequence[str] = ()) -> None:
        text = self.text(env.table)
        if self.show is not None:
            self.show(headline, text, said)
        else:
            self.console.print(Panel(Text("\n".join([text, *said])), title=Text(headline), title_align="left"))

    def table(self) -> Table:
        """Return the results as a table."""
        rows = [(agent, self._who(seat), self._total(seat)) for seat, agent in enumerate(self.game.agents)]
        return table_of(["seat", "who", self._unit()], rows, texts=2)

    def models(self) -> Table | None:
        """Return the statistics of the language models by seat; None without any."""
        seated = zip(self.game.agents, self.names, self.agents, strict=True)
        models = statistics_of({f"{seat} ({name})": who for seat, name, who in seated})
        return model_table(models) if models else None

    def line(self) -> Text:
        """Return the results in one line, for small screens."""
        agents = enumerate(self.game.agents)
        totals = [f"{'you' if seat == self.eyes else agent} {self._total(seat)}" for seat, agent in agents]
        return Text(f"{self._unit()}: {' · '.join(totals)}")

    def result(self, seat: int) -> str:
        """Return a seat's result as a sentence."""
        return f"You have {self._total(seat)} {self.game.payoffs.unit_name} after {self._played()}."

    def _played(self) -> str:
        return counted(self.played, plural(self.game.payoffs.episode_name))

    def _unit(self) -> str:
        unit = self.game.payoffs.unit_name
        if self._running:
            return f"{unit} before this {self.game.payoffs.episode_name}"
        return unit if self.played < 2 else f"{unit}, sum of {self._played()}"

    def _total(self, seat: int) -> str:
        # + 0.0 turns −0 into 0.
        return f"{round(self.totals[seat] / self.game.payoffs.unit, 1) + 0.0:+,.1f}"


def recorded(game: Game, players: Sequence[tuple[str, Agent]], seed: int) -> bytes:
    """Play an episode between named agents without showing it, and return its match log."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "match.jsonl"
        names, agents = zip(*players, strict=True)
        with MatchLog(file) as log:
            TerminalMatch(game, agents, names, Console(quiet=True), 0.0, log).play(1, seed)
        return file.read_bytes()


def model_table(models: Mapping[str, ModelStatistics]) -> Table:
    """Return the statistics of language models as a table, by seat or name."""
    heads, lines = columns({name: each.row() for name, each in models.items()})
    return table_of(heads, lines, texts=len(heads))


def rules_of(game: Game) -> str:
    """Return the rules of a game for a person, without the marks of Markdown."""
    return re.sub(r"(?m)^#+ |`", "", how_to_play(game, fields=False))


def _submitted(env: GameEnv, recorder: Recorder | None, response: AgentResponse, notes: dict[str, Any]) -> ActionResult:
    if recorder is None:
        return env.submit(env.agent_selection, response)
    return recorder.submit(env.agent_selection, response, notes)


def headline(action: Action) -> str:
    """Return a short description of an action: without empty fields, and with rounded numbers.

    >>> headline(Action("say", {"type": "claim", "targetId": None, "role": "doctor"}))
    'say claim doctor'
    """
    return sentence(action, _short)


def _spoken(did: str, typed: str = "") -> str:
    """Return an action with the words of its type apart, or with the word that is typed, unless they begin with it.

    >>> _spoken("raiseTo 6", "raise"), _spoken("submit_commitment 3", "commit")
    ('raise to 6', 'commit 3')
    """
    kind, *values = did.split(" ")
    words = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", kind).lower()
    return " ".join([words if f"{words} ".startswith(f"{typed} ") or not typed else typed, *values])


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " ".join(map(_short, value))
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


REMEMBERED = 12
"""The most lines of actions shown beside the table (above it on narrow screens), the latest last."""
WORDS = 4
"""The most lines of an action, and of each of its messages."""
QUESTION = 8
"""The lines below the table for what a person is asked."""
LATELY = (30, 64)
"""The least and the most columns of the list of actions."""


class Screen:
    """The table, the latest actions and the results on one screen.

    Args:
        match: the match.
        live: the display; None: a person plays, who is asked below the table.
    """

    def __init__(self, match: TerminalMatch, live: Live | None) -> None:
        self._match = match
        self._live = live
        self._console = match.console if live is None else live.console
        self._below = QUESTION if live is None else 1
        self._done: deque[str] = deque(maxlen=REMEMBERED if live is not None else self._console.height)
        self._table = ""

    def show(self, headline: str, table: str, said: Sequence[str]) -> None:
        """Show the table as text; `headline` is the latest action, or the number of a new episode."""
        self._done.extend([headline, *said])
        self._table = table
        self.draw()

    def draw(self) -> None:
        """Draw the screen again."""
        if self._live is not None:
            self._live.update(self._drawn(self._table), refresh=True)
        else:
            self._console.clear()
            self._console.print(self._drawn(self._table))

    def _drawn(self, table: str) -> RenderableType:
        """Return the drawing, fitted to the terminal: the end of the table is cut off, never the latest action."""
        console = self._console
        text = Text(table)
        text.highlight_regex(r"(?m)^>.*$", "bold yellow")  # the acting seat
        eyes = self._match.eyes
        you = "" if eyes is None else f"you are {self._match.game.agents[eyes]}"
        title = " · ".join(filter(None, [self._match.game.id, self._match.number, you]))
        board = Panel(text, title=Text(title), expand=False)
        rows = len(console.render_lines(board))
        beside = console.width - console.measure(board).maximum - 1
        # A person reads what was said: the list stands where it has more lines.
        stacked = beside < LATELY[0] or (self._live is None and console.height - self._below > 2 * rows)
        width = console.width if stacked else min(beside, LATELY[1])
        lines = self._lines(width, REMEMBERED)
        results: RenderableType = self._match.table()
        results_rows = len(console.render_lines(results))
        if rows + results_rows + (2 + len(lines) if stacked else 0) > console.height - self._below:
            results = self._match.line()
            results_rows = len(console.render_lines(results))
        if not stacked:
            return Group(Columns([board, self._lately(lines, width)]), results)
        room = console.height - self._below - rows - 2
        sections = [results] if room > results_rows else []
        count = max(1, room - results_rows * len(sections))
        return Group(self._lately(self._lines(width, count), width), board, *sections)

    def _lines(self, width: int, count: int) -> list[str]:
        most = min(WORDS, count)
        return [
            line for words in self._done for line in wrap(words, max(1, width - 4), max_lines=most, placeholder=" …")
        ][-count:]

    def _lately(self, lines: Sequence[str], width: int) -> Panel:
        lately = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
        lately.highlight_regex(r"[^\n]*\Z", "bold")
        return Panel(lately, title="lately", width=width)
