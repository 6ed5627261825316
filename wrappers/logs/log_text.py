"""Texts and errors for logs: on one line, with a length limit, without control characters."""

LIMIT = 300
"""The most characters of a text in a log line."""


def escaped(text: str, limit: int = LIMIT) -> str:
    """Return the first `limit` characters of a text; characters that are not printable are escaped.

    >>> escaped("Take\\nit \\x1b[2J")
    'Take\\\\nit \\\\x1b[2J'
    """
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text[:limit])


def short(value: object) -> str:
    """Return a value as text of at most 80 characters."""
    try:
        return escaped(str(value), 80)
    except ValueError:  # Python writes no whole number of more than 4,300 digits
        return "a number without end"


def describe_error(error: BaseException) -> str:
    """Return the error's type and text, at most `LIMIT` characters. If the text cannot be read, it is "(no text)"."""
    try:
        text = str(error)
    except Exception:
        text = "(no text)"
    return escaped(f"{type(error).__name__}: {text}")[:LIMIT]
