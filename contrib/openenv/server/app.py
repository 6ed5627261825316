"""A server of OpenEnv for the game that the environment names: PARLOUR_GAME, and PARLOUR_OPTIONS as JSON."""

import json
import os

import uvicorn
from parlour.wrappers.openenv import app as server_of

app = server_of(os.environ.get("PARLOUR_GAME", "kuhn"), **json.loads(os.environ.get("PARLOUR_OPTIONS", "{}")))


def main() -> None:
    """Serve it on all addresses."""
    uvicorn.run(app, host="0.0.0.0", port=int(os.environ.get("PORT", "8000")))


if __name__ == "__main__":
    main()
