"""Calls of a function in other processes."""

import multiprocessing


def in_another_process(method, function, *args):
    """Return ``function(*args)``, called in a child process: "fork" or "spawn". EOFError: it ended without a result."""
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    child = context.Process(target=_call, args=(there, function, args), daemon=True)
    child.start()
    there.close()
    try:
        return here.recv()
    finally:
        child.kill()
        child.join()


def _call(connection, function, args):
    connection.send(function(*args))
