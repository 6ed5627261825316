"""`parlour host PLATFORM`: hosts games with a platform's protocol; one module per platform."""
