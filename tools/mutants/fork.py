"""pytest in a child of a process that has imported what all tests need: importing takes longer than most tests."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path

OURS = ("lastbit", "tests", "tools", "conftest")
"""Packages that each child imports from its own tree."""
PRELOADED = (
    "cryptography.hazmat.primitives.ciphers",
    "duckdb",
    "gmpy2",
    "hypothesis",
    "narwhals",
    "numpy",
    "pydantic",
    "pytest",
    "rich.console",
    "rich.table",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "typer",
)
"""Modules that start no threads: a child has none of the threads of its parent, and their locks stay locked."""

_SERVER = get_context("forkserver")
_SERVER.set_forkserver_preload(list(PRELOADED))


def run_pytest(
    arguments: Sequence[str], tree: Path, variables: Mapping[str, str], output: Path, patience: float
) -> int:
    """Run pytest in a tree, write what it prints into a file, and return its exit code; -9 where it does not end."""
    child = _SERVER.Process(target=_test, args=(list(arguments), str(tree), dict(variables), str(output)))
    child.start()
    child.join(patience)
    if child.exitcode is None:
        os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()
    assert child.exitcode is not None
    return child.exitcode


def _test(arguments: list[str], tree: str, variables: dict[str, str], output: str) -> None:
    """What the child does: it forgets the tree of its parent, and then tests its own."""
    os.setsid()  # what the tests start is in the group that is ended with them
    with open(output, "wb") as file, open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    parent = {os.getcwd(), os.path.join(os.getcwd(), "src")}
    os.chdir(tree)
    os.environ.clear()
    os.environ.update(variables)
    sys.dont_write_bytecode = False  # the next child reads it
    sys.argv[:] = ["pytest", *arguments]
    sys.path[:] = [tree, *variables["PYTHONPATH"].split(os.pathsep), *(path for path in sys.path if path not in parent)]
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    import pytest

    code = int(pytest.main(arguments))
    atexit._run_exitfuncs()  # a child of this kind ends without them
    sys.exit(code)
