"""Live bridges: one folder a protocol, each with the agent's end and the host's end."""
