"""Evaluation of policies."""
