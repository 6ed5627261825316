"""`parlour deploy PLATFORM`: lets a policy, a bot, a language model or a person play on a live platform."""

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from datetime import datetime
from itertools import count, cycle
from pathlib import Path
from typing import Annotated, Any, cast

from cyclopts import Parameter
from cyclopts.types import NonNegativeInt, PositiveInt
from yarl import URL

from ...envs import GAMES, Game, TurnState
from ...envs import game as make_game
from ...envs.mafia.bots import PERSONALITIES
from ...wrappers import Agent, PolicyAgent
from ...wrappers.agents.language_model import LLMAgent, Model, ModelStatistics, statistics_of
from ...wrappers.live.arena.agent import ArenaAgent, ArenaAgentServer, ArenaPollingAgent, PollingTimes
from ...wrappers.live.common.client import UNREACHABLE, UNTRUSTED_CERTIFICATE, Link, LiveError
from ...wrappers.live.common.player import AgentStatistics, Worker
from ...wrappers.live.mafia.agent import AgentPolicy, MafiaAgentServer
from ...wrappers.live.mafia.agents import MafiaLLMAgent, MafiaPolicyAgent, MafiaScriptedAgent, Prompts, load_prompts
from ...wrappers.live.mafia.messages import AgentConfig, Personality, ScriptedConfig
from ...wrappers.live.poker import agent as poker
from ...wrappers.live.poker import messages
from ...wrappers.live.poker.agent import ClientSettings, Monitoring, PlayLength, SeatRequest
from ...wrappers.logs.match_log import describe_error
from ...wrappers.policies.base import LearnedPolicy
from ..evaluation.duplicate import RunningScore
from ..learning.run_folder import locked
from ..runs.config import platform_presets, preset_options
from ..terminal.console import Console
from . import arguments, lookup
from .activity import Activity
from .supervisor import TRY_AGAIN, serving, supervised

ARENA_PORT = arguments.AddressArguments(port=8100)


def deploy_arena(
    deployed: arguments.PlayerArguments,
    *,
    name: str | None = None,
    arena: str | None = None,
    sessions: NonNegativeInt = 0,
    invites: tuple[str, ...] = (),
    poll: float = 0.5,
    claim_token: str | None = None,
    endpoint: str | None = None,
    listening: arguments.AddressArguments = ARENA_PORT,
    deadline: float = 24.0,
    access: arguments.AccessArguments,
    matches: PositiveInt | None = None,
    llm: arguments.PromptArguments,
    live: arguments.LiveArguments,
) -> None:
    """Play on TurnState arenas: serve POST /act, /match_start, /match_end, or poll sessions.

    Args:
        name: The agent's id. Default: the run's or bot's.
        arena: URL of the arena to register at, http://…. Default: none; register by hand.
        sessions: Number of sessions to play at the same time, by polling. Default: none; the arena calls the agent.
        invites: Codes of sessions to join first, before open sessions and new ones.
        poll: Seconds between two requests for a running session.
        claim_token: The token that the arena gave for the name at its first use. Default: the environment's
            PARLOUR_CLAIM_TOKEN, else none.
        endpoint: URL under which the arena reaches this agent. Default: the address of the server.
        deadline: Seconds for a decision; then the safe action is played. Arenas allow 30, and 60 in sessions.
        matches: Number of matches after which the command ends. Default: until Ctrl-C.
    """
    if sessions and arena is None:
        raise ValueError(f"sessions={sessions}: name the arena with --arena http://…")
    if invites and not sessions:
        raise ValueError("--invites needs --sessions")
    run, console = deployed.run, Console()
    games = [name for name in GAMES if deployed.game is None and run in lookup.bots_of(name)]
    if len(games) > 1:
        raise ValueError(f"{run} plays {', '.join(games)}: name the game with --game")
    chosen = lookup.game_of(run, deployed.game, deployed.options, deployed.seats)
    making, statistics = lookup.agents_as(llm, [run], deadline), ModelStatistics()

    def make() -> Agent:
        """Return the agent; of a language model one for each match, with a memory of its own."""
        one = making(run, chosen, live.seed)
        watch_table(run, one)
        if isinstance(one, LLMAgent):
            one.statistics = statistics
        return one

    playing = make()
    player = ArenaAgent(name or Path(run).stem, playing, for_match=make if run == lookup.LLM else None)
    activity = Activity(statistics=player.statistics, models=counts_of(run, playing, player.statistics))
    lookup.warn_about_differences([(run, playing)], chosen)
    with supervised(live, console) as supervisor:
        if arena is not None and sessions:
            polling = ArenaPollingAgent(
                player,
                arena,
                seats=chosen.seats,
                access_token=access.token,
                times=PollingTimes(decision=deadline, running=poll),
                log=supervisor.log,
            )
            polling.claim_token = claim_token
            activity = replace(
                activity,
                counts=lambda: {"matches": polling.matches, "lost": polling.lost, "turns": polling.turns},
                link=polling.link,
                patience=live.unhealthy_after,
            )

            async def poll_sessions() -> None:
                try:
                    async with polling:
                        await polling.register()
                        console.say(f"{player.agent_id} plays in {sessions} sessions at once (Ctrl-C ends it)")
                        await polling.play(sessions, matches, invites)
                finally:
                    if (token := polling.claim_token) != claim_token:
                        console.say(f"the arena's token for the name, for PARLOUR_CLAIM_TOKEN: {token}")

            supervisor.run(poll_sessions(), activity)
            return
        server = ArenaAgentServer(
            player, server=listening.settings, deadline=deadline, endpoint=endpoint, log=supervisor.log
        )
        activity = replace(activity, counts=lambda: {"matches": server.matches, "turns": server.turns})

        async def answer() -> None:
            async with server:
                console.say(f"{player.agent_id} answers at {server.endpoint} (Ctrl-C ends it)")
                if arena is not None:
                    await server.register(arena, access.token)
                    console.say(f"registered at {arena}")
                await server.played(matches)

        supervisor.run(answer(), activity)


