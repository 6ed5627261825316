"""The prompts of language models that play mafia: a file of texts that users copy and change."""

from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template

import msgspec
from msgspec import Struct


class Prompts(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Texts for a language model; ``prompts.toml`` beside this module explains the placeholders.

    Attributes:
        system: the rules and the player's identity.
        think, say, night, vote: the requests.
        roles: advice by role.
        personas: styles of play, by name, in the order of their use.
    """

    system: str
    think: str
    say: str
    night: str
    vote: str
    roles: dict[str, str]
    personas: dict[str, str]

    def persona(self, name: str) -> str:
        """Return the text of a persona.

        Raises:
            ValueError: if there is none of that name.
        """
        if name not in self.personas:
            raise ValueError(f"there is no persona {name!r}: choose from {', '.join(self.personas) or 'none'}")
        return self.personas[name]


def load_prompts(path: str | PathLike[str] | None = None) -> Prompts:
    """Return Parlour's prompts, updated with those of a file.

    Raises:
        OSError: if the file cannot be read.
        ValueError: if it is no TOML, or a text in it has a name or a placeholder that is not known.
    """
    texts = msgspec.toml.decode((files(__package__) / "prompts.toml").read_bytes())
    where = "prompts.toml"
    try:
        if path is not None:
            where = str(path)
            texts |= msgspec.toml.decode(Path(path).read_bytes())
        prompts = msgspec.convert(texts, Prompts)
        for field in ("system", "think", "say", "night", "vote"):
            fill(getattr(prompts, field), name="", id="", persona="", action="")
    except (msgspec.MsgspecError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None
    return prompts


def fill(text: str, **values: str) -> str:
    """Return a text with its placeholders filled in.

    Raises:
        KeyError: for a placeholder that has no value.
        ValueError: for a ``$`` that begins no placeholder; ``$$`` stands for a dollar.
    """
    return Template(text).substitute(values).strip()
