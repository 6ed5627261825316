"""`parlour evaluate export`: a data set for language models: conversations with the values of all legal actions."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from ...envs import Game
from ...envs.core.options import number, whole
from ...envs.core.rollout import Policy
from ...wrappers.agents.prompt import Prompting
from ..evaluation.duplicate import unit_per_game
from ..evaluation.exact import Probable, nash_conv
from ..evaluation.exploit import tree_of
from ..models.action_values import ExactValues, decisions_of, probabilities, rolled_out
from ..models.reference import PartlyRandom
from ..terminal.progress import counting_bar
from .arguments import GameArguments, ViewArguments
from .lookup import game_of, of_the_zoo, policy

CROISSANT = "http://mlcommons.org/croissant/1.0"
CROISSANT_NAMES = (
    "column", "extract", "field", "fileObject", "jsonPath", "recordSet", "repeated", "source", "subField", "transform",
)  # fmt: skip
FIELDS = {
    "game": ("sc:Text", "The game's id."),
    "episode": ("sc:Integer", "The number of the episode."),
    "agent": ("sc:Text", "The agent that decides."),
    "messages": ("", "The conversation; its last message is the answer that the policy plays."),
    "answers": ("sc:Text", "The text of every legal action, as JSON."),
    "values": ("sc:Float", "The value of each of them, in the unit of the reward."),
    "probabilities": ("sc:Float", "How likely the policy plays each of them."),
    "source": ("sc:Text", "How the values were calculated: exact, or rollouts."),
}
"""The fields of a line, with their types and what they are."""


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
    values = _Values(player, game, exported)
    digest, lines = sha256(), _lines(game, player, values, exported, shown.prompting()(game=game))
    with out.open("wb") as file, counting_bar("export", exported.decisions) as bar:
        for line in islice(lines, exported.decisions):
            text = msgspec.json.encode(line) + b"\n"
            file.write(text)
            digest.update(text)
            bar(1)
    card = out.with_suffix(".croissant.json")
    about = f"{exported.decisions:,} decisions of {spec} in {game.id} ({unit_per_game(game)}), seed {exported.seed}."
    card.write_text(json.dumps(_card(game, out.name, digest.hexdigest(), f"{about} {values.about}"), indent=2), "utf-8")
    print(f"written: {out} ({exported.decisions:,} decisions, values: {values.source}), {card}")


class _Values:
    """The values of the actions at decisions.

    Attributes:
        source: ``"exact"`` or ``"rollouts"``.
        about: how they were calculated, as a sentence.
    """

    def __init__(self, player: Policy, game: Game, exported: ExportArguments) -> None:
        self._player, self._game, self._count = player, game, exported.rollouts
        known = isinstance(player, Probable) and not hasattr(player, "act_on")
        tree = tree_of(player, game) if known else None
        self._exact = None
        self.source = "rollouts"
        self.about = f"Values are means over {self._count} rollouts from the true state."
        if tree is not None and isinstance(player, Probable):
            strategy = tree.strategy_of(player)
            self._exact = ExactValues(tree, strategy)
            self.source = "exact"
            far = nash_conv(tree, strategy) / game.payoffs.unit
            self.about = f"Values are exact; NashConv of the policy is {far:.2g}, and 0 is an equilibrium."

    def at(self, decision: Any, seed: int) -> Any:
        """Return the values of the legal actions; None where only mistakes of others lead."""
        if self._exact is not None:
            return self._exact.at(decision)
        return rolled_out(self._player, self._game, decision, self._count, seed)


def _lines(
    game: Game, player: Policy, values: _Values, exported: ExportArguments, prompting: Prompting
) -> Iterator[dict[str, Any]]:
    """Yield a line for each decision whose values are known, without end."""
    way = PartlyRandom(player, exported.explore, exported.seed)
    random = np.random.default_rng(exported.seed)
    for decision in decisions_of(player, way, game, exported.seed):
        worth = values.at(decision, int(random.integers(2**32)))
        if worth is None:
            continue
        legal = np.flatnonzero(decision.mask)
        chances = probabilities(player, game, decision)[legal]
        chances = chances / chances.sum()
        actions = [game.view.encode(decision.table, index).action for index in legal.tolist()]
        if (skin := prompting.disguise) is not None:
            actions = [skin.disguised(action) for action in actions]
        texts = [msgspec.json.encode(action).decode() for action in actions]
        state = prompting.shown(game.turn_state(decision.table, decision.seat))
        answer = {"role": "assistant", "content": texts[int(random.choice(len(texts), p=chances))]}
        yield {
            "game": game.id,
            "episode": decision.episode,
            "agent": game.agents[decision.seat],
            "messages": [*prompting.chat(state), answer],
            "answers": texts,
            "values": [round(float(value), 6) for value in worth],
            "probabilities": [round(float(chance), 6) for chance in chances],
            "source": values.source,
        }


def _field(file: str, name: str, kind: str, words: str) -> dict[str, Any]:
    """Return a field of the card; without a type it is a list of messages."""
    field: dict[str, Any] = {"@type": "cr:Field", "@id": f"decisions/{name}", "name": name, "description": words}
    field |= {"repeated": name in ("messages", "answers", "values", "probabilities")}
    source = {"fileObject": {"@id": file}, "extract": {"column": name}}
    if kind:
        return {**field, "dataType": kind, "source": source}
    parts = [
        {
            **{"@type": "cr:Field", "@id": f"decisions/{name}/{part}", "name": part, "dataType": "sc:Text"},
            "source": {**source, "transform": {"jsonPath": part}},
        }
        for part in ("role", "content")
    ]
    return {**field, "subField": parts}


def _card(game: Game, file: str, digest: str, about: str) -> dict[str, Any]:
    """Return the Croissant card (https://docs.mlcommons.org/croissant/docs/croissant-spec.html) of a file."""
    fields = [_field(file, name, kind, words) for name, (kind, words) in FIELDS.items()]
    return {
        "@context": {
            **{"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/"},
            **{"cr": "http://mlcommons.org/croissant/", "dct": "http://purl.org/dc/terms/"},
            **{name: f"cr:{name}" for name in CROISSANT_NAMES},
            "conformsTo": "dct:conformsTo",
            "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
        },
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": f"parlour-{game.name}-decisions",
        "version": "1.0.0",
        "description": about,
        "license": "https://opensource.org/license/mit",
        "distribution": [
            {
                "@type": "cr:FileObject", "@id": file, "name": file, "contentUrl": file,
                "encodingFormat": "application/jsonlines", "sha256": digest,
            }
        ],
        "recordSet": [{"@type": "cr:RecordSet", "@id": "decisions", "name": "decisions", "field": fields}],
    }  # fmt: skip
