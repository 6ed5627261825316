"""Answers in words: what a person types for a choice, and what a language model says.

Of a model's answer the thoughts are cut off, and the last choice outside of them counts.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...envs.core.turn_state import Action, AllowedAction
from .schemas import properties_of, required_of

HELP = """Type the word of a choice, its first letters or its number; then the values, as in "{word}" or "{number}".
Values in <> are required, values in [] are not; a value without a name is the only one.
Text and shares take the whole rest.
rules: the rules in words.   state: all that you see of the table.   quit or Ctrl-C: leave."""
FURTHER = re.compile(r"\b(?:and|but|by|for|from|in|of|or|that|to|which|with)\b|[^\w\s'`-]|\d")
"""What ends the beginning of a description: what it says next would name other things than the action."""
NAMED = re.compile(r"\((\d+) is ([a-z]+)-([a-z]+)\)")
"""What gives a value a name in a description, such as "(200 is all-in)"."""
TYPES: Mapping[str, type | tuple[type, ...]] = {"integer": int, "number": (int, float), "array": list, "object": dict}
"""What a value of a kind is in Python."""
ENDLESS = 1e9
"""A bound so far away is not worth a word."""


def for_people(allowed: list[AllowedAction]) -> list[AllowedAction]:
    """Return the choices of a person, who writes no messages; to give up is the last."""
    offers = [offer for offer in allowed if offer.action_type != "message_only"] or allowed
    return sorted(offers, key=lambda offer: offer.action_type == "fold")


def parse_typed(line: str, allowed: list[AllowedAction]) -> Action:
    """Read an action from text: its type or its number, and the values of its payload in order or as ``name=value``.

    The type may be cut to its first letters; what a choice that takes values does names it, too: a word of the
    beginning of its description. A name that the description gives to a value (`NAMED`) stands for the choice with this
    value, or for the value; before a value there may be a "to". The numbers count from 1, in the order of `allowed`. Of
    a single choice the values are enough. Optional values, and values that are the only ones, may be left out. Free
    text is the last value and takes the rest of the line, and so do several values by name, which are JSON or just the
    values in order. Where the first value does not fit, and only free text at the end may be required, the line is that
    text.

    Raises:
        ValueError: if it does not fit, or fits several choices; the error shows the right form.

    >>> parse_typed("raise 137", [AllowedAction("raiseTo", "", {"amount": {"type": "integer", "minimum": 4}})])
    Action(action_type='raiseTo', payload={'amount': 137})
    """
    line = next((f"{offer.action_type} {line}" for offer in allowed if _with_numbers(line.strip(), offer)[1]), line)
    word, *values = line.split() or [""]
    offers = _of_type(word, allowed)
    named = word == "1" or _that_do(word, allowed)
    single = not offers and len(allowed) == 1 and word and (not named or _fits(word, allowed[0]))
    if single and (_free_text(allowed[0]) or len(values) < len(_schemas(allowed[0]))):
        offers, values = allowed, [word, *values]
    if not offers and word.isdecimal() and 1 <= int(word) <= len(allowed):
        offers = [allowed[int(word) - 1]]
    offers = offers or _that_do(word, allowed)
    if len(offers) != 1:
        typed = line.strip()
        fitting = [one for one in allowed if _fits(word, one) and not _is_text(next(iter(_schemas(one).values())))]
        if not offers and len(fitting) == 1:
            raise ValueError(f"{typed!r} does not say what to do: write {_name(fitting[0], allowed)} {typed}")
        if not offers and re.match(r"(?i)all[- ]?in\b", typed):
            word = "all-in"
        problem = f"{word!r} may be each of" if offers else f"{word!r} is not one of"
        raise ValueError(f"{problem} {', '.join(_usage(offer, allowed) for offer in offers or allowed)}")
    fields = _fields(offers[0])
    payload = _constants(offers[0])
    said = _free_text(offers[0])
    if values and not said and values[0].lower() == "to" and not _fits("to", offers[0]):
        del values[0]
    values = _with_numbers(" ".join(values), offers[0])[0].split()
    names = list(_schemas(offers[0]))
    if len(values) <= sum(name not in payload for name in names):
        names = [name for name in names if name not in payload]
    if said and values and "=" not in values[0] and not _fits(values[0], offers[0]):
        values = [f"{said}={' '.join(values)}"]
    for i, (value, next_name) in enumerate(zip(values, [*names, *[""] * len(values)], strict=False), 1):
        name, _, text = value.partition("=") if "=" in value else (next_name, "", value)
        if name not in fields:
            raise ValueError(f"{value!r} is too much: write {_usage(offers[0], allowed)}")
        if words := _kind(fields[name]) in ("string", "object") and "enum" not in fields[name]:
            text = " ".join([text, *values[i:]])
        payload[name] = _value(name, text, fields[name])
        if words:
            break
    if missing := [name for name in _required(offers[0]) if name not in payload]:
        raise ValueError(f"{', '.join(missing)} is missing: write {_usage(offers[0], allowed)}")
    return Action(offers[0].action_type, payload)


def _with_numbers(text: str, offer: AllowedAction) -> tuple[str, bool]:
    """Return the values of a choice with the number in place of its name at their beginning; whether all is the name.

    >>> _with_numbers("All in", AllowedAction("raiseTo", "raise (9 is all-in)", {"amount": {"type": "integer"}}))
    ('9', True)
    """
    for value, *name in NAMED.findall(offer.description):
        words = re.match(rf"(?i)(\w+=|){'[- ]?'.join(name)}(?!\S)", text)
        if words and _kind(next(iter(_schemas(offer).values()), {})) in ("integer", "number"):
            return f"{words[1]}{value}{text[words.end() :]}", words.group() == text and not words[1]
    return text, False


def typed_word(action_type: str, allowed: list[AllowedAction]) -> str:
    """Return the word that a person types for a choice of this type; the type itself if it is not offered."""
    offers = for_people(allowed)
    return next((_name(offer, offers) for offer in offers if offer.action_type == action_type), action_type)


def _of_type(word: str, allowed: list[AllowedAction]) -> list[AllowedAction]:
    """Return the choice of the type that is named; else those of types that begin so."""
    types = {id(offer): offer.action_type.lower() for offer in allowed}
    word = "check" if word.lower() == "call" and "call" not in types.values() else word  # where nothing is owed
    named = [offer for offer in allowed if word.lower() in (types[id(offer)], _said(offer, allowed))]
    return named or [offer for offer in allowed if word and types[id(offer)].startswith(word.lower())]


def _that_do(word: str, allowed: list[AllowedAction]) -> list[AllowedAction]:
    return [offer for offer in allowed if word.lower() in _does(offer).lower().split()]


def _said(offer: AllowedAction, allowed: list[AllowedAction]) -> str:
    """Return the type of a choice; where nobody can fold, because nothing is owed, a call is a check."""
    free = offer.action_type == "call" and all(one.action_type != "fold" for one in allowed)
    return "check" if free else offer.action_type


def _name(offer: AllowedAction, allowed: list[AllowedAction]) -> str:
    """Return the word that a person types for a choice: its type, or what it does if the type is more than a word."""
    does = _does(offer).lower().split()
    if not does or re.fullmatch("[a-z]+", offer.action_type):
        return _said(offer, allowed)
    return does[0] if (_of_type(does[0], allowed) or _that_do(does[0], allowed)) == [offer] else offer.action_type


def _fits(text: str, offer: AllowedAction) -> bool:
    name, schema = next(iter(_schemas(offer).items()), ("", {}))
    try:
        _value(name, text, schema)
    except ValueError:
        return False
    return bool(name)


def _does(offer: AllowedAction) -> str:
    """Return the effect of a choice that takes values other than free text: the beginning of its description."""
    return "" if not _fields(offer) or _free_text(offer) else FURTHER.split(offer.description, maxsplit=1)[0].strip()


def _free_text(offer: AllowedAction) -> str:
    """Return the last field, if it is free text and no other one is required; else ""."""
    fields = _fields(offer)
    last = next(reversed(fields), "")
    return last if last and _is_text(fields[last]) and {*_required(offer)} <= {last} else ""


def _is_text(schema: Mapping[str, Any]) -> bool:
    return _kind(schema) == "string" and "enum" not in schema


def _value(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """Read one value of a payload and check it with its schema."""
    kind = _kind(schema)
    if _is_text(schema):
        return text
    value = _json(text)
    if kind == "array" and not isinstance(value, list):
        value = _json(f"[{text}]")
    words, members = text.split(), schema.get("properties", {})
    if kind == "object" and not isinstance(value, dict) and len(words) == len(members):
        return {key: _value(key, word, members[key]) for key, word in zip(members, words, strict=True)}
    fits = isinstance(value, TYPES.get(kind, object)) and value in schema.get("enum", [value])
    if fits and kind in ("integer", "number"):
        low, high = schema.get("minimum", -np.inf), schema.get("maximum", np.inf)
        fits = not isinstance(value, bool) and low <= value <= high
    if not fits:
        raise ValueError(f"{name} must be {_bounds(schema)}, not {text}")
    return value


def _json(text: str) -> Any:
    """Return the value of JSON; other text as it is."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def _fields(offer: AllowedAction) -> dict[str, dict[str, Any]]:
    """Return the payload's fields, from a JSON schema or from the property map that agent-colosseum sends."""
    fields = {name: field for name, field in properties_of(offer.payload_schema).items() if isinstance(field, dict)}
    return fields | {name: {} for name in _required(offer) if name not in fields}  # of any value


