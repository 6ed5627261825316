"""Mafia over `AgentPolicy`: agents that think and talk in streams, their WebSocket service, and a host of our own."""
