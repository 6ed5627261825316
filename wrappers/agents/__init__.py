"""Agents: what sees TurnStates and answers them. Policies, people, language models."""
