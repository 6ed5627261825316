"""`parlour host acpc`: deals a match by the protocol of the Annual Computer Poker Competition."""

from ....envs.core.options import seconds, whole
from ....wrappers.live.acpc.messages import match_game
from ....wrappers.live.acpc.sessions import HostSession
from ....wrappers.live.acpc.sockets import SECONDS, host_acpc
from ....wrappers.live.common.activity import Activity
from ....wrappers.logs.safe_match_log import SafeMatchLog
from ...terminal.console import Console
from ..arguments import AddressArguments, LiveArguments, SessionArguments, StakesArguments
from ..supervisor import Supervisor

PORT = AddressArguments(port=20000)


def command(
    *,
    hands: int = 1_000,
    stakes: StakesArguments,
    timeout: float = SECONDS,
    listening: AddressArguments = PORT,
    session: SessionArguments,
    live: LiveArguments,
) -> None:
    """Deal a match of heads-up no-limit hold'em to the first two players that connect, by the protocol of the ACPC.

    Args:
        hands: Number of hands.
        timeout: Seconds to act; then the host checks if possible, else folds.
    """
    whole("hands", hands, 1)
    seconds("timeout", timeout)
    console = Console()
    match = HostSession(match_game(stakes.stack, stakes.small_blind, stakes.big_blind), session.seed)
    activity = Activity(
        counts=lambda: {"hands": match.hands, "replaced": match.replaced, "refused": match.refused},
    )

    def ready(port: int) -> None:
        where = f"{listening.address}:{port}"
        console.print(f"dealing at {where} (Ctrl-C ends it)", markup=False, soft_wrap=True)
        near = "127.0.0.1" if listening.address == "0.0.0.0" else listening.address
        console.print(f"play with: parlour deploy acpc tight --dealer {near}:{port}", markup=False, soft_wrap=True)

    with Supervisor(live, session, console) as supervisor:
        supervisor.run(
            host_acpc(
                match,
                hands=hands,
                address=listening.address,
                port=listening.port,
                seconds=timeout,
                log=SafeMatchLog(supervisor.log),
                ready=ready,
            ),
            activity,
        )
    for player, won in enumerate(match.totals.tolist(), 1):
        each = won / match.hands / stakes.big_blind
        console.print(f"player {player} wins {won:+} chips, {each:+.3f} big blinds a hand", markup=False)
