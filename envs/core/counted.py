"""Numbers with their nouns."""

import re


def counted(number: float, noun: str) -> str:
    """Return a number with its noun, given in the plural; of one, the noun is in the singular.

    >>> counted(1, "matches"), counted(1, "agents"), counted(2_000, "tables"), counted(1, "refused")
    ('1 match', '1 agent', '2,000 tables', '1 refused')
    """
    return f"{number:,.0f} {re.sub('(?<=ch|sh|ss)es$|(?<=x)es$|s$', '', noun) if number == 1 else noun}"


def plural(noun: str) -> str:
    """Return the plural that `counted` takes back.

    >>> plural("game"), plural("match")
    ('games', 'matches')
    """
    return noun + ("es" if noun.endswith(("ch", "sh", "ss", "x")) else "s")
