"""A private PostgreSQL server, for the tests and for the pages that want one."""

from __future__ import annotations

import os
import pwd
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

from tests.machine import postgres


@contextmanager
def postgres_server() -> Iterator[str]:
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
