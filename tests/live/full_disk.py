"""A full disk for a server's database: SQLite itself says so, as it may take no further page."""

from contextlib import contextmanager


@contextmanager
def full_disk(database):
    """Let a `Database` find no room for a further page, until the end of the context."""
    pages = database.read("PRAGMA page_count").fetchone()[0]
    most = database.read("PRAGMA max_page_count").fetchone()[0]
    database.read(f"PRAGMA max_page_count = {pages}")
    try:
        yield
    finally:
        database.read(f"PRAGMA max_page_count = {most}")
