"""Programs that tests start. They get the few variables that they need, and no other of whoever runs the tests.

A setting of one machine, such as PYTHONUNBUFFERED, may hide a fault that all others have.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any, Final

NEEDED: Final = ("HOME", "PATH", "TMPDIR")
TOOLS: Final = ("PYTHONPATH", "LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "PYTHONMALLOC")
"""`make mutants` and `make sanitize` run the tests on another copy of lastbit, which programs must find too."""


def environment(**more: str) -> dict[str, str]:
    """The variables that a program needs, and more by name."""
    return {name: os.environ[name] for name in (*NEEDED, *TOOLS) if name in os.environ} | more


def run(
    command: Sequence[str], *, variables: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:
    """Run a program to its end, with `variables` besides the few that it needs."""
    return subprocess.run(command, env=environment(**variables or {}), **{"check": False, **options})


def start(
    command: Sequence[str], *, variables: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[Any]:
    """Start a program, with `variables` besides the few that it needs."""
    return subprocess.Popen(command, env=environment(**variables or {}), **options)
