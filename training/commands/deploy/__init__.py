"""`parlour deploy PLATFORM`: our policies on a platform, a module per platform."""
