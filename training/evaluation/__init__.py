"""How strong a policy is."""