MAFIA_PORT = arguments.AddressArguments(port=3010)


def deploy_mafia(
    run: Annotated[str, Parameter(name="RUN")],
    *,
    language_model: arguments.ModelArguments,
    players: int | None = None,
    listening: arguments.AddressArguments = MAFIA_PORT,
    deadline: float = 25.0,
    access: arguments.AccessArguments,
    live: arguments.LiveArguments,
) -> None:
    """Serve agents over WebSocket to mafia hosts, until Ctrl-C.

    Args:
        run: A run folder or its name below runs/, a saved policy (.npz, .zip), a bot, a personality (aggressive,
            cautious, analytical, social), llm (the language model of --model), or llm:PERSONA.
        players: Number of players that a policy file was trained for, if the file does not have it. Default: 10.
        deadline: Seconds for a call; then a stream is cut off, and the safe action replaces a choice.
    """
    console = Console()
    # Whoever hosts the matches tells the number of players.
    trained = lookup.trained_for(run) if players is None else None
    game = lookup.game_with("mafia", seats=players)
    if trained is not None and trained.name == game.name:
        game = trained.make_game()
    model, prompts = language_model.language_model([run], deadline), load_prompts(language_model.prompts)
    make = maker(run, game, model, live.seed, players, prompts)
    models: dict[str, ModelStatistics] = {}

    def watched(agent_id: str, name: str) -> AgentPolicy:
        agent = make(agent_id, name)
        if isinstance(agent, MafiaLLMAgent):  # all agents together: the ids are the hosts', as many as they like
            agent.statistics = models.setdefault(agent.model.name, agent.statistics)
        return agent

    with supervised(live, console) as supervisor:
        server = MafiaAgentServer(
            watched,
            server=replace(listening.settings, access_token=access.token),
            deadline=deadline,
            seed=live.seed,
            log=supervisor.log,
        )
        activity = Activity(
            counts=lambda: {"connections": server.connections}, statistics=server.statistics, models=lambda: models
        )
        stay = serving(server, console, lambda: [f"{run} plays mafia at {server.url} (Ctrl-C ends it)"])
        supervisor.run(stay, activity)


MOST_SEATS = 10
"""The number of seats of the game that bots play; live tables do not have more."""
PER_HAND = "big blinds per hand"
FOR_GOOD = (
    messages.UNAUTHORIZED,
    messages.INVALID_API_KEY,
    messages.OUTDATED_CLIENT,
    messages.VALIDATION_ERROR,
    messages.TABLE_NOT_FOUND,
    messages.REAL_MONEY,
    UNTRUSTED_CERTIFICATE,
)
"""Error codes after which a retry does not help."""


