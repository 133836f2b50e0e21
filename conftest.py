"""Every release of a test draws fixed words. A private PostgreSQL for the tests that want one.

What the machine lacks is said at the end of each run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fixed_words import draw_fixed_words
from tests.machine import missing
from tests.postgres_server import Server


@pytest.fixture(autouse=True)
def same_words(request: pytest.FixtureRequest) -> Iterator[None]:
    """A release without a draw of its own takes its words from a tape, which the name of the test chooses.

    So does the key that decides which items of a unit stay. So no test and no example in the docs fails by chance.
    Other processes, Spark's workers and tests that build a `Sampler()` or `SystemBits()` themselves have the system's
    randomness.
    """
    with draw_fixed_words(f"{request.node.path.name} {request.node.name}"):
        yield


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give whole files and groups to workers, the longest first; in the long run each test by itself."""
    from tests.schedule import FileScheduling

    by_files = config.getvalue("dist") == "loadgroup" and "LASTBIT_FUZZ" not in os.environ
    return FileScheduling(config, log) if by_files else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for lack in missing():  # fewer tests must not pass for all
        terminalreporter.write_line(f"NOT TESTED HERE: {lack}", red=True, bold=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A running PostgreSQL, which a test may restart."""
    running = Server()
    yield running
    running.remove()


@pytest.fixture(scope="session")
def server(postgres: Server) -> str:
    """The directory of a running PostgreSQL server's socket."""
    return str(postgres.home)
