"""Policies: what plays many seats at once from observations and masks."""