@dataclass(frozen=True, kw_only=True)
class SeatArguments(SeatRequest, arguments.AccessArguments):
    """The seat."""

    url: str | None = None
    """URL of a seat that you have already, ws:// or wss://. The token is in the URL, in --session-token-file, or in the
    environment's PARLOUR_SESSION_TOKEN. Other users cannot read the last two."""
    session_token_file: Path | None = None
    """File with the seat's token."""
    api: str | None = None
    """URL of the platform, http:// or https://, where the player registers and joins a table."""
    api_key_file: Path | None = None
    """File with the key of an agent registered before."""

    @property
    def location(self) -> str:
        """The REST URL; or the URL of the seat with its token, which may have been given apart from it."""
        if (self.url is None) == (self.api is None):
            raise ValueError("give either --url ws://… of a seat or --api http://… of the platform")
        url = self.api or self.url or ""
        if self.api is not None or "token" in URL(url).query:
            return url
        token = arguments.secret(None, self.session_token_file) or os.environ.get("PARLOUR_SESSION_TOKEN")
        return str(URL(url).update_query(token=token)) if token else url

    def request(self, name: str) -> SeatRequest:
        """Return the request for a seat, with the secrets; `name` is the default of the agent's name."""
        given = {one.name: getattr(self, one.name) for one in fields(SeatRequest)}
        given |= {"api_key": arguments.secret(self.api_key, self.api_key_file), "access_token": self.token}
        return SeatRequest(**{**given, "name": self.name or name})


def deploy_poker(
    run: arguments.PlayerName,
    *,
    where: SeatArguments,
    ca_file: Path | None = None,
    one_table: bool = False,
    hands: int | None = None,
    until: datetime | None = None,
    deadline: arguments.Seconds | None = None,
    search: bool | None = None,
    llm: arguments.PromptArguments,
    live: arguments.LiveArguments,
) -> None:
    """Let a policy, a bot, a language model or a person (human) play at live poker tables.

    With --api the player joins the next table when a table ends, when the chips are gone, or when the server has
    restarted, until it is stopped or --hands or --until is reached.

    Exit codes: 0: the table has ended, or --hands or --until is reached; 75: retry later, the server is away or closed
    the connection without a reason; 2: an error or a refusal, a retry does not help; 130 and 143: stopped by Ctrl-C and
    SIGTERM, after leaving the seat.

    Args:
        ca_file: File with certificates (PEM) of further trusted authorities.
        one_table: With --api, stop when the table ends.
        hands: Number of hands, at all tables, after which the player leaves. Default: no limit.
        until: Time after which the player leaves at the end of the hand, such as 2030-01-31T07:00:00 (local time).
        deadline: Seconds for a decision; then the safe action is played. Default: four fifths of the platform's time.
        search: From the flop on, solve hands of two players again before acting, in two seconds and half of the time.
            Default: zoo:holdem-blueprint does.
    """
    address, console, counts = where.location, Console(), Counter[str]()
    statistics, link, score = AgentStatistics(), Link(), RunningScore(PER_HAND)

    def tell(event: poker.PokerEvent) -> None:
        if isinstance(event, poker.SeatTaken):
            console.print(f"playing in seat {event.seat}")
        elif isinstance(event, poker.HandEnded):
            counts["hands"] += 1
            counts["chips"] += event.net
            if event.stack is None:
                console.print(f"hand {event.hand}: {event.won} chips from the pot")
            else:
                score.add(event.net / event.big_blind)
                console.print(f"hand {event.hand}: {event.net:+,} chips, stack {event.stack:,}")

    if run == lookup.HUMAN:
        live = replace(live, status_every=0.0)  # status lines would be in the person's way
    with nullcontext() if where.state is None else locked(where.state), supervised(live, console) as supervisor:
        table = lookup.game_with("holdem", seats=MOST_SEATS)
        if run not in ("random", lookup.LLM, *table.bots):
            table = lookup.game_with("holdem", seats=2)
        chosen = lookup.agents_as(llm, [run], deadline)(run, table, live.seed)
        [chosen] = lookup.searching_agents([run], [chosen], live.seed, search)
        watch_table(run, chosen)
        stay = poker.play(
            address,
            chosen,
            seat=where.request(Path(run).name),
            length=PlayLength(hands=hands, until=until, keep_playing=where.api is not None and not one_table),
            client=ClientSettings(deadline=deadline, ca_file=ca_file),
            log=supervisor.log,
            monitoring=Monitoring(statistics=statistics, link=link, on_event=tell),
        )
        activity = Activity(
            counts=lambda: counts,
            score=score.in_words,
            statistics=statistics,
            models=counts_of(run, chosen, statistics),
            link=link,
            patience=live.unhealthy_after,
        )
        try:
            played = supervisor.run(stay, activity, lambda result: messages.in_words(result.reason))
        except LiveError as error:
            for_good = error.code in FOR_GOOD or error.code.startswith("HTTP_")
            if for_good or (where.api is None and error.code != UNREACHABLE):
                raise
            print(f"parlour deploy poker: {error}", file=sys.stderr)
            raise SystemExit(TRY_AGAIN) from None
    if played.reason == "closed":
        raise SystemExit(TRY_AGAIN)


