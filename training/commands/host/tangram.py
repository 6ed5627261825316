"""`parlour host tangram`: plays with a live agent, in the role of TangramCollaborativeAI."""

from dataclasses import replace

from ....wrappers.agents.llm import statistics_of
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.tangram.host import Person, TangramHost, TangramTimes
from ....wrappers.live.tangram.messages import Dialect
from ...terminal.console import Console
from ..arguments import LiveArguments, PromptArguments, SessionArguments
from ..lookup import HUMAN, agent, game_with, warn_about_differences
from ..supervisor import Supervisor


def command(
    *,
    url: str = "ws://localhost:5000",
    partner: str = HUMAN,
    matches: int = 1,
    dialect: Dialect = "documented",
    options: tuple[str, ...] = (),
    timeout: float = 30.0,
    delay: float = 0.0,
    asked: PromptArguments,
    session: SessionArguments,
    live: LiveArguments,
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
    if matches < 1 or timeout <= 0 or delay < 0:
        raise ValueError(
            f"matches={matches}, timeout={timeout}, delay={delay}: need 1 match, some seconds, no less than 0"
        )
    game = game_with("tangram", ("split=null", *options), seats=2, aspect="godot", figure="library")
    seed, model = None if session.seed is None else session.seed + 1, asked.language_model([partner])
    person = Person(game) if partner == HUMAN else agent(partner, game, seed, model, asked.prompting())
    models = statistics_of({partner: person})
    warn_about_differences([(partner, person)], game)
    console = Console()
    if partner == HUMAN:
        live = replace(live, status_every=0.0)  # status lines would be in the person's way
    with Supervisor(live, session, console) as supervisor:
        table = TangramHost(
            game,
            person,
            url,
            dialect=dialect,
            times=TangramTimes(answer=timeout, feedback=delay),
            log=supervisor.log,
            on_chat=lambda text: console.print(f"message of the agent: {text}", markup=False),
        )
        try:
            activity = Activity(
                counts=lambda: _counts(table), models=lambda: models, link=table.link, patience=live.unhealthy_after
            )
            played = supervisor.run(table.play(matches, session.seed), activity)
        except EOFError:
            raise ValueError("the input ended before the match") from None
    for result in played:
        end = result.outcome or {}
        console.print(
            f"{result.objective}: {result.turns} turns, {result.lost} lost by the agent, "
            f"{result.refused} of its messages refused; {end.get('reason')}, IoU {end.get('iou'):.2f}",
            markup=False,
            soft_wrap=True,
        )


def _counts(table: TangramHost) -> dict[str, float]:
    begun = list(table.results)
    return {
        "matches": sum(one.outcome is not None for one in begun),
        "turns": sum(one.turns for one in begun),
        "replaced": sum(one.lost for one in begun),
        "refused": sum(one.refused for one in begun),
    }
