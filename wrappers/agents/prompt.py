"""The prompt of a language model: a TurnState as a conversation. Its texts are a file that users copy and change.

A skin renames the players, phases, actions, fields and values of a game, the words by which it is recognised (cards and
suits, too), and changes the order of fields. `Skin.action` translates back.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from os import PathLike
from pathlib import Path
from random import Random
from string import Template
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Struct

from ...envs import Action, AllowedAction, Game, TurnState
from ...envs.core.how_to_play import MESSAGE_ONLY, fields_of, how_to_play, telltale_words
from ...envs.core.options import AT_LEAST_0, Checked
from . import StateView as StateView
from .schemas import properties_of


def compact(state: Mapping[str, Any]) -> str:
    """Return a state as lines of ``name: value``, without quotation marks.

    >>> print(compact({"my_card": "K", "board": [], "chips": {"player_0": 1, "player_1": 3}}))
    my_card: K
    board: []
    chips: {player_0: 1, player_1: 3}
    """
    return "\n".join(f"{name}: {_short(value)}" for name, value in state.items())


def _short(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {_short(one)}" for name, one in value.items()) + "}"
    return f"[{', '.join(map(_short, value))}]" if isinstance(value, list | tuple) else _word(value)


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def in_words(state: Mapping[str, Any]) -> str:
    """Return a state in natural language: a sentence for every field.

    >>> print(in_words({"my_card": "K", "board": [], "moves": [{"agent_id": "player_0", "action": "raise"}]}))
    My card is K.
    Board: none.
    Moves: player_0, action raise.
    >>> in_words({"μ255": 2})
    'μ255 is 2.'
    """
    return "\n".join(_sentence(name, value) for name, value in state.items())


def _sentence(name: str, value: Any) -> str:
    subject = _spoken(name)
    if not re.fullmatch(r"\D\d+", name):  # a code of a skin, which the rules write in lower case
        subject = subject[:1].upper() + subject[1:]
    if isinstance(value, Mapping | list | tuple | bool):
        return f"{subject}: {_listed(value)}."
    return f"{subject} is {'not there' if value is None else _word(value)}."


def _spoken(name: str) -> str:
    """Return a name in JSON as words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ").lower()


