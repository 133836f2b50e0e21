"""Releases as earlier versions wrote them into the books: they open, and are shown."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import lastbit as lb
from lastbit import cli
from lastbit.ledger import published
from lastbit.ledger.tables import ENTRIES

COST = (
    '{"Cost": {"epsilon": {"fraction": ["0x1", "0x1"]}, "stated_rho": null, "delta": {"fraction": ["0x0", "0x1"]}, '
    '"in_rho": false}}'
)
TOP = (
    '{"release": {"TopK": {"mechanism": "NoisyTopK", "cost": ' + COST + ', "indices": {"tuple": [0, 1]}, '
    '"ahead": {"array": ["<u8", [2], "agEAAAAAAAAMAwAAAAAAAA=="]}, "items": {"tuple": ["flu", "cold"]}, '
    '"resolution": {"fraction": ["0x1", "0xa"]}, "candidates": 3, "selection_rate": {"Rate": {"x": {"int": '
    '"0x3e6b7a43e815b8f6d"}, "y": 66}}, "on_grid": true}}, "shown": {"mechanism": "NoisyTopK", "cost": "epsilon 1", '
    '"item": ["flu", "cold"], "index": [0, 1], "gap": ["181/5", 78]}}'
)
MEAN = (
    '{"release": {"MeanAndUnits": {"mechanism": "NoisyMean", "cost": ' + COST + ', "sums": {"tuple": [-17, 45]}, '
    '"half_step": {"fraction": ["0x1", "0x2"]}, "bounds": {"tuple": [{"fraction": ["0x0", "0x1"]}, {"fraction": '
    '["0xa", "0x1"]}]}, "rate": {"Rate": {"x": {"int": "0x1e7078b0a726a5f05b"}, "y": 69}}, "floored": {"fraction": '
    '["0x0", "0x1"]}}}, "shown": {"mechanism": "NoisyMean", "cost": "epsilon 1", "mean": ["28/9"], "units": ["9/2"]}}'
)


def test_the_releases_come_back_whole() -> None:
    top, mean = published.read(TOP), published.read(MEAN)
    assert (top.items, top.gaps, top.candidates) == (("flu", "cold"), (Fraction(181, 5), 78), 3)
    assert (mean.mean, mean.units) == (Fraction(28, 9), Fraction(9, 2))
    assert top.to_dict()["gap"] == [36.2, 78]
    for release in (top, mean):
        (older,) = json.loads(TOP if release is top else MEAN)["release"].values()
        (again,) = json.loads(published.write(release) or "")["release"].values()
        assert {name: again[name] for name in older} == older  # later fields have defaults


@pytest.mark.parametrize("known", [True, False])
def test_the_command_shows_an_older_release(known: bool, tmp_path: Path, capsys: Any) -> None:
    place = str(tmp_path / "budget.db")
    ledger = lb.Ledger(place)
    ledger.create("clinic", epsilon=1)
    charge = ledger.charge("clinic", lb.NoisyTopK(k=2, epsilon=1))
    text = TOP if known else TOP.replace('"TopK"', '"TopOfTomorrow"')
    with ledger._store.transaction() as rows:
        made = published.digest(charge.account.digest, text)
        rows.execute(sa.update(ENTRIES).where(ENTRIES.c.id == charge.id).values(published=text, published_digest=made))
    for form in ("--json", ""):
        arguments = ["budget", "history", "clinic", "--ledger", place, "--release", str(charge.id), form]
        assert cli._run([each for each in arguments if each], debug=False) == 0
        shown = capsys.readouterr().out
        if form:
            assert json.loads(shown)["gap"] == ([36.2, 78] if known else ["181/5", 78])
        else:
            assert shown.splitlines()[2].split()[:2] == ["flu", "0"]
