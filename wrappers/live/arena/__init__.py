"""TurnState arenas (agent-colosseum, https://github.com/March-08/agent-colosseum; Strategic Agent Games,
https://github.com/saskia-jungen/strategic-agent-games): our agents on them, and a host of our own for every game.

- `messages`: the wire types beyond TurnState.
- `platform_games`: the platforms' games, and which of ours play them.
- `agent_session` (no I/O), and our agents: `agent` in process, `push_agent` behind HTTP, `polling_agent` in sessions.
- `hosted_sessions` and `results` (no I/O); `players` and `host`: our arena.
"""
