"""What happens while a policy learns: settings, run folders, opponents, demonstrations."""
