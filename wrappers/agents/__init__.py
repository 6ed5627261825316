"""Agents: objects that answer TurnStates. Policies, people, language models."""
