"""Live bridges: one folder per protocol, each with the agent's end and the host's end.

In every folder `messages` has the wire types; `agent_session` and `host_session` have no I/O; `agent` and `host` are
the shells around them, with connections and times. What all protocols share is in `common`.
"""
