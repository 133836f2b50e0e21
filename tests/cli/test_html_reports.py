"""`--html`: every command that releases writes one page that needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lastbit.cli.app import make_app

TABLE = ["visits.csv", "--unit", "patient", "--epsilon", "1/10"]
ITEMS = ["--by", "diagnosis", "--domain", "diagnoses.txt"]
COST = ["--of", "cost", "--bounds", "0", "1000"]
COMMANDS = {
    "top": [*ITEMS, "-k", "3"],
    "above": [*ITEMS, "--threshold", "10"],
    "choose": ITEMS,
    "measure": [*ITEMS, "-k", "3"],
    "histogram": ITEMS,
    "count": [],
    "sum": COST,
    "mean": COST,
    "median": COST,
    "quantile": [*COST, "--at", "0.25,0.5"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_report_to_send_on(command: str, clinic: Path) -> None:
    paid = ["--ledger", "budget.db", "--dataset", "clinic", "--html", "report.html"]
    done: Any = CliRunner().invoke(make_app(), [command, *TABLE, *COMMANDS[command], *paid])
    assert done.exit_code == 0, done.output
    page = Path("report.html").read_text()
    assert f"lastbit {command} visits.csv" in page
    assert "import lastbit as lb" in page
    assert "clinic: spent 0.1 of 3" in page
    # A picture of one number, or of none, tells less than the number.
    assert ("<svg" in page) == (command in ("top", "measure", "histogram", "quantile"))
    # Nothing is fetched, and nothing runs.
    assert not re.search(r"<script|src=|href=|url\(|@import", page)


def test_a_folder_that_is_not_there_is_refused_before_anything_is_spent(clinic: Path) -> None:
    done = CliRunner().invoke(make_app(), ["count", *TABLE, "--html", "no/report.html"])
    assert "--html must be a file in a folder that exists" in str(done.exception)


def test_a_report_of_a_stream(clinic: Path) -> None:
    asked = ["watch", "--threshold", "1000", "--limit", "1", "--epsilon", "1", "--html", "report.html"]
    done = CliRunner().invoke(make_app(), asked, input="0\n1000000\n5\n")
    assert done.exit_code == 0, done.output
    page = Path("report.html").read_text()
    assert "1 of 2 numbers were above 1000." in page
    assert page.count('class="bar"') == 1
    assert not re.search(r"<script|src=|href=|url\(|@import", page)
