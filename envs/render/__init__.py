"""Rendering: tables as text, SVG, pixels or a window."""