def _constants(offer: AllowedAction) -> dict[str, Any]:
    """Return the required fields that have only one value: in a list, or as both bounds."""
    fields, constants = _fields(offer), {}
    for name in _required(offer):
        low = fields[name].get("minimum")
        values = fields[name].get("enum", [low] if low is not None and low == fields[name].get("maximum") else [])
        if len(values) == 1:
            constants[name] = values[0]
    return constants


def _schemas(offer: AllowedAction) -> dict[str, dict[str, Any]]:
    """Return the fields that a person fills in: not the objects of any content that programs send each other."""
    return {
        name: field
        for name, field in _fields(offer).items()
        if _kind(field) != "object" or field.get("properties") or name in _required(offer)
    }


def _required(offer: AllowedAction) -> list[str]:
    return required_of(offer.payload_schema)


def _kind(field: Mapping[str, Any]) -> str:
    """Return the type of a value that is not null; "" if the schema has none."""
    kinds = field.get("type")
    return str(next((kind for kind in kinds if kind != "null"), "") if isinstance(kinds, list) else kinds or "")


def _usage(offer: AllowedAction, allowed: list[AllowedAction], *, whole: bool = True) -> str:
    """Return the form of a choice; if not `whole`, of free text that stands for all else only this text."""
    if not whole and (said := _free_text(offer)):
        return f"{_name(offer, allowed)} <{said}>"
    required, constants, values = _required(offer), _constants(offer), []
    for name, field in _schemas(offer).items():
        text = _bounds(field) if name in constants else f"{name}: {_bounds(field)}"
        values.append(f"<{text}>" if name in required and name not in constants else f"[{text}]")
    names = (f", or {'-'.join(name)}" for _, *name in NAMED.findall(offer.description))
    return " ".join([_name(offer, allowed), *values]) + "".join(names)


