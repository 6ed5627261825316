"""`parlour deploy PLATFORM`: lets a policy play on a platform; one module per platform."""
