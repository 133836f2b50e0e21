"""Which pairs of an item and a unit stay where one unit counts in few items, in the SQL of DuckDB."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from secrets import token_hex
from typing import Any, Final

from lastbit.values.contribution_bound import ContributionBound

_SHORT: Final = 16
"""Lists shorter than this are made for every unit; longer ones only for units that fill them."""

_LONGEST: Final = 10**6
"""DuckDB takes fewer than so many smallest numbers."""


def keep_items(
    pairs: Any, keys: Sequence[str], more: Sequence[str], bound: ContributionBound, closing: ExitStack
) -> Any:
    """Return the pairs that stay: of each unit those with the smallest hashes; of equal ones, the first by their items.

    pairs: every pair once, with the unit in `lastbit_unit`, the item in `keys` and other columns in `more`.

    To sort all pairs takes as long as to find them. So only the hashes of a unit are collected, which are short: the
    last hash that stays says of each pair whether it does. Where that hash comes twice, the items decide, and the pairs
    of this unit are sorted.

    The pairs are used more than once, and may come from a stream that can be read once only: so the engine keeps them.
    For this the query must name them, as a view of the connection until it is done.
    """
    name = f"lastbit_{token_hex(8)}"
    closing.callback(_drop_view, pairs, name)
    columns = ", ".join([*keys, *more])
    rank = (
        "row_number() OVER (PARTITION BY lastbit_unit "
        f"ORDER BY lastbit_mark ASC, {', '.join(f'{key} ASC' for key in keys)})"
    )
    return pairs.query(
        name,
        f"""WITH pairs AS MATERIALIZED (SELECT *, {hash_sql(keys, bound.key)} AS lastbit_mark FROM {name}),
        many AS MATERIALIZED ({_crowded_units(bound.most)})
        SELECT {columns} FROM pairs LEFT JOIN many USING (lastbit_unit)
        WHERE lastbit_sorted IS NULL OR (NOT lastbit_sorted AND lastbit_mark <= lastbit_last) UNION ALL
        SELECT {columns} FROM pairs SEMI JOIN (FROM many WHERE lastbit_sorted) USING (lastbit_unit)
        QUALIFY {rank} <= {bound.most}""",  # noqa: S608
    )


def _drop_view(pairs: Any, name: str) -> None:
    """Forget the view. To say so takes the pairs once more, of which a stream that is read has none: its view stays."""
    with suppress(Exception):
        pairs.query(name, f"DROP VIEW IF EXISTS {name}")


def hash_sql(keys: Sequence[str], key: int) -> str:
    """Return a hash of the unit, the item and the key.

    Hashed once more with the key, so that the order of the hashes depends on all of its bits. With a sign it has 63
    bits: the engine collects numbers without one three times slower.
    """
    return f"CAST(hash(xor(hash(lastbit_unit, {', '.join(keys)}), CAST({key} AS UBIGINT))) >> 1 AS BIGINT)"


def _crowded_units(most: int) -> str:
    """Return the units with too many items: the last hash that stays, and whether the pairs must be sorted for it."""
    counted = f"FROM pairs GROUP BY lastbit_unit HAVING count(*) > {most}"
    if most + 1 >= _LONGEST:
        return f"SELECT lastbit_unit, 0 AS lastbit_last, true AS lastbit_sorted {counted}"
    # The engine makes room for whole lists at once: for long ones only where they are filled.
    chosen = "" if most < _SHORT else f"SEMI JOIN (SELECT lastbit_unit {counted}) USING (lastbit_unit)"
    return f"""SELECT lastbit_unit, marks[{most}] AS lastbit_last, marks[{most}] = marks[{most + 1}] AS lastbit_sorted
        FROM (SELECT lastbit_unit, min(lastbit_mark, {most + 1}) AS marks FROM pairs {chosen} GROUP BY lastbit_unit)
        WHERE len(marks) > {most}"""  # noqa: S608


def keep_rows(rows: Any, most: int, key: int) -> Any:
    """Return at most so many rows of each unit, by their hashes. Rows that are alike are numbered first."""
    alike = "row_number() OVER (PARTITION BY lastbit_unit, lastbit_position, lastbit_step)"
    rows = rows.project(f"*, {alike} AS lastbit_copy")
    seen = "lastbit_unit, lastbit_position, lastbit_step, lastbit_copy"
    mark = f"hash(xor(hash({seen}), CAST({key} AS UBIGINT)))"
    sorting = f"{mark} ASC, lastbit_position ASC, lastbit_step ASC, lastbit_copy ASC"
    rank = f"row_number() OVER (PARTITION BY lastbit_unit ORDER BY {sorting})"
    return rows.project(f"*, {rank} AS lastbit_rank").filter(f"lastbit_rank <= {most}")
