"""Weights of every type, and what their sums are in fractions: for all engines."""

from __future__ import annotations

import random
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pyarrow as pa

ITEMS: Final = ["a", "b", "c"]

TYPES: Final[dict[str, tuple[pa.DataType, str, list[Any]]]] = {
    # The type in Arrow and in Spark; some of its values.
    "whole": (pa.int64(), "long", [0, 1, 3, -2, 7, 2**62, -(2**62), None]),
    "float": (
        pa.float64(),
        "double",
        [0.1, 0.9, -0.3, 2.75, 1e300, -1e300, 5e-324, -5e-324, float("inf"), float("-inf"), float("nan"), None],
    ),
    "cents": (pa.decimal128(12, 2), "decimal(12,2)", [Decimal("0.10"), Decimal("-0.99"), Decimal("2.75"), None]),
    "long decimal": (
        pa.decimal128(38, 20),
        "decimal(38,20)",
        [Decimal("0.1"), Decimal("-0.00000000000000000001"), Decimal("0.33333333333333333333"), Decimal(10**17), None],
    ),
    "longest decimal": (
        pa.decimal128(38, 36),
        "decimal(38,36)",
        [Decimal("0." + "3" * 36), Decimal("-0." + "0" * 35 + "1"), Decimal("0.9"), Decimal("-99." + "9" * 36), None],
    ),
}

SETTINGS: Final[list[dict[str, Any]]] = [
    {"bounds": (0, 4)},
    {"bounds": (0, 4), "resolution": "1/128", "missing": "1/4"},
    {"bounds": (-3, 3), "resolution": "1/10", "missing": "lowest"},
    {"bounds": (-4, -1), "resolution": "1/3"},
    {"bounds": (-6, 3), "resolution": 3},
    {"bounds": ("-3/2", 6), "resolution": "3/2"},
]


def make_rows(name: str, seed: int = 1, size: int = 200) -> list[tuple[int, str, Any]]:
    """Units, items and weights: some units have many rows in an item, and few of them are equal."""
    generator = random.Random(seed)
    return [
        (generator.randrange(40), generator.choice([*ITEMS, "other"]), generator.choice(TYPES[name][2]))
        for _ in range(size)
    ]


def make_table(name: str, rows: list[tuple[int, str, Any]]) -> pa.Table:
    """The rows as a table of Arrow."""
    units, items, weights = (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [])
    types = pa.int64(), pa.string(), TYPES[name][0]
    return pa.table(
        {
            column: pa.array(values, type_)
            for column, values, type_ in zip("uiw", (units, items, weights), types, strict=True)
        }
    )


def exact_sums(
    rows: list[tuple[int, str, Any]], *, bounds: Any, missing: Any = "leave-out", by_unit: bool = True, **_: Any
) -> list[Fraction]:
    """The sum of each item, as the rule says it, in fractions and with no grid."""
    low, high = map(Fraction, bounds)
    units: dict[tuple[Any, str], Fraction] = defaultdict(Fraction)
    for place, (unit, item, weight) in enumerate(rows):
        if weight is None or weight != weight:
            if missing == "leave-out":
                continue
            exact = low if missing == "lowest" else Fraction(missing)
        elif weight in (float("inf"), float("-inf")):
            exact = high if weight > 0 else low
        else:
            exact = Fraction(weight)
        units[unit if by_unit else place, item] += max(low, min(high, exact))
    sums = dict.fromkeys(ITEMS, Fraction(0))
    for (_unit, item), total in units.items():
        if item in sums:
            sums[item] += max(low, min(high, total))
    return list(sums.values())
