"""Skins: the same game in other words, so that recall of a famous game is told apart from play.

A skin renames the players, phases, actions, fields and values of a game, the words by which it is recognised (cards and
suits, too), and changes the order of fields. The tree is the same: `Skin.action` gives back what was meant.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from random import Random
from typing import Any

import msgspec

from ...envs.core.game import Game
from ...envs.core.how_to_play import fields_of, telltale_words
from ...envs.core.turn_state import Action, TurnState

RANKS, SUITS = "23456789TJQKA", "cdhs"
CARD = re.compile(rf"(?<!\w)([{RANKS}])([{SUITS}])(?!\w)")


def _syllables(rng: Random, number: int) -> str:
    return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(3))


def _greek(rng: Random, number: int) -> str:
    return f"{rng.choice('αβγδεζηθλμξπρστφψω')}{number}"


def _code(rng: Random, number: int) -> str:
    return f"x{number}"


STYLES: tuple[Callable[[Random, int], str], ...] = (_syllables, _greek, _code)
"""How names are invented: the seed, modulo 3, chooses one."""


@dataclass(frozen=True)
class Skin:
    """A disguise of a game.

    Attributes:
        game: the game with its options.
        seed: which disguise, from 0 up.
    """

    game: Game
    seed: int

    @cached_property
    def names(self) -> dict[str, str]:
        """The invented name of every name of the game; no two are the same."""
        rng = Random(self.seed)
        invent, vocabulary = STYLES[self.seed % len(STYLES)], sorted(set(_vocabulary(self.game)))
        numbers = rng.sample(range(10, 10 + 9 * len(vocabulary)), len(vocabulary))
        names: dict[str, str] = {}
        taken = set(vocabulary)
        for word, number in zip(vocabulary, numbers, strict=True):
            name = invent(rng, number)
            while name in taken:
                name = invent(rng, number)
            taken.add(name)
            names[word] = name
        return names

    @cached_property
    def cards(self) -> dict[str, str]:
        """The invented rank and suit letters."""
        letters = Random(self.seed).sample("ghjklmnpqrsuvwxyz", len(SUITS))
        return {**dict(zip(RANKS, "ABCDEFGHIJKLM", strict=True)), **dict(zip(SUITS, letters, strict=True))}

    def state(self, state: TurnState) -> TurnState:
        """Return a TurnState in disguise."""
        shown: dict[str, Any] = msgspec.to_builtins(state)
        for action in shown["allowed_actions"]:
            action["action_type"] = self.names.get(action["action_type"], action["action_type"])
            action["description"] = self.text(action["description"])
            action["payload_schema"] = self._schema(action["payload_schema"])
        for message in shown["messages"]:
            message["content"] = self.text(message["content"])
            message["sender_id"], message["to_agent_ids"] = self._renamed(
                [message["sender_id"], message["to_agent_ids"]]
            )
        for name in ("agent_id", "phase", "current_turn_agent_id", "game_state", "outcome"):
            shown[name] = self._renamed(shown[name])
        shown["game_id"] = self.names[self.game.id]
        shown["match_id"] = state.match_id.replace(self.game.id, shown["game_id"])
        return TurnState.from_dict(shown)

    def text(self, text: str) -> str:
        """Return a text in disguise: names in backticks, and everywhere actions, players and telltale words."""
        text = re.sub(r"\A# .*$", "# A game", text, count=1, flags=re.MULTILINE)
        text = re.sub(r"`([^`]+)`", lambda found: f"`{self.names.get(found[1], found[1])}`", text)
        words = {*telltale_words(self.game), *self.game.view.action_spaces, *self.game.agents}
        words |= {name for name in self.names if re.search(r"_|[a-z][A-Z]", name)}  # no words of the language
        either = {
            **{word.capitalize(): self.names[word] for word in words},
            **{word: self.names[word] for word in words},
        }
        pattern = "|".join(re.escape(word) for word in sorted(either, key=len, reverse=True))
        text = re.sub(rf"(?<![\w`])(?:{pattern})(?![\w`])", lambda found: either[found[0]], text)
        return CARD.sub(self._card, text)

    def disguised(self, action: Action) -> Action:
        """Return an action of the game in disguise."""
        return Action(self.names.get(action.action_type, action.action_type), self._renamed(action.payload))

    def action(self, action: Action) -> Action:
        """Return the action of the game that an action in disguise means."""
        real = {name: word for word, name in self.names.items()}
        unknown = {word: f"not {word}" for word in self.names if word not in real}  # the skin has no such name
        return Action(*_mapped([action.action_type, action.payload], unknown | real, real))

    def _renamed(self, value: Any) -> Any:
        match value:
            case Mapping():
                keys = sorted(value, key=lambda key: sha256(f"{self.seed} {key}".encode()).digest())
                return {self.names.get(key, key): self._renamed(value[key]) for key in keys}
            case list():
                return [self._renamed(one) for one in value]
            case str():
                return self.names.get(value) or CARD.sub(self._card, value)
        return value

    def _schema(self, schema: Any) -> Any:
        """Return a JSON schema with other property names, and other words in lists of values."""
        match schema:
            case Mapping():
                renamed = {key: self._schema(value) for key, value in schema.items()}
                if isinstance(schema.get("properties"), Mapping):
                    properties = {
                        self.names.get(key, key): self._schema(one) for key, one in schema["properties"].items()
                    }
                    renamed["properties"] = properties
                for key in ("required", "enum", "const"):
                    if key in schema:
                        renamed[key] = self._renamed(schema[key])
                return renamed
            case list():
                return [self._schema(one) for one in schema]
        return schema

    def _card(self, card: re.Match[str]) -> str:
        return f"{self.cards[card[1]]}{self.cards[card[2]]}"


def _mapped(value: Any, names: Mapping[str, str], words: Mapping[str, str]) -> Any:
    match value:
        case Mapping():
            return {names.get(key, key): _mapped(one, names, words) for key, one in value.items()}
        case list():
            return [_mapped(one, names, words) for one in value]
        case str():
            return names.get(value) or re.sub(r"\w+", lambda found: words.get(found[0], found[0]), value)
    return value


def _vocabulary(game: Game) -> Iterator[str]:
    """Return all names of a game: of itself, its players, phases, actions, payloads, fields, and telltale words."""
    yield from (game.id, "message_only", "say", *game.agents, *telltale_words(game))
    for name, space in game.view.action_spaces.items():
        yield from (name, *space.spaces)
    kinds: list[type[msgspec.Struct]] = [] if game.view.state_type is None else [game.view.state_type]
    for kind in kinds:
        for name, _, inside in fields_of(kind):
            yield name
            kinds += [one for one in inside if one not in kinds]
    rules: Any = getattr(game.view.state_type, "rules", None)
    if rules is not None:
        yield from (*(phase.name for phase in rules.phases), *rules.roles)
