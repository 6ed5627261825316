"""A headless Chromium for tests of what people see in a browser."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from needs import program

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
BACK = ["--disable-back-forward-cache"]
"""What Playwright switches off, and people have: a page that is left is kept for "back"."""


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the system's Chromium; skip the test where there is none, but not in CI."""
    path = program("chromium", "chromium-browser", "google-chrome", package="chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=FLAGS, ignore_default_args=BACK)
        try:
            yield browser
        finally:
            browser.close()


def until(page: Any, condition: str) -> None:
    """Wait for a condition in JavaScript. The pages' own policy forbids the text that `wait_for_function` evaluates."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        time.sleep(0.05)
    raise AssertionError(condition)
