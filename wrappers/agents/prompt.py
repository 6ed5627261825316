"""The prompt of a language model: a TurnState as a conversation. Its texts are a file that users copy and change."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from ...envs.core.game import Game
from ...envs.core.how_to_play import MESSAGE_ONLY, how_to_play
from ...envs.core.turn_state import Action, AllowedAction, TurnState
from . import StateView as StateView
from .skins import Skin
from .state_text import compact, in_words, offer_in_words

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
class Prompting:
    """How a language model is asked for an action.

    Attributes:
        game: the game with its options, whose rules in words are told; None: none are.
        skin: the number of the disguise of the game (see `parlour.wrappers.agents.skins`); None: it is shown as it is.
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
    skin: int | None = None
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
        if self.skin is not None and self.game is None:
            raise ValueError("a skin needs the game that it disguises")
        if self.skin is not None and self.skin < 0:
            raise ValueError(f"skin {self.skin} is negative; give one from 0 up")

    @cached_property
    def disguise(self) -> Skin | None:
        """The skin; None: there is none."""
        return None if self.skin is None or self.game is None else Skin(self.game, self.skin)

    @cached_property
    def rules(self) -> str:
        """The rules in words, in disguise where there is one."""
        return "" if self.game is None else self.text(how_to_play(self.game))

    @cached_property
    def _rules_of_decisions(self) -> str:
        return "" if self.game is None else self.text(how_to_play(self.game).replace(f"\n\n{MESSAGE_ONLY}", ""))

    def text(self, text: str) -> str:
        """Return a text about the game as the model is shown it."""
        return text if self.disguise is None else self.disguise.text(text)

    def shown(self, state: TurnState) -> TurnState:
        """Return a state as the model is shown it."""
        return state if self.disguise is None else self.disguise.state(state)

    def action(self, action: Action) -> Action:
        """Return the action of the game that a model's action means."""
        return action if self.disguise is None else self.disguise.action(action)

    def chat(self, state: TurnState, past: Chat = ()) -> Chat:
        """Return the conversation that asks for an action.

        Args:
            state: the agent's TurnState, as it is `shown`.
            past: its earlier turns and answers; they are left out without `conversation`.
        """
        waits = any(self.action(Action(one.action_type)).action_type == "message_only" for one in state.allowed_actions)
        rules = self.rules if waits else self._rules_of_decisions
        values = {"agent": state.agent_id, "game": state.game_id, "rules": rules, "problem": ""}
        values["answer"] = self.prompts.answer
        words = f"{fill(self.prompts.system, state='', **values)} {self.instructions}".rstrip()
        system = {"role": "system", "content": words}
        turn = fill(self.prompts.turn, state=self.state(state), **values)
        kept = past[-2 * self.turns :] if self.conversation else ()
        return [system, *kept, {"role": "user", "content": turn}]

    def again(self, answer: str, problem: str) -> Chat:
        """Return what follows a refused answer: the answer, and why it was refused."""
        values = {"agent": "", "game": "", "rules": "", "state": "", "answer": self.prompts.answer}
        values["problem"] = self.text(problem)
        refused = {"role": "user", "content": fill(self.prompts.refused, **values)}
        return [{"role": "assistant", "content": answer}, refused]

    def state(self, state: TurnState) -> str:
        """Return what the player sees and may do, as text."""
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