def _listed(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(_named(name, one) for name, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(one, Mapping) for one in value) else ", "
        return between.join(map(_listed, value)) or "none"
    return _word(value)


def _named(name: str, value: Any) -> str:
    # Whose row it is needs no name before it.
    if name in ("agent_id", "id", "playerId", "player_id"):
        return _word(value)
    inside = _listed(value)
    return f"{_spoken(name)} ({inside})" if isinstance(value, Mapping | list | tuple) else f"{_spoken(name)} {inside}"


def offer_in_words(offer: AllowedAction) -> str:
    """Return an offer in a line: its action type, what its payload needs, and its description.

    >>> schema = {"properties": {"amount": {"type": "integer", "minimum": 4, "maximum": 200}}}
    >>> offer_in_words(AllowedAction("raiseTo", "raise the bet", schema))
    'raiseTo with amount (integer, 4 to 200): raise the bet'
    """
    needs = [f"{name} ({_kind(schema)})" for name, schema in properties_of(offer.payload_schema).items()]
    payload = f" with {', '.join(needs)}" if needs else ""
    return f"{offer.action_type}{payload}{f': {offer.description}' if offer.description else ''}"


def _kind(schema: Any) -> str:
    if not isinstance(schema, Mapping):
        return "any"
    options = schema.get("enum") or [one.get("const") for one in schema.get("anyOf", ()) if "const" in one]
    if options:
        return "one of " + ", ".join(map(_word, options))
    kind = schema.get("type", "any")
    if kind == "object":
        return ", ".join(f"{name}: {_kind(one)}" for name, one in properties_of(schema).items()) or "object"
    words = "/".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f", {_word(low)} to {_word(high)}" if low is not None and high is not None else ""
    return words + bounds


RANKS, SUITS = "23456789TJQKA", "cdhs"
CARD = re.compile(rf"(?<!\w)([{RANKS}])([{SUITS}])(?!\w)")


STYLES: tuple[Callable[[Random, int], str], ...] = (
    lambda rng, number: "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(3)),
    lambda rng, number: f"{rng.choice('αβγδεζηθλμξπρστφψω')}{number}",
    lambda rng, number: f"x{number}",
)
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
            while (name := invent(rng, number)) in taken:
                pass
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
        fields: dict[str, Any] = msgspec.to_builtins(state)
        for action in fields["allowed_actions"]:
            action["action_type"] = self.names.get(action["action_type"], action["action_type"])
            action["description"] = self.text(action["description"])
            action["payload_schema"] = self._schema(action["payload_schema"])
        for message in fields["messages"]:
            message["content"] = self.text(message["content"])
            message |= {name: self._renamed(message[name]) for name in ("sender_id", "to_agent_ids")}
        for name in ("agent_id", "phase", "current_turn_agent_id", "game_state", "outcome"):
            fields[name] = self._renamed(fields[name])
        fields["game_id"] = self.names[self.game.id]
        fields["match_id"] = state.match_id.replace(self.game.id, fields["game_id"])
        return TurnState.from_dict(fields)

    def text(self, text: str) -> str:
        """Return a text in disguise: names in backticks, and everywhere actions, players and telltale words."""
        text = re.sub(r"\A# .*$", "# A game", text, count=1, flags=re.MULTILINE)
        text = re.sub(r"`([^`]+)`", lambda found: f"`{self.names.get(found[1], found[1])}`", text)
        words = {*telltale_words(self.game), *self.game.view.action_spaces, *self.game.agents}
        words |= {name for name in self.names if re.search(r"_|[a-z][A-Z]", name)}  # no words of the language
        either = {word.capitalize(): self.names[word] for word in words} | {word: self.names[word] for word in words}
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
        if isinstance(value, Mapping):
            keys = sorted(value, key=lambda key: sha256(f"{self.seed} {key}".encode()).digest())
            return {self.names.get(key, key): self._renamed(value[key]) for key in keys}
        if isinstance(value, str):
            return self.names.get(value) or CARD.sub(self._card, value)
        return [self._renamed(one) for one in value] if isinstance(value, list) else value

    def _schema(self, schema: Any) -> Any:
        """Return a JSON schema with other property names, and other words in lists of values."""
        if isinstance(schema, list):
            return [self._schema(one) for one in schema]
        if not isinstance(schema, Mapping):
            return schema
        renamed = {key: self._schema(value) for key, value in schema.items()}
        if isinstance(own := schema.get("properties"), Mapping):
            renamed["properties"] = {self.names.get(key, key): self._schema(one) for key, one in own.items()}
        return renamed | {key: self._renamed(schema[key]) for key in ("required", "enum", "const") if key in schema}

    def _card(self, card: re.Match[str]) -> str:
        return f"{self.cards[card[1]]}{self.cards[card[2]]}"


def _mapped(value: Any, names: Mapping[str, str], words: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {names.get(key, key): _mapped(one, names, words) for key, one in value.items()}
    if isinstance(value, str):
        return names.get(value) or re.sub(r"\w+", lambda found: words.get(found[0], found[0]), value)
    return [_mapped(one, names, words) for one in value] if isinstance(value, list) else value


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


Chat = Sequence[Mapping[str, str]]
"""Messages of a conversation: ``{"role": "system" | "user" | "assistant", "content": …}``."""
Texts = TypeVar("Texts", bound=Struct)


class Prompts(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Texts for a language model; ``prompts.toml`` beside this module explains the placeholders.

    Attributes:
        system: the system prompt, with the rules.
        turn: what a turn asks.
        answer: how to answer.
        letter: how to answer with the letter of a choice.
        call: how to answer with a tool.
        refused: what follows a refused answer.
    """

    system: str
    turn: str
    answer: str
    letter: str
    call: str
    refused: str


def load_texts(kind: type[Texts], package: str, path: str | PathLike[str] | None, placeholders: Sequence[str]) -> Texts:
    """Return the texts of a package's ``prompts.toml``, updated with those of a file.

    Args:
        kind: the type of the texts.
        package: the package of the file.
        path: the user's file; None: there is none.
        placeholders: what the texts may name; those in nested tables are not checked.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no TOML, or a text in it has a name or a placeholder that is not known.
    """
    texts = msgspec.toml.decode((files(package) / "prompts.toml").read_bytes())
    where = "prompts.toml" if path is None else str(path)
    try:
        if path is not None:
            texts |= msgspec.toml.decode(Path(path).read_bytes())
        prompts = msgspec.convert(texts, kind)
        for text in msgspec.structs.asdict(prompts).values():
            if isinstance(text, str):
                fill(text, **dict.fromkeys(placeholders, ""))
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None
    return prompts


def decisions_only(state: TurnState) -> TurnState:
    """Return a state without the offer of `message_only`, for players whose messages nobody reads."""
    offers = [offer for offer in state.allowed_actions if offer.action_type != "message_only"]
    return msgspec.structs.replace(state, allowed_actions=offers)


def load_prompts(path: str | PathLike[str] | None = None) -> Prompts:
    """Return Parlour's prompts, updated with those of a file; see `load_texts`."""
    names = ("agent", "game", "rules", "state", "problem", "answer")
    return load_texts(Prompts, __package__, path, names)


def fill(text: str, **values: str) -> str:
    """Return a text with its placeholders filled in.

    Raises:
        KeyError: for a placeholder that has no value.
        ValueError: for a ``$`` that begins no placeholder; ``$$`` stands for a dollar.
    """
    return Template(text).substitute(values).strip()


@dataclass(frozen=True, kw_only=True)
class Prompting(Checked):
    """How a language model is asked for an action.

    Attributes:
        game: the game with its options, whose rules in words are told; None: none are.
        skin: the number of the disguise of the game (see `parlour.wrappers.agents.prompt`); None: it is shown as it is.
        instructions: the end of the system prompt.
        prompts: the texts.
        view: how the state is written.
        legal: whether the allowed actions are listed.
        conversation: whether the prompt has the player's earlier turns in the match and its answers, the latest
            `turns` of them; if not, it has the state alone.
        turns: see `conversation`.
        messages: number of latest messages of the match in the prompt.
    """

    game: Game | None = field(default=None, compare=False)
    skin: Annotated[int | None, AT_LEAST_0] = None
    instructions: str = ""
    prompts: Prompts = field(default_factory=load_prompts)
    view: StateView = "json"
    legal: bool = True
    conversation: bool = False
    turns: int = 50
    messages: int = 30

    def __post_init__(self) -> None:
        """Check the skin.

        Raises:
            ValueError: if it is below 0, or there is no game for it.
        """
        super().__post_init__()
        if self.skin is not None and self.game is None:
            raise ValueError("a skin needs the game that it disguises")

    @cached_property
    def disguise(self) -> Skin | None:
        """The skin; None: there is none."""
        return None if self.skin is None or self.game is None else Skin(self.game, self.skin)

    @cached_property
    def rules(self) -> str:
        """The rules in words, in disguise where there is one."""
        return "" if self.game is None else self.text(how_to_play(self.game))

    def text(self, text: str) -> str:
        """Return a text about the game as the model is shown it."""
        return text if self.disguise is None else self.disguise.text(text)

    def prepared(self, state: TurnState) -> TurnState:
        """Return a state as the model is shown it."""
        return state if self.disguise is None else self.disguise.state(state)

    def written(self, actions: Iterable[Action]) -> list[str]:
        """Return actions of the game as a model writes them."""
        skin = self.disguise
        return [msgspec.json.encode(one if skin is None else skin.disguised(one)).decode() for one in actions]

    def action(self, action: Action) -> Action:
        """Return the action of the game that a model's action means."""
        return action if self.disguise is None else self.disguise.action(action)

    def chat(self, state: TurnState, past: Chat = ()) -> Chat:
        """Return the conversation that asks for an action.

        Args:
            state: the agent's TurnState, as it is `prepared`.
            past: its earlier turns and answers; they are left out without `conversation`.
        """
        waits = any(self.action(Action(one.action_type)).action_type == "message_only" for one in state.allowed_actions)
        rules = self.rules if waits else self.rules.replace(f"\n\n{self.text(MESSAGE_ONLY)}", "")
        values = {"agent": state.agent_id, "game": state.game_id, "rules": rules, "problem": ""}
        values["answer"] = self.prompts.answer
        words = f"{fill(self.prompts.system, state='', **values)} {self.instructions}".rstrip()
        system = {"role": "system", "content": words}
        turn = fill(self.prompts.turn, state=self.state(state), **values)
        kept = past[-2 * self.turns :] if self.conversation else ()
        return [system, *kept, {"role": "user", "content": turn}]

    def again(self, answer: str, problem: str) -> Chat:
        """Return the messages after a refused answer: the answer, and the reason."""
        values = {"agent": "", "game": "", "rules": "", "state": "", "answer": self.prompts.answer}
        values["problem"] = self.text(problem)
        refused = {"role": "user", "content": fill(self.prompts.refused, **values)}
        return [{"role": "assistant", "content": answer}, refused]

    def state(self, state: TurnState) -> str:
        """Return the player's state and legal actions as text."""
        said = [f"{one.sender_id}: {one.content[:500]}" for one in state.messages[-self.messages :]]
        if self.view == "json":
            seen = {"phase": state.phase, "game_state": state.game_state, "messages": said}
            offers = {"allowed_actions": [_offer(one) for one in state.allowed_actions]} if self.legal else {}
            return json.dumps(seen | offers, default=str)
        write = compact if self.view == "compact" else in_words
        parts = [write({"phase": state.phase, **state.game_state, **({"messages": said} if said else {})})]
        if self.legal:
            parts.append("You may:\n" + "\n".join(f"- {offer_in_words(one)}" for one in state.allowed_actions))
        return "\n".join(parts)


def _offer(offer: AllowedAction) -> dict[str, Any]:
    return {"action_type": offer.action_type, "description": offer.description, "payload": offer.payload_schema}
