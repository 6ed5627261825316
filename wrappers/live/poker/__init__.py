"""Poker over WebSocket, the agent format of poker.md: the agent's end and the host's end."""
