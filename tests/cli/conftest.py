"""A clinic to run commands in."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

import lastbit as lb

EXAMPLE = Path(__file__).parents[2] / "examples" / "demo.py"


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory: visits.csv and diagnoses.txt of the demo's clinic, small, and a ledger."""
    specification = importlib.util.spec_from_file_location("demo", EXAMPLE)
    assert specification is not None
    assert specification.loader is not None
    demo = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(demo)
    demo.write_clinic(tmp_path, patients=500, visits=3000)
    monkeypatch.chdir(tmp_path)
    lb.Ledger("budget.db").create("clinic", epsilon=3)
    return tmp_path
