"""Two players build a tangram together (protocol: tangram.md and its notes)."""
