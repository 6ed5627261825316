"""What every learning algorithm needs: settings, run folders, opponents, demonstrations."""
