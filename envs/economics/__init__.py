"""Games of economics in stages: one file each (see `parlour.envs.stages`)."""
