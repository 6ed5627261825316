"""`parlour host PLATFORM`: hosts matches by the protocol of a platform."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt

from ... import zoo
from ...envs import GAMES, Game, find
from ...envs.core.counted import counted
from ...envs.mafia.bots import PERSONALITIES
from ...wrappers import ArenaAgent, PokerHost, PokerRoom, PokerRules, PokerTimes
from ...wrappers.agents.base import Agent, printable
from ...wrappers.agents.language_model import LLMAgent, ModelStatistics, statistics_of
from ...wrappers.live.arena.host import ArenaHost, ArenaResult
from ...wrappers.live.common.match_session import Cost, MatchLimits
from ...wrappers.live.common.server import local_url
from ...wrappers.live.mafia.agent import AgentPolicy, MafiaLimits
from ...wrappers.live.mafia.agents import MafiaLLMAgent, load_prompts
from ...wrappers.live.mafia.host import MafiaHost, MafiaResult, RemoteAgent, ServiceConnection
from ...wrappers.live.mafia.messages import Event
from ...wrappers.live.poker.messages import in_words
from ...wrappers.logs.match_log import FirstMatches, MatchLog, SafeMatchLog, opened
from ...wrappers.replay.log_reader import distinct
from ..evaluation.arena_results import GameResults, Standings, by_agent, over_all, write_pages
from ..evaluation.pages import provenance
from ..terminal.console import Console, table_of
from . import arguments, lookup
from .activity import Activity
from .deploy import MakePolicy, maker
from .supervisor import serving, supervised

ALL = "all"
"""The name of all games."""

Seated = tuple[Game, list[ArenaAgent]]
Make = Callable[[str, Game, int], Agent]
"""Makes the agent that a name stands for in a game, by its number among the agents."""


def several_games(
    names: Sequence[str], specs: Sequence[str], others: int, make: Make, console: Console
) -> list[Seated]:
    """Return the games that enough agents know, each with these agents; name the games that are left out, and why.

    An agent has one name in all games.

    Raises:
        ValueError: for an unknown game, an agent that no game knows, or if no game is left.
    """
    bots = {"random", *(bot for name in names for bot in lookup.bots_of(name))}
    for spec in specs:
        if spec not in (lookup.ZOO, lookup.LLM):
            lookup.located(spec, bots)
    tables = []
    for name in names:
        try:
            tables.append(_able(name, specs, others, console))
        except ValueError as error:
            console.print(f"{name} is left out: {error}", markup=False)
    if not tables:
        raise ValueError(f"no game has enough agents; name more --agents or --remote (there are {len(specs) + others})")
    reserved = frozenset[str]().union(*(game.words for game, _ in tables))
    return [(game, _named_agents(able, game, reserved, make)) for game, able in tables]


def _able(name: str, specs: Sequence[str], others: int, console: Console) -> tuple[Game, list[tuple[str, str]]]:
    """Return a game, and those of the agents that can play it with its seats; the others are named, with the reason.

    With fewer agents the game may have fewer seats, at which others cannot play: then it is asked again.

    Raises:
        ValueError: if the agents are too few.
    """
    default = lookup.game_with(name)
    able = [(spec, own) for spec in specs if (own := _own_spec(spec, default))]
    while True:
        game = _game(name, (), None, len(able) + others)
        reasons = {spec: reason for spec, own in able if (reason := lookup.reason_against(own, game))}
        for reason in reasons.values():
            console.print(f"{name}: {reason}", markup=False)
        able = [(spec, own) for spec, own in able if spec not in reasons]
        if not reasons:
            return _with_enough(game, len(able) + others), able


def _with_enough(game: Game, coming: int, remedy: str = "") -> Game:
    """Return the game; ValueError if fewer agents come than it has seats."""
    if coming < game.seats:
        raise ValueError(f"{counted(coming, 'agents')} for {counted(game.seats, 'seats')}{remedy}")
    return game


def _own_spec(spec: str, game: Game) -> str | None:
    if spec == lookup.ZOO:
        return zoo.PREFIX + game.name if game.name in zoo.names() else None
    if spec in ("random", lookup.LLM) or spec in game.bots:
        return spec
    trained = lookup.trained_for(spec) if spec not in lookup.bots_of(game.name) else None
    return spec if trained is not None and trained.name == game.name else None


def _game(name: str, options: Sequence[str], seats: int | None, coming: int) -> Game:
    """Return the game; if its default has more seats than there are agents, with one seat per agent."""
    if seats is not None:
        return lookup.game_with(name, options, seats=seats)
    game = lookup.game_with(name, options)
    if 2 <= coming < game.seats and not lookup.names_seats(options):
        return lookup.game_with(name, options, seats=coming)
    return game


def _named_agents(
    specs: Sequence[tuple[str, str]], game: Game, reserved: frozenset[str], make: Make
) -> list[ArenaAgent]:
    """Return the agents, with different names that are not words of the game.

    Args:
        specs: of each agent what the user wrote, and what it is in this game.
        game: the game.
        reserved: texts that no agent may be called.
        make: makes an agent.
    """
    names = distinct([*reserved, *(Path(spec).stem[:48] or spec for spec, _ in specs)])[len(reserved) :]
    made = (make(own, game, number) for number, (_, own) in enumerate(specs))
    seated = list(map(ArenaAgent, names, made))
    lookup.warn_about_differences([(one.agent_id, one.agent) for one in seated], game)
    return seated


class MatchSummary:
    """Counts results, faults, and the statistics of language models.

    Attributes:
        models: what the answers of the language models came to, by name.
        faults: numbers of answers that were late, failed, or could not be used, by name and what was played instead.
    """

    def __init__(self) -> None:
        self._wins, self.faults = Counter[str | None](), Counter[tuple[str, str]]()
        self.models: dict[str, ModelStatistics] = {}

    def watch(self, agents: Iterable[AgentPolicy]) -> None:
        """Count the calls of language models among the players of a match, from now on."""
        for one in agents:
            if isinstance(one, MafiaLLMAgent):
                one.statistics = self.models.setdefault(f"{one.name} ({one.model.name})", one.statistics)

    def add(self, result: MafiaResult) -> str:
        """Count a match that is over; return its line."""
        self._wins[result.winner] += 1
        for fault in result.faults:
            instead = fault.instead or "the answer is left out or asked for again"
            self.faults[result.names[fault.agent_id], instead] += 1
        won = f"{result.winner} wins" if result.winner else "nobody wins"
        roles = ", ".join(f"{result.names[agent]} {role}" for agent, role in result.roles.items() if role != "villager")
        rounds, faults = counted(result.rounds, "rounds"), counted(len(result.faults), "faults")
        return f"{result.game_id}: {won} after {rounds} ({roles}); {faults}"

    def lines(self) -> Iterator[str]:
        """Return the summary: number of wins, and faults by agent."""
        wins, matches = self._wins, self._wins.total()
        if matches > 1:
            yield f"{counted(matches, 'matches')}: town {wins['town']}, mafia {wins['mafia']}, nobody {wins[None]}"
        for (name, instead), count in sorted(self.faults.items()):
            yield f"{name}: {count} times in place of its answer: {instead}"


ARENA_PORT = arguments.ServerArguments(port=9100)
MOST_COMING = 16
"""Agents that may come to each game where all are served."""
SHOWN = 5
"""Columns of the table of all games in a terminal; the ratings game by game are on the page."""


def host_arena(
    game: Annotated[str, Parameter(name="GAME")],
    *,
    options: tuple[str, ...] = (),
    agents: tuple[str, ...] = (),
    remote: tuple[str, ...] = (),
    wait: NonNegativeInt = 0,
    rounds: PositiveInt = 10,
    serve: bool = False,
    seats: int | None = None,
    timeout: float = 30.0,
    max_actions: int | None = None,
    rejected: Cost = "keep",
    failed: Cost = "pass",
    out: Path | None = None,
    samples: NonNegativeInt = 3,
    listening: arguments.ServerArguments = ARENA_PORT,
    llm: arguments.PromptArguments,
    live: arguments.LiveArguments,
    as_json: arguments.AsJson = False,
) -> None:
    """Play a round robin of one, several or all games between policies, bots and HTTP agents, and print the standings.

    Several games are written as bargaining,trust and all games as all. Each agent plays the games that it knows. It is
    rated in each and over all. While a game runs, agents may also open and join its sessions at /api/sessions, and
    start matches by POST /api/match.

    Args:
        game: A game by name, several with commas between them, or all.
        options: The game's options as name=value, such as seats=6. Needs a single game.
        agents: Runs, policy files, bots, or llm (the language model of --model). The agent zoo plays each game with its
            policy of the zoo.
        remote: HTTP agents, as name=http://….
        wait: Number of agents to wait for; they register at POST /api/register. Needs a single game.
        rounds: Number of rounds. In each, every group of agents that fills the table plays once in each rotation of the
            seats.
        serve: Play no round robin, only the sessions and matches that agents request, until Ctrl-C.
        seats: Seats of the game. Default: the game's default, or the number of agents if there are fewer. Needs a
            single game.
        timeout: Seconds for a turn.
        max_actions: The most game actions of a match; 0: no limit. Default: 20 for two agents, no limit for more. With
            several games there is no limit by default.
        rejected: The cost of a rejected answer: keep (nothing, three times), the turn, or the match.
        failed: The cost of an exception or a late answer.
        out: Folder for a page with the standings and replays of matches. Default: none.
        samples: Number of matches of each game whose replay is on the page, from the first on.
    """
    names = list(dict.fromkeys(one.rpartition("-v")[0] for one in GAMES)) if game == ALL else game.split(",")
    for name in names:
        find(name)  # an unknown one is an error
        if names.count(name) > 1:
            raise ValueError(f"{name}: named twice")
    several, endpoints = len(names) > 1, [spec.partition("=") for spec in remote]
    if several and (wait or options or seats is not None):
        raise ValueError(f"{game} names {len(names)} games: --wait, --seats and --options need a single one")
    for name, equals, url in endpoints:
        if not (name and equals):
            raise ValueError(f"remote {name + equals + url!r}: write name=http://…")
    console, seed, making = Console(stderr=as_json), live.seed, lookup.agents_as(llm, agents, timeout)

    def make(spec: str, game: Game, number: int) -> Agent:
        return making(spec, game, None if seed is None else seed + 1 + number)

    others = len(remote) + wait
    if several:
        tables = several_games(names, agents, MOST_COMING if serve else others, make, console)
    else:
        coming = len(agents) + others
        chosen = _game(game, options, seats, coming)
        own = [(spec, _own_spec(spec, chosen) or spec) for spec in agents]
        tables = [(chosen, _named_agents(own, chosen, chosen.words, make))]
        if not serve:
            _with_enough(chosen, coming, ": name more --agents, --remote, --wait, or --serve")
    actions = max_actions if max_actions is not None else 0 if several else -1
    limits = MatchLimits(actions=actions or None, rejected=rejected, failed=failed)
    settings: dict[str, Any] = {"limits": limits, "timeout": timeout, "seed": seed, "server": listening.settings}
    played, together, by_game = list[GameResults](), Standings(), defaultdict[str, Standings](Standings)
    arenas, counts = list[ArenaHost](), Counter[str]()

    def count(result: ArenaResult) -> None:
        together.add(result)
        by_game[result.game_id].add(result)
        replaced, refused = sum(result.forced.values()), sum(result.rejected.values())
        counts.update(matches=1, turns=result.actions, replaced=replaced, refused=refused)

    def models() -> dict[str, ModelStatistics]:
        """Return the statistics of language models by agent and, of several games, by game."""
        return {
            f"{one.agent_id} in {game.name}" if several else one.agent_id: one.agent.statistics
            for game, ours in tables
            for one in ours
            if isinstance(one.agent, LLMAgent)
        }

    async def play(seated: Sequence[Seated]) -> None:
        """Play one game between our agents and those over HTTP; or serve all games, each with its agents."""
        arena = arenas[0]
        games = arena.game.id if len(arenas) == 1 else counted(len(arenas), "games")
        console.say(f"arena for {games} at {arena.url}")
        for each, (_, ours) in zip(arenas, seated, strict=True):
            for own in ours:
                each.add(own)
            for name, _, url in endpoints:
                each.add_remote(name, url)
        if serve:
            console.say(f"agents play here as {arena.url}/SKILL.md says (Ctrl-C ends it)")
            await asyncio.Event().wait()
        coming = len(seated[0][1]) + others
        if (missing := coming - len(arena.players)) > 0:
            console.say(f"waiting for {counted(missing, 'agents')}: POST {arena.url}/api/register")
            await arena.wait_for(coming)
        await arena.tournament(rounds)

    async def play_all(log: MatchLog | None, folder: Path) -> None:
        """Play the games one after the other, or serve all at once. The results of one that is stopped are kept."""
        kept = 0 if out is None else samples  # logs of the first matches of each game
        for seated in [tables] if serve else [[table] for table in tables]:
            with ExitStack() as stack:
                arenas.clear()
                for game, _ in reversed(seated):
                    own = FirstMatches(folder / f"{game.name}.jsonl", kept, log) if kept else opened(log)
                    beside = arenas.copy() if len(arenas) + 1 == len(seated) else ()
                    entered = stack.enter_context(own)
                    arenas.insert(0, ArenaHost(game, log=entered, on_result=count, others=beside, **settings))
                try:
                    async with arenas[0]:
                        await play(seated)
                finally:
                    for arena in arenas if arenas[0].url else ():
                        if len(seated) == 1 or arena.played:
                            first = folder / f"{arena.game.name}.jsonl" if kept and arena.played else None
                            played.append(GameResults(arena.game, by_game[arena.game.id], first))

    def report() -> None:
        """Print the standings of each game, and those over all games; write the pages."""
        of_models = {name: each.row() for name, each in models().items()}
        if as_json:
            facts = list[dict[str, Any]]()
            for result in played:
                standings = list(map(asdict, result.standings.lines()))
                facts.append({"game": result.game.id, "options": dict(result.game.options), "standings": standings})
            over = {"games": facts, "over_all": list(map(asdict, together.lines()))} if several else facts[0]
            print(json.dumps({**over, "models": of_models} if of_models else over))
        else:
            for result in played:
                console.print(table_of(*by_agent(result.standings.lines()), result.title))
            if several:
                heads, lines = over_all(played, together)
                title = f"all games: {counted(together.matches, 'matches')}"
                console.print(table_of(heads[:SHOWN], [line[:SHOWN] for line in lines], title))
        if out is not None:
            about = provenance() | {"seed": "random" if seed is None else seed}
            console.say(f"written: {write_pages(out, played, together, models(), about)}")

    with supervised(live, console) as supervisor, TemporaryDirectory() as folder:
        if out is not None:
            out.mkdir(parents=True, exist_ok=True)  # a folder that cannot be made is told before the matches
        try:
            activity = Activity(counts=lambda: {**counts, "tables": sum(len(a.matches) for a in arenas)}, models=models)
            supervisor.run(play_all(supervisor.log, Path(folder)), activity)
        finally:
            if played:
                report()


NAMES = [
    "Alice", "Bob", "Carol", "Dave", "Erin", "Frank", "Grace", "Heidi", "Ivan", "Judy",
    "Kim", "Leo", "Mallory", "Niaj", "Olivia", "Peggy", "Rupert", "Sybil", "Trent", "Victor",
]  # fmt: skip
"""The names of our agents, seat by seat."""


def host_mafia(
    *,
    agents: tuple[str, ...] = PERSONALITIES,
    remote: tuple[str, ...] = (),
    players: int | None = None,
    matches: PositiveInt = 1,
    parallel: PositiveInt = 1,
    options: tuple[str, ...] = (),
    language_model: arguments.ModelArguments,
    timeout: float = 30.0,
    access: arguments.AccessArguments,
    live: arguments.LiveArguments,
    quiet: bool = False,
) -> None:
    """Play mafia matches between agents.

    Args:
        agents: Personalities (aggressive, cautious, analytical, social), runs, policy files, bots, llm (the language
            model of --model, with one persona after another), or llm:PERSONA. They fill the seats without remote
            agents, in a cycle.
        remote: URLs of agent services, ws://…; a URL given twice plays two seats.
        players: Number of players, 5 to 20. Default: 10, or that of the options.
        matches: Number of matches.
        parallel: Number of matches played at the same time. With more than one, only results are printed.
        options: The game's options as name=value.
        timeout: Seconds for a stream, an action or a vote.
        quiet: Print only results, no statements.
    """
    game = lookup.game_with("mafia", options, seats=players)
    if len(remote) > game.seats or (not agents and len(remote) < game.seats):
        raise ValueError(f"{counted(len(remote), 'remote agents')} and {len(agents)} of ours for {game.seats} seats")
    model, seed = language_model.language_model(agents, timeout), live.seed
    texts = load_prompts(language_model.prompts)
    makes = [
        maker(spec, game, model, None if seed is None else seed + 1 + i, game.seats, texts)
        for i, spec in enumerate(agents)
    ]
    console = Console()
    limits = MafiaLimits(think=timeout, say=timeout, act=timeout)
    summary = MatchSummary()
    with supervised(live, console) as supervisor:
        printer = event_printer(console) if not quiet and parallel == 1 else lambda event: None
        host = MafiaHost(game, limits=limits, seed=seed, log=supervisor.log, on_event=printer)
        connections = [ServiceConnection(url, access.token) for url in remote]
        makers: list[MakePolicy] = [partial(RemoteAgent, connection=one) for one in connections]
        makers += islice(cycle(makes), game.seats - len(remote))
        activity = Activity(
            counts=lambda: {"matches": host.over, "replaced": summary.faults.total()},
            models=lambda: dict(sorted(summary.models.items())),
        )
        left = iter(range(matches))

        async def play_some() -> None:
            for _ in left:
                seated = [
                    make(f"p{number}", name) for number, (make, name) in enumerate(zip(makers, NAMES, strict=False), 1)
                ]
                summary.watch(seated)
                console.say(summary.add(await host.play(seated)))

        async def play() -> None:
            try:
                await asyncio.gather(*(play_some() for _ in range(min(matches, parallel))))
            finally:
                await asyncio.gather(*(connection.close() for connection in connections))
                console.say(*summary.lines())

        supervisor.run(play(), activity)
        if silent := sorted({one.url for one in connections if not one.answered}):
            raise ConnectionError(f"no call was ever answered at {', '.join(silent)}")


def event_printer(console: Console) -> Callable[[Event], None]:
    """Return a function that prints the public events of matches, one per line."""
    names, said = dict[str, str](), list[str]()

    def line(kind: str, payload: dict[str, Any]) -> str:
        if kind == "GAME_CREATED":
            names.update({player["id"]: player["name"] for player in payload["players"]})
        elif kind == "NIGHT_RESOLVED" and payload["killed"] is None:
            return "  nobody was killed: the doctor was there"
        elif kind == "VOTE_RESULT" and payload["eliminatedPlayerId"] is None:
            return "  nobody is voted out"
        elif kind == "PHASE_CHANGED" and payload["to"] in ("NIGHT_ACTIONS", "DAY_DISCUSSION"):
            return f"\n— {'Night' if payload['to'] == 'NIGHT_ACTIONS' else 'Day'} {payload['roundNumber']}"
        elif kind == "AGENT_SAY_STREAM":
            said.append(payload["chunk"])
            if not payload["chunk"]:
                text = "".join(said)
                said.clear()
                by = f" ({payload['by']} in its place)" if "by" in payload else ""
                return f"{payload['agentName']}{by}: {printable(text) or '…'}"
        elif kind == "PLAYER_ELIMINATED":
            how = "is voted out" if payload["eliminatedBy"] == "vote" else "was killed"
            return f"  {names[payload['playerId']]} {how}: {payload['role']}"
        return ""

    return lambda event: console.say(*filter(None, [line(event.event_type, event.payload)]))


POKER_PORT = arguments.ServerArguments(port=9000)
ROOM = PokerRoom(observers=20)


def host_poker(
    *,
    rules: PokerRules,
    timeout: arguments.Seconds = 30.0,
    hand_delay: arguments.Pause = 1.5,
    away_after: arguments.Pause = 300.0,
    room: PokerRoom = ROOM,
    listening: arguments.ServerArguments = POKER_PORT,
    live: arguments.LiveArguments,
) -> None:
    """Serve poker tables over WebSocket, until Ctrl-C, SIGTERM, or every table has played its hands.

    Args:
        timeout: Seconds to act; then the host checks if possible, else folds. It acts at once for a seat without a
            connection, which sits out after two turns.
        hand_delay: Seconds between two hands.
        away_after: Seconds without a connection after which a player loses its seat. It keeps its chips.
    """
    console = Console()
    ended: Counter[str] = Counter()
    with supervised(live, console) as supervisor:
        match_log = SafeMatchLog(supervisor.log)

        def note(kind: str, **fields: Any) -> None:
            ended[kind] += 1
            match_log.write(kind, **fields)
            console.print(f"{fields['table_id']} {_line(kind, fields)}", markup=False)

        times = PokerTimes(act=timeout, hand=hand_delay, away=away_after)
        host = PokerHost(rules, times, room=room, seed=live.seed, server=listening.settings, on_event=note)

        def counts() -> dict[str, float]:
            return {
                "hands": ended["hand"],
                **host.counts,
                "tables": sum(table.ended_at is None for table in host.tables.values()),
                "connections": host.connections,
            }

        def lines() -> list[str]:
            token = " --access-token-file FILE" if host.settings.access_token else ""
            return [
                f"serving poker at {host.url} with the WebSocket {host.ws_url} (Ctrl-C ends it)",
                f"seat an agent with: parlour deploy poker tight --api {local_url(host.url)}{token}",
            ]

        until = None if rules.hands is None else host.finished
        supervisor.run(serving(host, console, lines, until), Activity(counts=counts, failing=lambda: host.problem))


def _line(kind: str, event: dict[str, Any]) -> str:
    match kind:
        case "joined":
            return f"{event['name'] or event['agent_id']} takes seat {event['seat']}"
        case "left":
            return f"seat {event['seat']} leaves"
        case "hand":
            won = ", ".join(f"{row['won']} chips to seat {row['seat']}" for row in event["results"] if row["won"])
            return f"hand {event['hand']}: from the pot {won}"
        case _:
            return f"ended after {counted(event['hands'], 'hands')}: {in_words(event['reason'])}"


def host_tangram(
    *,
    url: str = "ws://localhost:5000",
    partner: str = lookup.HUMAN,
    matches: PositiveInt = 1,
    dialect: Literal["documented", "godot"] = "documented",
    options: tuple[str, ...] = (),
    timeout: arguments.Seconds = 30.0,
    delay: arguments.Pause = 0.0,
    llm: arguments.PromptArguments,
    live: arguments.LiveArguments,
) -> None:
    """Play tangram with an agent, in the role of TangramCollaborativeAI: connect to the agent's server, and reconnect.

    Args:
        url: URL of the agent's server.
        partner: The player of the person's seat: human (you, at this terminal), a run, a bot or llm.
        matches: Number of matches.
        dialect: The form of our messages: documented, or godot, as TangramCollaborativeAI sends them.
        options: The game's options as name=value, such as figure='"A house"'. Default: any figure of the library.
        timeout: Seconds for each message of the agent.
        delay: Seconds between a play and its feedback; the animation of TangramCollaborativeAI takes 0.5.
    """
    from ...wrappers.live.tangram.host import Person, TangramHost  # compiles: other commands do not wait for it

    game = lookup.game_with("tangram", ("split=null", *options), seats=2, aspect="godot", figure="library")
    seed, make = None if live.seed is None else live.seed + 1, lookup.agents_as(llm, [partner])
    person = Person(game) if partner == lookup.HUMAN else make(partner, game, seed)
    models = statistics_of({partner: person})
    lookup.warn_about_differences([(partner, person)], game)
    console = Console()
    if partner == lookup.HUMAN:
        live = replace(live, status_every=0.0)  # status lines would be in the person's way
    with supervised(live, console) as supervisor:
        table = TangramHost(
            game,
            person,
            url,
            dialect=dialect,
            answer=timeout,
            feedback=delay,
            log=supervisor.log,
            on_chat=lambda text: console.print(f"message of the agent: {text}", markup=False),
        )

        def counts() -> dict[str, float]:
            begun = list(table.results)
            return {
                "matches": sum(one.outcome is not None for one in begun),
                "turns": sum(one.turns for one in begun),
                "replaced": sum(one.lost for one in begun),
                "refused": sum(one.refused for one in begun),
            }

        activity = Activity(counts=counts, models=lambda: models, link=table.link, patience=live.unhealthy_after)
        try:
            played = supervisor.run(table.play(matches, live.seed), activity)
        except EOFError:
            raise ValueError("the input ended before the match") from None
    for result in played:
        end = result.outcome or {}
        console.say(
            f"{result.objective}: {result.turns} turns, {result.lost} lost by the agent, "
            f"{result.refused} of its messages refused; {end.get('reason')}, IoU {end.get('iou'):.2f}"
        )
