"""Answers about a made-up clinic as docs/pictures/answer-*.svg, with fixed words: `python -m tools.pages.answers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import numpy as np
import pandas as pd

import lastbit as lb
from lastbit.mechanisms import mechanism
from lastbit.values import contribution_bound
from tests.fixed_words import FixedWords

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
_DEPARTMENTS: Final = ("cardiology", "oncology", "surgery", "paediatrics", "maternity", "burns")
_REGIONS: Final = ("north", "south", "east", "west")
_PEOPLE: Final = 4000
_DIAGNOSES: Final = tuple(f"{letter}{number}" for letter in "AEIJK" for number in (10, 12, 20, 26))
_WORDS: Final = {"unit": "patient", "noun": "patient", "row_noun": "visit"}
ANSWERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "mean": (
        "mean",
        {"of": "cost", "bounds": (0, 5000), "by": "department", "domain": list(_DEPARTMENTS), "epsilon": 1},
    ),
    "months": ("count", {"month": "day", "domain": "2024-01..2024-12", "most_items": 4, "epsilon": 1}),
    "top": ("top", {"by": "diagnosis", "domain": list(_DIAGNOSES), "k": 10, "numbers": True, "epsilon": 1}),
    "tables": (
        "tables",
        {"by": "region", "domain": {"region": list(_REGIONS)}, "edges": {"age": [0, 18, 40, 65, 80]}, "rho": "1/20"},
    ),
}
"""A name for each picture, and the question that it answers."""


def make_clinic() -> pd.DataFrame:
    """Return the visits of made-up patients: the same in every run."""
    made = np.random.Generator(np.random.PCG64(7))
    visits = 1 + np.minimum(made.integers(0, 4, _PEOPLE) * made.integers(0, 4, _PEOPLE), 8)
    patient = np.repeat(np.arange(_PEOPLE), visits)
    n = len(patient)
    department = np.minimum(made.integers(0, 5001, n) // 1000, 5)
    return pd.DataFrame(
        {
            "patient": patient,
            "age": made.integers(0, 96, _PEOPLE)[patient],
            "region": np.array(_REGIONS)[made.integers(0, 4, _PEOPLE)[patient]],
            "department": np.array(_DEPARTMENTS)[department],
            "diagnosis": np.array(_DIAGNOSES)[np.minimum.reduce(made.integers(0, 20, (2, n)))],
            "day": [f"2024-{month:02}-15" for month in made.integers(1, 13, n)],
            "cost": 200 + made.integers(0, 700, n) + 150 * department,
        }
    )


def draw(name: str, clinic: pd.DataFrame) -> str:
    """Return one picture as a file: it needs no style sheet, and is seen on any background."""
    kind, options = ANSWERS[name]
    noise, lots = lb.Sampler(FixedWords(name)), FixedWords(f"lots of {name}")
    with patch.object(mechanism, "_SYSTEM", noise), patch.object(contribution_bound, "secrets", lots):
        svg = str(lb.ask(kind, clinic, **_WORDS, **options).chart)
    head, _, rest = svg.partition(">")
    return (
        f'{head} xmlns="http://www.w3.org/2000/svg" color="#1f2937"><rect width="100%" height="100%" fill="#ffffff"/>'
        f"{rest}\n"
    )


def pictures() -> dict[str, str]:
    """Return all pictures by the names of their files."""
    clinic = make_clinic()
    return {f"answer-{name}.svg": draw(name, clinic) for name in ANSWERS}


if __name__ == "__main__":
    for file, picture in pictures().items():
        (FOLDER / file).write_text(picture, encoding="utf-8")
