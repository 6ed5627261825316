"""Replays: a match log, moment by moment, as pictures; and as one HTML file to look at without a network."""
