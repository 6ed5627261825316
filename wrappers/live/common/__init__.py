"""What the live bridges of all protocols share."""
