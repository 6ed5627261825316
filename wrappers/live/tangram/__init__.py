"""The tangram game TangramCollaborativeAI (https://github.com/GAIPS/TangramCollaborativeAI), both ends of its protocol.

- `messages`: the wire types, as documented and as the Godot game sends them.
- `agent`: our agent, to which games connect.
- `host`: our tangram in the role of the game, and a person at a terminal.
"""
