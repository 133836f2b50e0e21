"""Rows of two tables side by side: each row of one with each row of the other that has the same key.

Where both tables hold rows of the same people, a person with 10,000 rows in each has 100,000,000 pairs. So the rows of
such a person are bounded before they meet: by lot, which looks at this person's rows alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Final

from lastbit.data.duckdb.relation import OpenTable
from lastbit.data.query.person_plan import write_ties
from lastbit.data.sql import quote_identifier
from lastbit.values.contribution_bound import ContributionBound

MOST_PAIRS: Final = 1_000_000
"""The pairs of rows of one person in two tables, at most."""
_MOST_ROWS: Final = 1_000
"""Whoever has too many pairs keeps so many rows of the table, or more where the other table has few rows of theirs."""
_KEYS: Final = ("lastbit_on", "lastbit_key")


@dataclass(frozen=True)
class PairLot:
    """How the rows of each person meet where both tables hold rows of the same people."""

    tables: tuple[OpenTable, OpenTable]
    bound: ContributionBound
    distinct: bool
    """Whether rows that are alike may be read as one: then none of them meets the others twice."""

    @classmethod
    def draw(cls, table: OpenTable, other: OpenTable, *, distinct: bool) -> PairLot:
        """Draw the key that decides which rows of a person meet, where they are too many."""
        return cls((table, other), ContributionBound.draw(MOST_PAIRS), distinct)


def join_rows(
    rows: Any, more: Any, keys: tuple[str, str], on: Sequence[str], names: Sequence[str], lot: PairLot | None = None
) -> Any:
    """Return rows with the columns of another table; without a lot each key stands there once.

    keys: the normal forms of the columns `on`, in SQL. names: the columns wanted. A row without a match stays, and has
    missing values.
    """
    own = [name for name in rows.columns if name in names or name in on]
    added = [name for name in more.columns if name in names and name not in on]
    sides = [
        side.project(", ".join([*map(quote_identifier, columns), f"{key} AS {alias}"]))
        for side, columns, key, alias in zip((rows, more), (own, added), keys, _KEYS, strict=True)
    ]
    condition = "lastbit_on = lastbit_key"
    if lot is not None:
        sides[1] = sides[1].filter("lastbit_key IS NOT NULL")
    if lot is not None and lot.distinct:
        sides = [_keep_different(side, table) for side, table in zip(sides, lot.tables, strict=True)]
    chosen = ", ".join(map(quote_identifier, names))
    if lot is None:
        left, right = (
            side.set_alias(alias) for side, alias in zip(sides, ("lastbit_rows", "lastbit_joined"), strict=True)
        )
        return left.join(right, condition, "left").project(chosen)
    return _join_people(sides[0], sides[1], lot).project(chosen)


def _keep_different(rows: Any, table: OpenTable) -> Any:
    """Return each row once."""
    ties = write_ties(rows, table, [name for name in rows.columns if name not in _KEYS])
    forms = [f"{form} AS lastbit_form_{number}" for number, form in enumerate(_forms(ties))]
    same = ", ".join(map(quote_identifier, rows.columns))
    return rows.project(", ".join(["*", *forms])).distinct().project(same)


def _forms(ties: dict[str, list[str]]) -> list[str]:
    """Return what tells rows apart, in SQL."""
    return [form for forms in ties.values() for form in forms]


def _join_people(rows: Any, more: Any, lot: PairLot) -> Any:
    """Return the pairs of rows of each person, and the rows of those who have none in the other table.

    Both tables are used twice, to count the rows of each person and to join them, and may come from streams that can
    be read once only: so the engine keeps them, as views of the connection until it is closed.
    """
    names = [f"lastbit_{token_hex(8)}" for _ in range(2)]
    more.query(names[1], "SELECT 1")  # its view stays, as one of this connection alone
    kept = [
        _keep_rows(side, alias, relation, table, lot.bound.key)
        for side, alias, relation, table in zip(("own", "other"), _KEYS, (rows, more), lot.tables, strict=True)
    ]
    return rows.query(
        names[0],
        f"""WITH own AS MATERIALIZED (FROM {names[0]}), other AS MATERIALIZED (FROM {names[1]}),
        counts AS (
            SELECT lastbit_on AS lastbit_who, lastbit_own, lastbit_other FROM
            (SELECT lastbit_on, count(*) AS lastbit_own FROM own WHERE lastbit_on IS NOT NULL GROUP BY lastbit_on)
            JOIN (SELECT lastbit_key, count(*) AS lastbit_other FROM other GROUP BY lastbit_key)
            ON lastbit_on = lastbit_key WHERE lastbit_own * lastbit_other > {lot.bound.most}
        ),
        limits AS (
            SELECT *, least(lastbit_own, greatest({_MOST_ROWS}, {lot.bound.most} // lastbit_other)) AS lastbit_left
            FROM counts
        ),
        crowded AS MATERIALIZED (
            SELECT lastbit_who, lastbit_left AS lastbit_most_own, {lot.bound.most} // lastbit_left AS lastbit_most_other
            FROM limits
        )
        FROM ({kept[0]}) LEFT JOIN ({kept[1]}) ON lastbit_on = lastbit_key""",  # noqa: S608
    )


def _keep_rows(side: str, key: str, rows: Any, table: OpenTable, secret: int) -> str:
    """Return the query for the rows that meet: all, but of whoever has too many pairs those of the smallest hashes.

    Rows that are alike are numbered first: to exchange them changes nothing.
    """
    ties = ", ".join([key, *_forms(write_ties(rows, table, [name for name in rows.columns if name not in _KEYS]))])
    own = ", ".join(map(quote_identifier, rows.columns))
    mark = f"hash(xor(hash({ties}, lastbit_copy), CAST({secret} AS UBIGINT)))"
    return f"""SELECT {own} FROM {side} ANTI JOIN crowded ON {key} = lastbit_who UNION ALL
        SELECT {own} FROM (
            SELECT *, row_number() OVER (PARTITION BY {key} ORDER BY {mark}, {ties}, lastbit_copy) AS lastbit_rank FROM
            (SELECT *, row_number() OVER (PARTITION BY {ties}) AS lastbit_copy
             FROM {side} JOIN crowded ON {key} = lastbit_who)
        ) WHERE lastbit_rank <= lastbit_most_{side}"""  # noqa: S608
