"""Matches in the terminal."""