KINDS = {"integer": "a whole number", "number": "a number", "string": "text", "boolean": "true or false"}


def _bounds(field: Mapping[str, Any]) -> str:
    if "enum" in field:
        *first, last = ["null" if value is None else str(value) for value in field["enum"]] or ["no value at all"]
        return " or ".join(filter(None, [", ".join(first), last]))
    if _kind(field) == "object" and field.get("properties"):
        return "; ".join(f"{name} {_bounds(member)}" for name, member in field["properties"].items())
    if _kind(field) == "array" and field.get("minItems", 0) == field.get("maxItems"):
        count, items = field["minItems"], _bounds(field.get("items", {}))
        numbers = items.removeprefix("a ").replace("number", "numbers", 1)
        return f"{count} {numbers}, such as {_example(field)}"
    kind = KINDS.get(_kind(field), "a value")
    low, high = (bound if abs(bound or 0) < ENDLESS else None for bound in map(field.get, ("minimum", "maximum")))
    if low is not None and low == high:
        return f"{low:.15g}"
    return kind + (f" from {low:.15g}" if low is not None else "") + (f" to {high:.15g}" if high is not None else "")


def _example(field: Mapping[str, Any]) -> str:
    """Return a value of a field as a person types it."""
    if field.get("enum"):
        return str(next((value for value in field["enum"] if value is not None), "null"))
    if _kind(field) == "object":
        first, *others = field.get("properties", {}).values() or [{}]
        whole = {"minimum": first["maximum"]} if "maximum" in first else {}  # shares may need to sum to the whole
        return " ".join(map(_example, [first | whole, *others]))
    if _kind(field) == "array":
        item = field.get("items", {})
        one = f"[{_example(item)}]" if _kind(item) == "array" else _example(item)
        return ",".join([one] * max(1, field.get("minItems", 1)))
    low, high = field.get("minimum", -ENDLESS), field.get("maximum", ENDLESS)
    number = f"{low if low > -ENDLESS else min(0, high):.15g}"
    return {"string": "hello", "boolean": "true"}.get(_kind(field), number)


def help_text(allowed: list[AllowedAction]) -> str:
    """Return help on answers, with an example of these choices: if there is one, of a choice that takes values."""
    number, offer = max(
        enumerate(allowed, 1), key=lambda choice: bool({*_required(choice[1])} - {*_constants(choice[1])})
    )
    open_fields = {*_required(offer)} - {*_constants(offer)}
    values = [_example(field) for name, field in _schemas(offer).items() if name in open_fields]
    return HELP.format(word=" ".join([_name(offer, allowed), *values]), number=" ".join([str(number), *values]))


def choices(allowed: list[AllowedAction], *, described: bool = False) -> str:
    """Return the numbered choices, one per line, with what they do; `described` with the whole description.

    A choice with values has else its description up to the first colon or bracket.
    """
    lines = []
    for number, offer in enumerate(allowed, 1):
        whole = described or not _fields(offer)
        words = offer.description if whole else re.split(r"[:(]", offer.description)[0].strip()
        meaning = f"  ({words})" if words and words != _name(offer, allowed) else ""
        lines.append(f"{number:>2} {_usage(offer, allowed, whole=described)}{meaning}")
    return "\n".join(lines)


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
        """Return the text of a part, as far as it is known; `last`: nothing follows."""
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
        typed = f"{offer.action_type} {values}"
        try:
            payload = json.loads(values) if "{" in values else parse_typed(typed, [offer]).payload
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
