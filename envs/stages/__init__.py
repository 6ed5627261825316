"""Games in stages: the engine of games in which seats choose a number or a named action, phase by phase.

A game of this kind is one file in `parlour.envs.economics` with

- `game`: a function from options to `make(StageGame(…))`, which holds the stages, action types, fields and payoffs;
- `pay`: the compiled payoffs after the last stage;
- `end`: the end of a round in the platform's words;
- `BOTS`: the scripted players, each a rule from `bots.Seen` to numbers.

Everything else is here, once for all games: the record (`table`), the shared rules, the observation (`encoders`), the
payloads (`actions`), TurnState and back (`view`, `load`, `fields`), text and picture. All games share one dtype and one
`observe`, so these are compiled once; the first use of a further game compiles its payoffs with the shared rules
(`binding`), and the loops around them. The last stage may be open (`open_stage`): seats act in turn until one ends it.
A stage may also begin again (`rules.go_back`), and a number may come with further ones (`Further`), which are facts
that everybody sees (`Fact`), as is what chance decides.
`rounds` plays a game again and again, with the last rounds in the observation.
"""

from .bots import Bots, Seen, bot
from .definition import End, Fact, Further, Named, Number, Open, Private, Stage, StageGame
from .fields import ChoiceOf, Choices, FactOf, OwnChoice, Parameter, Split, Told, WhoChose
from .game import make
from .standing import Standing, StandingBy, WhoLeft

__all__ = [
    "Bots",
    "ChoiceOf",
    "Choices",
    "End",
    "Fact",
    "FactOf",
    "Further",
    "Named",
    "Number",
    "Open",
    "OwnChoice",
    "Parameter",
    "Private",
    "Seen",
    "Split",
    "Stage",
    "StageGame",
    "Standing",
    "StandingBy",
    "Told",
    "WhoChose",
    "WhoLeft",
    "bot",
    "make",
]
