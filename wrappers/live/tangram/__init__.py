"""The live tangram game's protocol (tangram.md), both ends."""
