"""Independent calls in other processes of this machine, or in a Ray cluster; and other handlers of signals."""

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def handled(numbers: Iterable[int], handler: Any) -> Iterator[None]:
    """Give signals another handler for the block, those that are not ignored.

    Other threads than the main one get no signals: there it does nothing.
    """
    main = threading.current_thread() is threading.main_thread()
    before = {one: now for one in numbers if main and (now := signal.getsignal(one)) not in (None, signal.SIG_IGN)}
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, now in before.items():
            signal.signal(number, now)
