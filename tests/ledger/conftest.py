"""A place for a ledger: a SQLite file, and a database in a private PostgreSQL where there is one."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import psycopg
import pytest

from tests.machine import has_postgres

NAMES = count()


@pytest.fixture(params=["sqlite", "postgresql"] if has_postgres() else ["sqlite"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may live."""
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    home = request.getfixturevalue("server")
    name = f"ledger{next(NAMES)}"
    with psycopg.connect(f"postgresql://lastbit@/postgres?host={home}", autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return f"postgresql://lastbit@/{name}?host={home}"
