"""The worked example: its file passes, its plan is within its budget, and its folder verifies."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import lastbit as lb

EXAMPLE = Path(__file__).parents[2] / "examples" / "study"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    shutil.copy(EXAMPLE / "study.toml", folder)
    specification = importlib.util.spec_from_file_location("make_visits", EXAMPLE / "make_visits.py")
    make_visits = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(make_visits)
    make_visits.write_visits(folder, patients=600)
    lb.Ledger(folder / "budget.db").create("clinic", epsilon=3, delta="1e-6")
    return lb.Publication.from_file(folder / "study.toml")


def test_the_example_is_planned_within_its_budget(study):
    assert study.check() == ()
    plan = study.plan()
    assert plan.refusal == ""
    assert plan.publication.mechanism.cost.rho <= study.budget.total
    assert all(str(study.study.folder) not in title for title in plan.report.columns["title"])


def test_the_example_runs_once_and_verifies(study):
    written = study.run()
    assert set(written.answers.parts) == {question.name for question in study.questions}
    verdict = lb.verify(written.folder)
    assert verdict.holds, verdict
    assert not any("none is known" in line for line in verdict.not_proved)
    folder = str(study.study.folder).encode()
    assert not any(folder in path.read_bytes() for path in written.folder.rglob("*") if path.is_file())
