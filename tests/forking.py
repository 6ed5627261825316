"""Calls of functions and programs in other processes, and programs as modules."""

import multiprocessing
import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader


def python(*arguments, **environment):
    """Return what Python prints in a new process outside the checkout, which must end well."""
    command, settings = [sys.executable, *map(str, arguments)], {**os.environ, **environment}
    done = subprocess.run(command, env=settings, cwd=os.sep, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


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


def loaded(path):
    """Return a program as a module, which does nothing by itself."""
    loader = SourceFileLoader(path.stem, str(path))
    module = module_from_spec(spec_from_loader(path.stem, loader))
    loader.exec_module(module)
    return module
