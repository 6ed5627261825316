"""Games in phases: the engine of games in which seats choose a number or a named action, phase by phase.

A game of this kind is one file in `parlour.envs.economics` with

- `game`: a function from options to `make(PhaseGame(…))`, which holds the phases, action types, fields and payoffs;
- `pay`: the compiled payoffs after the last phase;
- `end`: the end of a round in the platform's words;
- `BOTS`: the scripted players, each a rule from `bots.Seen` to numbers.

Everything else is here, once for all games: the record (`table`), the shared rules, the observation (`encoders`), the
payloads (`actions`), TurnState and back (`view`, `load`, `fields`), text and picture. All games share one dtype and one
`observe`, so these are compiled once; the first use of a further game compiles its payoffs with the shared rules
(`binding`), and the loops around them. The last phase may be open (`open_phase`): seats act in turn until one ends it.
A phase may also begin again (`rules.go_back`), and a number may come with further ones (`Further`), which are facts
that everybody sees (`Fact`), as is what chance decides.
`rounds` plays a game again and again, with the last rounds in the observation.
"""

from .bots import Bots, Seen, bot
from .definition import End, Fact, Further, Named, Number, Open, Phase, PhaseGame, Private
from .fields import (
    ChoiceOf,
    Choices,
    Computed,
    FactOf,
    OwnChoice,
    Parameter,
    Split,
    Standing,
    StandingBy,
    WhoChose,
    WhoLeft,
)
from .game import make

__all__ = [
    "Bots",
    "ChoiceOf",
    "Choices",
    "Computed",
    "End",
    "Fact",
    "FactOf",
    "Further",
    "Named",
    "Number",
    "Open",
    "OwnChoice",
    "Parameter",
    "Phase",
    "PhaseGame",
    "Private",
    "Seen",
    "Split",
    "Standing",
    "StandingBy",
    "WhoChose",
    "WhoLeft",
    "bot",
    "make",
]
