"""Tables of one release that share their noise: the sums agree for nothing, and so does everybody's secret."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from lastbit.audit.broken.case import Case
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Program
from lastbit.privacy.cost import Cost
from lastbit.privacy.rate import Rate

_RATE: Final = Rate(1, 1)
RHO: Final = 2 * Fraction(_RATE.loss_upper)
"""The rho of two tables: each has noise of law r^(i²), and one person moves each by one step."""


def two_tables(draw: Draw, counts: Sequence[Sequence[int]], *, printed: bool) -> tuple[int, ...]:
    """Return the rows and the columns of a table of two by two, with
    noise. Right is noise of its own for each table.
    """
    rows, columns = [sum(row) for row in counts], [sum(column) for column in zip(*counts, strict=True)]
    noise = [draw.gaussian(_RATE), draw.gaussian(_RATE)]
    again = noise if printed else [draw.gaussian(_RATE), draw.gaussian(_RATE)]
    return tuple(count + extra for count, extra in zip([*rows, *columns], [*noise, *again], strict=True))


def tables_instance(*, printed: bool) -> tuple[Program, Program]:
    """Return a table, and the same with one person more, in the first row and the second column."""
    return (
        lambda draw: two_tables(draw, [[1, 0], [0, 1]], printed=printed),
        lambda draw: two_tables(draw, [[1, 1], [0, 1]], printed=printed),
    )


CASES = (
    Case(
        "two tables with the noise of one",
        "a report whose tables were each made with the same seed",
        "Both tables have the same noise in their first cells, so that the difference of the two is exact. Noise is "
        "paid for by the number: each table needs noise of its own.",
        *tables_instance(printed=True),
        Cost.zcdp(RHO),
        tables_instance(printed=False),
        kind="control",
    ),
)
