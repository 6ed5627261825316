"""`parlour host PLATFORM`: our tables behind a platform's protocol, a module per platform."""
