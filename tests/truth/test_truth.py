"""Every number that an answer names is true of people as often as it says, on hostile populations."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.truth.cases import CASES, Case
from tests.truth.harness import FUZZ, Trial, hear_case

HEARD = [case for case in CASES if FUZZ or not case.long]


@pytest.mark.parametrize("case", HEARD, ids=lambda case: case.name)
def test_what_is_said_is_true_as_often_as_it_says(case: Case, tmp_path: Path) -> None:
    assert hear_case(Trial(case, tmp_path)).convicted == {}


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
