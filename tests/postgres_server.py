"""A private PostgreSQL server, for the tests and for the pages that want one. It may be stopped and started again."""

from __future__ import annotations

import os
import pwd
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg

from tests import processes
from tests.machine import memory, postgres


class Server:
    """A server that listens on a socket in `home` and nowhere else. PostgreSQL refuses to be root.

    With `synced` its commits are on a disk, as those of a server in use. Tests have no time for that.
    """

    def __init__(self, *, synced: bool = False) -> None:
        self._synced = synced
        self.home = Path(tempfile.mkdtemp(prefix="lastbit-pg-", dir=None if synced else memory()))
        other: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.home, nobody.pw_uid, nobody.pw_gid)
            other = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self._quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": self.home, **other}
        self._data = str(self.home / "data")
        initdb = [postgres("initdb") or "", "-D", self._data, "-U", "lastbit", "--auth=trust", "--no-sync"]
        processes.run([*initdb, "-E", "UTF8"], check=True, **self._quiet)
        self.start()

    def start(self, largest_file: int | None = None) -> None:
        """Run, and wait until somebody can connect. No file may grow beyond a size, as on a disk that is full."""
        command = [postgres("postgres") or "", "-D", self._data, "-k", str(self.home), "-h", ""]
        command += [] if self._synced else ["-F"]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file or before[0], before[1]))
        try:
            self._running = processes.start([*command, "-c", "max_connections=100"], **self._quiet)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        for _ in range(6000):  # as long as a busy machine may take
            try:
                psycopg.connect(f"postgresql://lastbit@/postgres?host={self.home}").close()
                return
            except psycopg.OperationalError:
                assert self._running.poll() is None, "PostgreSQL ended before it was ready"
                time.sleep(0.1)
        raise AssertionError("PostgreSQL did not get ready")

    def restart(self, largest_file: int | None = None) -> None:
        """End every connection at once, and run again on the same data."""
        self.stop(signal.SIGINT)
        self.start(largest_file)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        self._running.send_signal(how)
        self._running.wait(600)

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.home)


@contextmanager
def postgres_server() -> Iterator[str]:
    """The directory of a running server's socket."""
    running = Server()
    try:
        yield str(running.home)
    finally:
        running.remove()
