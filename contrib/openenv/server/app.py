"""A server of OpenEnv for the game that the environment names: PARLOUR_GAME, and PARLOUR_OPTIONS as JSON."""

import json
import os

import uvicorn
from parlour.wrappers.openenv import app as server_of

app = server_of(os.environ.get("PARLOUR_GAME", "kuhn"), **json.loads(os.environ.get("PARLOUR_OPTIONS", "{}")))


def main() -> None:
    """Serve it to this machine alone: it has no token."""
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ.get("PORT", "8000")))


if __name__ == "__main__":
    main()
