"""Tables on an NVIDIA GPU: the same compiled rules, one thread per table. Needs the extra `cuda`."""
