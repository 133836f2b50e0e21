"""Every number that an answer names is true of people as often as it says, on hostile populations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lastbit.output.numbers import are_intervals, are_numbers
from lastbit.output.table import PEOPLE, format_cells
from tests.truth.cases import CASES, Case
from tests.truth.claims import NUMBER, claims_of_column, parse
from tests.truth.harness import FUZZ, MORE_OFTEN, SHORT_STAGES, Trial, hear_case

HEARD = [case for case in CASES if FUZZ or not case.long]
SELDOM = [case for case in CASES if case not in HEARD]


@pytest.mark.parametrize("case", HEARD, ids=lambda case: case.name)
def test_what_is_said_is_true_as_often_as_it_says(case: Case, tmp_path: Path) -> None:
    trial = Trial(case, tmp_path)
    check_columns(trial)
    more_often = MORE_OFTEN if FUZZ else 2 * MORE_OFTEN
    assert hear_case(trial, more_often=more_often, stages=SHORT_STAGES).convicted == {}


@pytest.mark.parametrize("case", SELDOM, ids=lambda case: case.name)
def test_what_is_left_to_the_long_run_speaks_for_every_column(case: Case, tmp_path: Path) -> None:
    check_columns(Trial(case, tmp_path))


def test_every_case_has_a_name_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def check_columns(trial: Trial) -> None:
    """A claim speaks for every column, and what is printed holds what is exact."""
    for repetition in range(3):
        answer = trial.answer(repetition)
        made = {outcome.claim.split(":")[0] for outcome in answer.outcomes}
        report = answer.report
        cells = dict(
            zip(report.columns, format_cells(report.columns, whole=(*PEOPLE, *report.whole_columns)), strict=True)
        )
        for name, column in report.columns.items():
            values = list(column)
            if not (are_numbers(values) or are_intervals(values)):
                continue
            claims = claims_of_column(name)
            assert not claims or made & {*claims}, f"no claim speaks for {name}"
            if are_intervals(values):
                for cell, interval in zip(cells[name], values, strict=True):
                    assert_holds(cell, interval)


def assert_holds(cell: str, interval: tuple[Any, Any] | None) -> None:
    """The interval that people read is no narrower than the exact one."""
    if interval is None:
        assert cell == ""
        return
    low, high = interval
    shown = re.fullmatch(rf"(?P<low>{NUMBER}) to (?P<high>{NUMBER})", cell)
    if shown is None:
        shown = re.fullmatch(rf"(?:(?P<low>{NUMBER}) or more|(?P<high>{NUMBER}) or less|any number)", cell)
    assert shown is not None, cell
    ends = shown.groupdict()
    assert low is None if ends["low"] is None else parse(ends["low"]) <= low
    assert high is None if ends["high"] is None else high <= parse(ends["high"])
