"""The service killed between the charge and the draw, and between the draw and the record: on either ledger."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

import lastbit as lb
from tests import processes
from tests.ledger.conftest import place as place
from tests.web.conftest import Served, clinic

_SERVE = """
import os, sys
from lastbit.cli import main
from lastbit.ledger import Ledger

moment = sys.argv.pop(1)
charge, record = Ledger._charge, Ledger.record

def charge_and_die(*arguments, **options):
    result = charge(*arguments, **options)
    if moment == "between charge and draw":
        os.kill(os.getpid(), 9)
    return result

def die_or_record(*arguments, **options):
    if moment == "between draw and record":
        os.kill(os.getpid(), 9)
    return record(*arguments, **options)

Ledger._charge, Ledger.record = charge_and_die, die_or_record
sys.argv[0] = "lastbit"
main()
"""
COUNT = {"question": "count", "options": {"epsilon": "1/2"}}


def start(folder: Path, place: str, moment: str) -> Served:
    """Start the service, which ends itself at a moment; "" where it shall live."""
    table = ["visits.csv", "--unit", "patient", "--ledger", place, "--dataset", "killed"]
    command = [sys.executable, "-c", _SERVE, moment, "serve", *table, "--port", "0", "--no-open"]
    process = processes.start(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    with process.stdout as addresses:
        lines = [addresses.readline() for _ in range(3)]
    found = [line.partition("http")[2].partition("?token=") for line in lines]
    tokens = dict(zip(("look", "release", "raise"), (token.split()[0] for *_, token in found), strict=True))
    return Served(folder, process, f"http{found[0][0]}", tokens)


@pytest.mark.parametrize("moment", ["between charge and draw", "between draw and record"])
def test_a_service_that_is_killed_pays_once_and_shows_nothing_that_was_not_kept(
    tmp_path: Path, place: str, moment: str
) -> None:
    clinic(tmp_path)
    ledger = lb.Ledger(place)
    ledger.create("killed", epsilon=1)
    server = start(tmp_path, place, moment)
    with server.client("release") as client:
        key = client.post("api/confirmations", json=COUNT).json()["key"]
        with pytest.raises(httpx.HTTPError):
            client.post("api/releases", json={"key": key})
    assert server.process.wait(600) == -9  # the kill hit, and after the charge
    charge = ledger.charged(key)
    assert charge is not None
    assert charge.published is None
    account = ledger.account("killed")
    assert account.spent == account.limit / 2
    again = start(tmp_path, place, "")
    try:
        with again.client("release") as client:
            answer = client.post("api/releases", json={"key": key})
        assert answer.status_code == 200
        assert "release" not in answer.json() or answer.json()["release"] is None
    finally:
        again.kill()
    assert ledger.account("killed") == account
    assert [entry.kind for entry in ledger.history("killed")] == ["create", "charge"]
    assert ledger.verify() == ()
