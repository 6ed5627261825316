"""Wrappers: seats for learners, policies, agents, match logs and live bridges."""
