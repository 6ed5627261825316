"""`parlour evaluate export`: a data set for language models: conversations with the values of all legal actions."""

import json
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import msgspec

from ...envs.core.options import number, whole
from ..evaluation.duplicate import unit_per_game
from ..models.data_set import Values, card_of, lines_of
from ..terminal.progress import counting_bar
from .arguments import GameArguments, ViewArguments
from .lookup import game_of, of_the_zoo, policy


@dataclass(frozen=True, kw_only=True)
class ExportArguments:
    """What is exported."""

    decisions: int = 1_000
    """Number of decisions, one line each."""
    policy: str | None = None
    """The policy that plays all seats, and whose values they are. Default: the zoo's."""
    explore: float = 0.2
    """Share of random decisions of the seat whose decisions are written, so that there are states that the policy
    avoids. The answers are the policy's own."""
    rollouts: int = 32
    """Episodes for each action, in a game whose tree is too large for exact values."""
    seed: int = 0
    """Seed of the episodes."""
    out: Path | None = None
    """File of JSON Lines; the card stands beside it. Default: the game's name with .jsonl."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        whole("decisions", self.decisions, 1)
        number("explore", self.explore, 0, 1)
        whole("rollouts", self.rollouts, 1)
        whole("seed", self.seed, 0)


def command(chosen: GameArguments, *, exported: ExportArguments, shown: ViewArguments) -> None:
    """Write a data set for language models: decisions as conversations, with the values of all legal actions.

    A line has the prompt that a model gets in play, the policy's answer, and for every legal action its text, its value
    and the policy's probability. The value is the seat's return from there on if all seats play by the policy
    afterwards: exact in games whose tree can be walked, where the zoo's policy is an equilibrium, else the mean of
    rollouts from the true state. A Croissant card describes the file. The same seed writes the same file.
    """
    game = game_of("random", chosen.game, chosen.options)
    spec = exported.policy or next(iter(of_the_zoo(game)), None)
    if spec is None:
        raise ValueError(f"the zoo has no policy for {game.id} with these options: name one with --policy")
    if shown.conversation:
        raise ValueError("--conversation: every line is a decision by itself")
    out = exported.out or Path(f"{game.name}.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    player = policy(spec, game, exported.seed)
    values = Values(player, game, exported.rollouts)
    digest, prompting = sha256(), shown.prompting()(game=game)
    lines = lines_of(game, player, values, prompting, explore=exported.explore, seed=exported.seed)
    with out.open("wb") as file, counting_bar("export", exported.decisions) as bar:
        for line in islice(lines, exported.decisions):
            text = msgspec.json.encode(line) + b"\n"
            file.write(text)
            digest.update(text)
            bar(1)
    card = out.with_suffix(".croissant.json")
    about = f"{exported.decisions:,} decisions of {spec} in {game.id} ({unit_per_game(game)}), seed {exported.seed}."
    facts = card_of(game, out.name, digest.hexdigest(), f"{about} {values.about}")
    card.write_text(json.dumps(facts, indent=2), "utf-8")
    print(f"written: {out} ({exported.decisions:,} decisions, values: {values.source}), {card}")
