"""Training runs: their settings, from files and presets, and what begins, continues, measures and sweeps them."""
