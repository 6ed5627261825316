"""TurnState arenas (agent-colosseum, https://github.com/March-08/agent-colosseum; Strategic Agent Games,
https://github.com/saskia-jungen/strategic-agent-games): our agents on them, and a host of our own for every game.

- `messages`: the wire types beyond TurnState.
- `platform_games`: the platforms' games, and which of ours play them.
- `agent`: our agents in process, behind HTTP and in sessions.
- `host`: our arena.
"""
