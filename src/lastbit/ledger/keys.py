"""Keys that pay once: whoever asks twice by mistake, with the same key, is charged once.

A key and its charge are written in one transaction. So a key that is there has paid, and a charge that was cut short
has used up no key.
"""

from __future__ import annotations

from collections.abc import Iterator

import sqlalchemy as sa

from lastbit.errors import AlreadyCharged
from lastbit.ledger.tables import ENTRIES, ONCE


def find_entry(connection: sa.Connection, key: str) -> int | None:
    """Find the entry that a key has paid for; None where it has paid for none."""
    entry = connection.execute(sa.select(ONCE.c.entry).where(ONCE.c.key == key)).scalar_one_or_none()
    return None if entry is None else int(entry)


def check_unused(connection: sa.Connection, key: str) -> None:
    """Refuse a key that has paid."""
    entry = find_entry(connection, key)
    if entry is not None:
        raise AlreadyCharged(
            f"this key has paid for entry {entry} already. Nothing was drawn and nothing was charged.", entry
        )


def use(connection: sa.Connection, key: str, entry: int) -> None:
    """Write down what a key has paid for. Two who use one key at once cannot both come to the end of this."""
    connection.execute(ONCE.insert().values(key=key, entry=entry))


def find_problems(connection: sa.Connection) -> Iterator[str]:
    """Yield what is wrong with the keys: each must have paid for a charge, and no two for the same one."""
    charges = sa.select(ENTRIES.c.id).where(ENTRIES.c.kind == "charge")
    for entry in connection.scalars(sa.select(ONCE.c.entry).where(ONCE.c.entry.not_in(charges)).order_by(ONCE.c.entry)):
        yield f"a key that pays once names entry {entry}, which is no charge: somebody changed the key or the entries."
    plural = sa.select(ONCE.c.entry).group_by(ONCE.c.entry).having(sa.func.count() > 1).order_by(ONCE.c.entry)
    for entry in connection.scalars(plural):
        yield f"several keys that pay once name entry {entry}: somebody added or changed a key."
