"""Games of economics in phases: one file each (see `parlour.envs.phases`)."""
