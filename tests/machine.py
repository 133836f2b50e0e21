"""What this machine has to test with: a PostgreSQL server, a Java for Spark, a Chromium for pages."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tests import processes


def postgres(program: str) -> str | None:
    """The path of a program of the PostgreSQL server; Debian keeps them off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(program) or shutil.which(program, path=os.pathsep.join(map(str, debian)))


def has_postgres() -> bool:
    return bool(postgres("initdb") and postgres("postgres"))


def has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which("java") or (home and Path(home, "bin/java").exists()))


def chromium() -> str | None:
    """The path of a Chromium."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def has_mounts() -> bool:
    """Whether a program may mount something for itself alone."""
    unshare = shutil.which("unshare")
    return bool(unshare and processes.run([unshare, "-Urm", "true"], capture_output=True).returncode == 0)


def memory() -> str | None:
    """A folder in memory with room for a gigabyte, where no sync waits for a disk; None where there is none."""
    folder = "/dev/shm"
    return folder if os.access(folder, os.W_OK) and shutil.disk_usage(folder).free > 1 << 30 else None


def missing() -> list[str]:
    """One line for each thing that is not there."""
    lacks = []
    if not has_postgres():
        lacks.append("ledgers in PostgreSQL. Install a server (initdb, postgres) to test them.")
    if not has_mounts():
        lacks.append("a ledger mounted as a single file. Install unshare (util-linux), and allow user namespaces.")
    if not has_java():
        lacks.append("Spark. Install Java 17 or newer to test it.")
    if chromium() is None:
        lacks.append("pages in a browser. Install chromium to test them.")
    return lacks
