"""The version of the tables, and how the tables of an older version become those of this one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import sqlalchemy as sa

VERSION: Final = 1

MIGRATIONS: Final[dict[int, Callable[[sa.Connection], None]]] = {}
"""MIGRATIONS[v] turns the tables of version v into those of version v + 1, in the transaction that finds them old.

The first version has none before it. Whoever changes the tables raises VERSION and adds a function here.
"""