TANGRAM_PORT = arguments.AddressArguments(port=5000)


def deploy_tangram(
    run: arguments.PlayerName,
    *,
    listening: arguments.AddressArguments = TANGRAM_PORT,
    options: tuple[str, ...] = (),
    deadline: float = 10.0,
    search: bool = False,
    matches: PositiveInt | None = None,
    llm: arguments.PromptArguments,
    live: arguments.LiveArguments,
) -> None:
    """Serve a policy, a bot or a language model to live tangram games, which connect to it by WebSocket.

    Args:
        options: Options of the game that a policy file was trained for, as name=value, if the file does not have them.
            figure=FILE and flip=true give figures of your own, which objectives may name, to every policy.
        deadline: Seconds for a decision; then the turn is finished.
        search: Plan before acting: a beam search guided by the policy, for at most half of the deadline.
        matches: Number of games (connections) after which the command ends. Default: until Ctrl-C.
    """
    from ...envs.tangram.bots import useful_moves  # compiles: other commands do not wait for it
    from ...envs.tangram.figure_sets import own_figures
    from ...wrappers.live.tangram.agent import TangramAgentServer

    game = lookup.game_with("tangram", options, seats=2, aspect="godot")
    player = lookup.agents_as(llm, [run], deadline)(run, game, live.seed)
    lookup.warn_about_differences([(run, player)], game)
    if isinstance(player, PolicyAgent) and player.game.options["aspect"] != game.options["aspect"]:
        print(f"{run} plays better after: parlour train --for tangram-collaborative-ai", file=sys.stderr)
    if search:
        player = lookup.searching_agent(run, player, live.seed)
    seen = player.game if isinstance(player, PolicyAgent) else game
    if own_figures(game.options):
        own = {name: game.options[name] for name in ("figure", "flip")}
        seen = lookup.game_with("tangram", (), **{**seen.options, **own})
    with supervised(live, console := Console()) as supervisor:
        server = TangramAgentServer(
            player, seen, server=listening.settings, deadline=deadline, useful=useful_moves, log=supervisor.log
        )
        activity = Activity(
            counts=lambda: {"matches": server.matches, "turns": server.turns, "connections": server.connections},
            statistics=server.statistics,
            models=counts_of(run, player, server.statistics),
        )

        def lines() -> list[str]:
            waits = f"{Path(run).stem} waits for games at {server.url} (Ctrl-C ends it)"
            return [waits, f"try it with: parlour host tangram --url {server.url}"]

        supervisor.run(serving(server, console, lines, lambda: server.played(matches)), activity)
        console.print(f"{server.plays} plays, {server.helped} of them in the policy's place")


logger = logging.getLogger(__name__)


