"""Bots."""
from ..core.random_policy import random_bot
BOTS = {"random": random_bot}
