"""`parlour deploy acpc`: a policy, a bot or a language model at a dealer of the Annual Computer Poker Competition."""

from ....envs.core.options import seconds
from ....wrappers.live.acpc.messages import match_game
from ....wrappers.live.acpc.sessions import AgentSession
from ....wrappers.live.acpc.sockets import SECONDS, play_acpc
from ....wrappers.live.common.activity import Activity
from ....wrappers.live.common.agent_turn import AgentStatistics
from ....wrappers.logs.safe_match_log import SafeMatchLog
from ...evaluation.duplicate import unit_per_game
from ...evaluation.scores import RunningScore
from ...terminal.console import Console
from ..arguments import LiveArguments, PlayerName, PromptArguments, SessionArguments, StakesArguments
from ..live_table import counts_of, watch_table
from ..lookup import agent, warn_about_differences
from ..searching import searching_agent
from ..supervisor import Supervisor


def command(
    *,
    run: PlayerName,
    dealer: str = "127.0.0.1:20000",
    stakes: StakesArguments,
    deadline: float = SECONDS,
    search: bool = False,
    asked: PromptArguments,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Play a match of heads-up no-limit hold'em at a dealer of the Annual Computer Poker Competition, to its end.

    Args:
        dealer: The dealer's HOST:PORT; the port is that of the player.
        deadline: Seconds for a decision; then the safe action is played.
        search: Solve the rest of the hand again from the flop on before acting, in five seconds and half of the time.
    """
    host, _, port = dealer.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f"--dealer {dealer}: give HOST:PORT")
    seconds("deadline", deadline)
    game = match_game(stakes.stack, stakes.small_blind, stakes.big_blind)
    player = agent(run, game, session.seed, asked.language_model([run], deadline), asked.prompting())
    warn_about_differences([(run, player)], game)
    player = searching_agent(run, player, session.seed) if search else player
    watch_table(run, player)
    score, statistics = RunningScore(unit_per_game(game)), AgentStatistics()
    match = AgentSession(game, lambda chips: score.add(chips / game.payoffs.unit))
    activity = Activity(
        counts=lambda: {"hands": match.hands, "chips": match.chips},
        score=score.in_words,
        statistics=statistics,
        models=counts_of(run, player, statistics),
    )
    with Supervisor(live, session, Console()) as supervisor:
        log = SafeMatchLog(supervisor.log)
        supervisor.run(
            play_acpc(host, int(port), player, match, seconds=deadline, statistics=statistics, log=log), activity
        )
