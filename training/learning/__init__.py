"""Training runs: settings, run folders, opponents, demonstrations."""
