"""OpenSpiel's CFR and exploitability on a game of Parlour.

pip install parlour open_spiel
python examples/openspiel_cfr.py
"""

import argparse
import time

from open_spiel.python.algorithms import cfr, exploitability
from parlour.wrappers.openspiel import load


def main(argv=None):
    """Solve the game; return the NashConv after each of the reports."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="kuhn")
    parser.add_argument("--iterations", type=int, default=200)
    settings = parser.parse_args(argv)
    game = load(settings.game)
    solver, curve, begin = cfr.CFRPlusSolver(game), [], time.perf_counter()
    for number in range(1, settings.iterations + 1):
        solver.evaluate_and_update_policy()
        if number in (1, settings.iterations // 10, settings.iterations):
            curve.append(exploitability.nash_conv(game, solver.average_policy()))
            print(f"{number:>4} iterations  NashConv {curve[-1]:.4f}  {time.perf_counter() - begin:.1f} s", flush=True)
    return curve


if __name__ == "__main__":
    main()