def watch_table(spec: str, player: Any) -> None:
    """Compare the options that an agent knows with those of its table, turn by turn: further players may come later.

    For a trained one a difference is a warning, once; a language model is told the rules with the table's options.

    Args:
        spec: the agent's name.
        player: the agent; others are ignored.
    """
    game = getattr(player, "game", None)
    visible = None if game is None else game.capabilities.shown_options
    policy = player.policy if isinstance(player, PolicyAgent) else None
    trained = isinstance(policy, LearnedPolicy) and policy.trained_for is not None
    if visible is None or not (trained or isinstance(player, LLMAgent)):
        return
    match: str | None = None

    def compare(state: TurnState) -> None:
        nonlocal match
        first, match = state.match_id != match, state.match_id
        game = player.game
        try:
            differences = visible.differences(game.options, state, first)
            if differences and isinstance(player, LLMAgent):
                own = make_game(game.name, **{**game.options, **differences})
                player.prompting = replace(player.prompting, game=own)
            elif differences:
                player.on_turn = None
                table = {name: value for name, value in differences.items() if game.options[name] != value}
                known = _as_options({name: game.options[name] for name in table})
                remedy = remedy_for(game.name, differences, lambda given: visible.differences(given, state, first))
                line = "%s was trained with %s, and this table has %s; it plays better after: %s"
                logger.warning(line, spec, known, _as_options(table), remedy)
        except (KeyError, TypeError, ValueError) as error:  # the turn must be played all the same
            player.on_turn = None
            logger.warning("%s: the options of the table cannot be read: %s", spec, describe_error(error))

    player.on_turn = compare


def counts_of(spec: str, player: Any, turns: AgentStatistics) -> Callable[[], dict[str, ModelStatistics]]:
    """Return a function that counts the answers of a language model, by its name; empty for other players.

    Its turns are counted as the program counts them, so with those for which it was not asked, or was late.
    """
    models = statistics_of({spec: player})
    return lambda: {
        name: replace(one, decisions=turns.decisions, replaced=turns.replaced) for name, one in models.items()
    }


def remedy_for(game: str, found: Mapping[str, Any], compare: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
    """Return the command that trains for a table: for a platform that has its options, or with the options.

    Args:
        game: the game's name.
        found: the options that differ, with the table's values.
        compare: returns which of the options given to it differ.
    """
    for platform in platform_presets():
        if platform.game == game:
            options = make_game(game, **preset_options(platform.preset)).options
            if not compare(options):
                return platform.command
    return f"parlour train {game} --options {_as_options(found, ' ')}"


def _as_options(options: Mapping[str, Any], between: str = ", ") -> str:
    return between.join(f"{name}={json.dumps(value).replace(' ', '')}" for name, value in options.items())


MakePolicy = Callable[[str, str], AgentPolicy]
"""A function from id and name to an agent."""


def maker(
    spec: str, game: Game, model: Model | None, seed: int | None, seats: int | None, prompts: Prompts
) -> MakePolicy:
    """Return a function that makes agents as `spec` names them, with different seeds. Saved policies run in a thread.

    Args:
        spec: a personality; ``llm``, with all personas in turn, or ``llm:PERSONA``; a bot, a run or a policy file.
        game: mafia with its options.
        model: the language model of ``llm``.
        seed: seed of the agents' choices and texts; None: a random one.
        seats: number of players of the matches; None: unknown.
        prompts: the prompts of language models.

    Raises:
        ValueError: if `spec` is unknown, or cannot play the game.
    """
    numbers = count(0 if seed is None else seed * 1_000_003)

    def own() -> int | None:
        return None if seed is None else next(numbers)

    if spec in PERSONALITIES:
        config = AgentConfig(type="scripted", scripted_config=ScriptedConfig(personality=cast(Personality, spec)))
        return lambda agent_id, name: MafiaScriptedAgent(agent_id, name, config, seed=own())
    if spec.partition(":")[0] == lookup.LLM:
        llm, persona = lookup.needed(model), spec.partition(":")[2]
        MafiaLLMAgent("p1", "Alice", llm, prompts=prompts, persona=persona)  # an error now, not in the first match
        personas = cycle([persona] if persona else list(prompts.personas) or [""])
        return lambda agent_id, name: MafiaLLMAgent(
            agent_id, name, llm, prompts=prompts, persona=next(personas), seed=own()
        )
    lookup.located_for(game, spec, *PERSONALITIES, lookup.LLM)
    player = lookup.agent(spec, game, seed)
    assert isinstance(player, PolicyAgent)
    trained, policy = player.game, player.policy
    if seats is not None:
        lookup.warn_about_differences([(spec, player)], game)
    worker = None if spec in ("random", *game.bots) else Worker(spec)
    return lambda agent_id, name: MafiaPolicyAgent(agent_id, name, trained, policy, seed=own(), worker=worker)
