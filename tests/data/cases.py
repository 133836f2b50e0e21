"""One table and what must come of it, on every engine."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import pyarrow as pa
import pytest

from lastbit.data.duckdb import table

TABLE: Final = pa.table(
    {
        # Patient 1 has the flu three times; one row has no patient, one no diagnosis, two are out of the domain.
        "patient": pa.array([1, 1, 1, 2, None, 3, 3, 4, 4, 5], pa.int64()),
        "diagnosis": pa.array(["flu", "flu", "flu", "flu", "flu", "cold", "?", "cold", None, "unknown"]),
        "ward": pa.array([1, 1, 2, 2, 1, 1, 1, 2, 2, 2], pa.int64()),
        "days": pa.array([1, 2, 9, None, 5, 2**62, 1, -(2**62), 3, 1], pa.int64()),
        "score": pa.array([0.3, 0.5, 0.24, float("nan"), 9.0, float("inf"), 1.0, float("-inf"), 2.0, None]),
    }
)
DIAGNOSES: Final = ["gout", "flu", "cold"]

ON_A_GRID: Final[dict[str, Any]] = {
    "by": "diagnosis",
    "unit": "patient",
    "domain": DIAGNOSES,
    "weights": "days",
    "bounds": (-3, 3),
    "resolution": "3/2",
}

CASES: Final[dict[str, tuple[dict[str, Any], list[int | Fraction], Fraction, bool]]] = {
    "distinct units": ({"by": "diagnosis", "unit": "patient", "domain": DIAGNOSES}, [0, 2, 2], Fraction(1), True),
    "rows as units": ({"by": "diagnosis", "domain": DIAGNOSES}, [0, 5, 2], Fraction(1), True),
    "large domain": (
        {"by": "diagnosis", "unit": "patient", "domain": ["flu", *map(str, range(2000)), "cold"]},
        [2, *[0] * 2000, 2],
        Fraction(1),
        True,
    ),
    "whole numbers": ({"by": "ward", "unit": "patient", "domain": range(4)}, [0, 2, 4, 0], Fraction(1), True),
    "whole numbers from text": ({"by": "ward", "unit": "patient", "domain": ["2", "1"]}, [4, 2], Fraction(1), True),
    "product": (
        {"by": ["diagnosis", "ward"], "unit": "patient", "domain": [["flu", "cold"], [1, 2]]},
        [1, 2, 1, 1],
        Fraction(1),
        True,
    ),
    "product by name": (
        {"by": ["diagnosis", "ward"], "unit": "patient", "domain": {"ward": [2], "diagnosis": ["flu", "cold"]}},
        [2, 1],
        Fraction(1),
        True,
    ),
    # Flu: patient 1 brings 1 + 2 + 9 -> 5, patient 2 has no number. Cold: patient 3 brings 5, patient 4 brings 0.
    "whole weights": (
        {"by": "diagnosis", "unit": "patient", "domain": DIAGNOSES, "weights": "days", "bounds": (0, 5)},
        [0, 5, 5],
        Fraction(5),
        True,
    ),
    # From -3 to 3 in steps of 3/2: flu 1 + 2 + 3, clamped to 3; null is left out. Cold: 3 and -3.
    "whole weights on a grid": (ON_A_GRID, [0, 3, 0], Fraction(3), False),
    "missing weights as lowest": (ON_A_GRID | {"missing": "lowest"}, [0, 0, 0], Fraction(3), False),
    "missing weights as a number": (ON_A_GRID | {"missing": "3/2"}, [0, Fraction(9, 2), 0], Fraction(3), False),
    "whole weights by rows": (
        {"by": "diagnosis", "domain": DIAGNOSES, "weights": "days", "bounds": (-3, 3), "resolution": "3/10"},
        [0, 1 + 2 + 3 + 3, 0],
        Fraction(3),
        False,
    ),
    # From 1 up: a unit without a number brings nothing, and not 1.
    "weights that are missing": (
        {"by": "diagnosis", "unit": "patient", "domain": DIAGNOSES, "weights": "score", "bounds": (1, 2)},
        [0, 2, 3],
        Fraction(2),
        True,
    ),
    "real weights as a number": (
        {"by": "ward", "domain": [2], "weights": "score", "bounds": (0, 8), "missing": 5},
        [0 + 5 + 0 + 2 + 5],
        Fraction(8),
        True,
    ),
    # In quarters: patient 1 brings 0.3 + 0.5 + 0.24 -> 1; NaN is left out. Cold: 1 and 0.
    "weights": (
        {
            "by": "diagnosis",
            "unit": "patient",
            "domain": DIAGNOSES,
            "weights": "score",
            "bounds": (0, 1),
            "resolution": "1/4",
        },
        [0, 1, 1],
        Fraction(1),
        True,
    ),
}


def count_pair_by_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let DuckDB group pairs of an item and a unit, also where a faster way would count them."""
    monkeypatch.setattr(table, "can_mask", lambda *_: False)
    monkeypatch.setattr(table.DuckDBTable, "_count_by_sorting", lambda *_: None)
