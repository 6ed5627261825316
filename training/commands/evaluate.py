"""`parlour evaluate RUN`: measures a policy over duplicate deals. Further measures are modules of their own."""

from ..parallel.tasks import Workers
from .arguments import PolicyArguments, ReportArguments


def command(
    evaluated: PolicyArguments,
    *,
    against: tuple[str, ...] = (),
    deals: int = 20_000,
    search: bool = False,
    mute: bool = False,
    scramble: bool = False,
    raw: bool = False,
    workers: Workers,
    report: ReportArguments,
) -> None:
    """Evaluate a policy over duplicate deals in every seat, and print the mean per hand with its 95 % interval.

    The return is what the policy has in one seat, with the opponent in all others. What the opponent wins from it is
    what the opponent has in one seat, with the policy in all others, and in a game that is not zero-sum, more than the
    policy itself has there. In a game with teams the policy plays one team and the opponent the others, and the
    opponent in the policy's place stands beside it. If the game has a known equilibrium, the policy is also compared
    with it: it plays all seats.

    Args:
        against: Opponents: bots, runs or policy files. Each one plays all other seats; of several joined by +, such as
            call+tight, each plays as many, in turns around the table. Default: every bot that can play the game with
            its options.
        deals: Deals per opponent. Each deal is played once with the policy in each seat; in a game with teams, once
            for each team.
        search: The policy searches before it acts, without a time limit. Tangram: a beam search. Hold'em: from the flop
            on hands of two players are solved again; that takes half a second to seven seconds for each decision, so
            take few deals.
        mute: The policy cannot say anything. What this changes is what its talk is worth.
        scramble: Every statement of the policy is replaced by a random one.
        raw: Count every result as it was, luck included. Default: where the game has a method for it, luck is taken
            out (hold'em: that of the board, or of all-ins); the mean is the same, the interval is smaller.
    """
    given = dict(locals())
    from .measures import evaluate_policy

    evaluate_policy(**given)
