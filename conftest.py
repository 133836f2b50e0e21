"""Every release of a test draws fixed words. A private PostgreSQL for the tests that want one.

What the machine lacks is said at the end of each run.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lastbit import Sampler
from lastbit.mechanisms import mechanism
from tests.fixed_words import FixedWords
from tests.machine import missing, postgres


@pytest.fixture(autouse=True)
def same_words(request: pytest.FixtureRequest) -> Iterator[None]:
    """A release without a draw of its own takes its words from a tape, which the name of the test chooses.

    So no test and no example in the docs fails by chance. Other processes, Spark's workers and tests that build a
    `Sampler()` or `SystemBits()` themselves have the system's randomness.
    """
    name = f"{request.node.path.name} {request.node.name}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mechanism, "_SYSTEM", Sampler(FixedWords(name)))
        yield


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for lack in missing():  # fewer tests must not pass for all
        terminalreporter.write_line(f"NOT TESTED HERE: {lack}", red=True, bold=True)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The directory of a running server's socket. It listens nowhere else, and PostgreSQL refuses to be root."""
    home = Path(tempfile.mkdtemp(prefix="lastbit-pg-"))
    other: dict[str, Any] = {}
    if os.geteuid() == 0:
        nobody = pwd.getpwnam("nobody")
        os.chown(home, nobody.pw_uid, nobody.pw_gid)
        other = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **other}
    data = str(home / "data")
    initdb = [postgres("initdb") or "", "-D", data, "-U", "lastbit", "--auth=trust", "--no-sync", "-E", "UTF8"]
    subprocess.run(initdb, check=True, **quiet)
    command = [postgres("postgres") or "", "-D", data, "-k", str(home), "-h", "", "-F", "-c", "max_connections=40"]
    running = subprocess.Popen(command, **quiet)
    try:
        for _ in range(300):
            try:
                psycopg.connect(f"postgresql://lastbit@/postgres?host={home}").close()
                break
            except psycopg.OperationalError:
                assert running.poll() is None, "PostgreSQL ended before it was ready"
                time.sleep(0.1)
        yield str(home)
    finally:
        running.send_signal(signal.SIGQUIT)
        running.wait(30)
        shutil.rmtree(home)
