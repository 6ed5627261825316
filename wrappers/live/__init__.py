"""Live bridges: one folder per protocol, each with the agent's end and the host's end.

In every folder `messages` has the wire types, `agent` and `host` the two ends: a session without I/O, and the shell
around it with connections and times. What all protocols share is in `common`.
"""
