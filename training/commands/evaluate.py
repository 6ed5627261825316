"""`parlour evaluate RUN`: measures a policy over duplicate deals. It loads little, so that its help comes at once."""

from ..parallel.tasks import Workers
from .arguments import DealsArguments, PolicyArguments, ReportArguments


def command(evaluated: PolicyArguments, *, played: DealsArguments, workers: Workers, report: ReportArguments) -> None:
    """Evaluate a policy over duplicate deals in every seat, and print the mean per hand with its 95 % interval.

    The return is what the policy has in one seat, with the opponent in all others. What the opponent wins from it is
    what the opponent has in one seat, with the policy in all others, and in a game that is not zero-sum, more than the
    policy itself has there. In a game with teams the policy plays one team and the opponent the others, and the
    opponent in the policy's place stands beside it. If the game has a known equilibrium, the policy is also compared
    with it: it plays all seats.
    """
    from .measures import evaluate_policy

    evaluate_policy(evaluated, played, workers, report)
