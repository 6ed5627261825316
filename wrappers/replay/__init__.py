"""Replays: a match log as pictures, one per moment, and as one HTML file that needs no network."""
