"""Independent calls in other processes of this machine, or in a Ray cluster; and other handlers of signals."""
