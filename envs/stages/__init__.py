"""Games in stages: the engine of games in which seats choose a number or a named action, phase by phase.

A game of this kind is one file in `parlour.envs.economics` with

- `game`: a function from options to `make(StageGame(…))`, which holds the stages, action types, fields and payoffs;
- `step`: the compiled rules: it calls `rules.choose`, writes the rewards after the last stage, and calls
  `rules.end_round`;
- `end`: the end of a round in the platform's words;
- `BOTS`: the scripted players, each a rule from `bots.Seen` to numbers.

Everything else is here, once for all games: the record (`table`), the shared rules, the observation (`encoders`), the
payloads (`actions`), TurnState and back (`view`, `load`, `fields`), text and picture. All games share one dtype and one
`observe`, so these are compiled once; the first use of a further game compiles its `step` and the loops around it.
`rounds` plays a game again and again, with the last rounds in the observation.
"""

from .bots import Bots, Seen, bot
from .definition import End, Named, Number, Private, Stage, StageGame
from .fields import ChoiceOf, Choices, OwnChoice, Parameter, Split, Told, WhoChose
from .game import make

__all__ = [
    "Bots",
    "ChoiceOf",
    "Choices",
    "End",
    "Named",
    "Number",
    "OwnChoice",
    "Parameter",
    "Private",
    "Seen",
    "Split",
    "Stage",
    "StageGame",
    "Told",
    "WhoChose",
    "bot",
    "make",
]
