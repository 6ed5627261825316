"""Agents: objects that answer TurnStates. Policies, people, language models."""

from typing import Literal

StateView = Literal["json", "compact", "words"]
"""How a state is written for a language model: as JSON, as lines of ``name: value``, or in natural language."""
