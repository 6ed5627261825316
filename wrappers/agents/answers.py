"""What a language model's answer says: its thoughts are cut off, and the last choice outside of them counts."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...envs.core.turn_state import Action, AllowedAction
from .typed_choices import parse as typed

MOST_READ = 400_000
"""The number of characters at the end of an answer that are read."""
MOST_OBJECTS, LONGEST_OBJECT = 1_000, 20_000
"""The number of JSON objects at the end of an answer that are read, and of characters of each: an error costs time."""
TAG = re.compile(r"<(/?)(?:\w+:)?(?:think|thinking|thoughts?|reasoning)\s*>|\[(/?)THINK\]|◁(/?)think▷", re.IGNORECASE)
BEGUN = re.compile(r"[<\[◁][/\w:]{0,32}\s{0,8}$")
"""What may be the beginning of a tag, where a part of a stream ends."""
LINE = re.compile(r"^[^\n:{]{0,24}\baction[ *_`]*:(?P<words>[^\n]*)", re.IGNORECASE | re.MULTILINE)
AROUND = " \t\r\n\"'`*_.!"
"""What may stand around a word."""


class Spoken:
    """Reads an answer, whole or part by part, and keeps what is outside thoughts, such as ``<think>…</think>``.

    Where a thought has no beginning (some templates write it into the prompt), all before its end is one.

    Attributes:
        text: what has been said so far.
        began_inside: whether a thought without a beginning has ended.
    """

    def __init__(self) -> None:
        self.text, self.began_inside = "", False
        self._rest, self._depth = "", 0

    def take(self, part: str, *, last: bool = False) -> str:
        """Return what a part says, as far as it is known; `last`: nothing follows."""
        part, said, at = self._rest + part, "", 0
        begun = None if last else BEGUN.search(part)
        end = begun.start() if begun else len(part)
        self._rest = part[end:]
        for tag in TAG.finditer(part, 0, end):
            said += "" if self._depth else part[at : tag.start()]
            at = tag.end()
            if not any(tag.groups()):
                self._depth += 1
            elif self._depth:
                self._depth -= 1
            else:
                said, self.text, self.began_inside = "", "", True
        said += "" if self._depth else part[at:end]
        self.text += said
        return said


def spoken(text: str) -> str:
    """Return an answer without its thoughts.

    >>> spoken("<think>I am the mafia.</think>Good day!")
    'Good day!'
    """
    reader = Spoken()
    reader.take(text, last=True)
    return reader.text


def last_choice(
    text: str, key: str, named: Callable[[str], Mapping[str, Any] | None] = lambda words: None
) -> Mapping[str, Any]:
    """Return the choice in an answer without thoughts: the last JSON object, or line ``Action: …``, or the only word.

    Args:
        text: the answer.
        key: a field with text, or null, that the object has. Objects in others do not count.
        named: returns the choice that words name; None: they name none.

    Raises:
        ValueError: if there is none.
    """
    text = text[-MOST_READ:]
    decoder, at, end = json.JSONDecoder(), -1, 0
    choice: Mapping[str, Any] | None = None
    for begin in [found.start() for found in re.finditer(r'\{\s*["}]', text)][-MOST_OBJECTS:]:
        if begin < end:
            continue  # inside the object before
        try:
            value, length = decoder.raw_decode(text[begin : begin + LONGEST_OBJECT])
        except (ValueError, RecursionError):
            continue
        end = begin + length
        if isinstance(value.get(key, 0), str | None):
            choice, at = value, begin
    lines = [(found.start("words"), found["words"]) for found in LINE.finditer(text)]
    lines = lines or [(0, words) for words in [text.strip(AROUND)] if len(words.split()) == 1]
    for begin, words in lines:
        if begin > at and (read := named(words.strip(AROUND))) is not None:
            choice, at = read, begin
    if choice is None:
        raise ValueError(f"there is no JSON object with {'an' if key[0] in 'aeiou' else 'a'} {key} in the answer")
    return choice


def last_action(text: str, offers: Sequence[AllowedAction] | None = None) -> Mapping[str, Any]:
    """Return the action in an answer without thoughts, with ``action_type`` and ``payload``; see `last_choice`.

    A line, or the only word, may name an offered action, with the values of its payload behind it.

    Raises:
        ValueError: if there is none, or the payload is no object.
    """

    def named(words: str) -> Mapping[str, Any] | None:
        word, _, values = words.partition(" ")
        if offers is None:
            return {"action_type": word} if words.isidentifier() else None
        offer = next((one for one in offers if one.action_type.lower() == word.strip(AROUND + ",:;").lower()), None)
        if offer is None:
            return None
        try:
            payload = json.loads(values) if "{" in values else typed(f"{offer.action_type} {values}", [offer]).payload
        except ValueError:
            payload = {}
        return {"action_type": offer.action_type, "payload": payload}

    answer = {**last_choice(text, "action_type", named)}
    answer["payload"] = answer.get("payload") or {}
    if not isinstance(answer["action_type"], str):
        raise ValueError("action_type is no text")
    if not isinstance(answer["payload"], dict):
        raise ValueError("payload is not a JSON object")
    return answer


def parse(text: str, offers: Sequence[AllowedAction] | None = None) -> Action:
    """Return the action in a model's answer; see `last_action`.

    Args:
        text: the answer, with its thoughts.
        offers: the actions that words may name, with the values of a payload; None: any word is an action type.

    Raises:
        ValueError: if there is no action outside the thoughts.

    >>> parse('<think>{"action_type": "fold"}?</think> No. {"action_type": "call"}')
    Action(action_type='call', payload={})
    """
    answer = last_action(spoken(text[-MOST_READ:]), offers)
    return Action(answer["action_type"], answer["payload"])
