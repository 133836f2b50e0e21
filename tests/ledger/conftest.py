"""A place for a ledger: a SQLite file, and a database in a private PostgreSQL where there is one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.machine import has_postgres, memory

NAMES = count()


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder in memory where there is one: no test can see whether a sync has reached a disk."""
    with tempfile.TemporaryDirectory(prefix="lastbit-", dir=memory(), ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(params=["sqlite", "postgresql"] if has_postgres() else ["sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a new ledger may live."""
    if request.param == "sqlite":
        yield str(tmp_path / "budget.db")
        return
    home = request.getfixturevalue("server")
    name = f"ledger{next(NAMES)}"
    with psycopg.connect(f"postgresql://lastbit@/postgres?host={home}", autocommit=True) as connection:
        connection.execute(f"create database {name}")
    yield f"postgresql://lastbit@/{name}?host={home}"
