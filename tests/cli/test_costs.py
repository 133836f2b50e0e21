"""Costs in rho and in (epsilon, delta), as the command takes them."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit import cli

TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"


def run(command: str) -> int:
    return cli._run(shlex.split(command), debug=False)


@pytest.mark.parametrize(
    "command",
    [
        f"top {TABLE} -k 2",
        f"above {TABLE} --threshold 50",
        f"choose {TABLE}",
        f"measure {TABLE} -k 2",
        "mean visits.csv --of cost --unit patient --bounds 0 1000",
    ],
)
def test_every_release_can_be_asked_in_rho(command: str, clinic: Path, capsys: Any) -> None:
    assert run(f"{command} --rho 1/10 --json") == 0
    assert json.loads(capsys.readouterr().out)["cost"] == "rho 1/10"
    for wrong in ("", "--rho 1/10 --epsilon 1"):
        assert run(f"{command} {wrong}") == 2
        assert "exactly one of --epsilon, --rho and --within" in capsys.readouterr().err


def test_a_long_list_costs_less_noise_with_a_delta(clinic: Path, capsys: Any) -> None:
    reached = {}
    for k in (1, 15):
        for delta in ("", "--delta 1e-6"):
            assert run(f"choose {TABLE} -k {k} --epsilon 1 {delta} --json") == 0
            answer = json.loads(capsys.readouterr().out)
            assert len(answer["outcome"]) == k
            reached[k, delta] = Fraction(answer["within"]), answer["cost"]
    # A single pick is best at epsilon itself; fifteen are not.
    assert reached[1, ""] == reached[1, "--delta 1e-6"]
    assert reached[15, "--delta 1e-6"][0] < reached[15, ""][0]
    assert reached[15, "--delta 1e-6"][1] == "rho 0.02435598"
    assert run(f"choose {TABLE} -k 2 --rho 1 --delta 1e-6") == 2
    assert "--delta goes with --epsilon" in capsys.readouterr().err


def test_plan_in_epsilon_in_rho_and_with_a_delta(capsys: Any) -> None:
    def plan(command: str) -> dict[str, Any]:
        assert run(f"plan {command} -k 50 --items 1000 --json") == 0
        data: dict[str, Any] = json.loads(capsys.readouterr().out)
        return data

    pure, rho = plan("top --epsilon 1"), plan("top --rho 1/100")
    # A plan of `top` says beside it what `choose` would reach, as its own plan says it.
    assert pure["compared"]["choose -k 50"] == plan("choose --epsilon 1")["within"]
    assert plan("choose --epsilon 1 --delta 1e-6")["within"] < pure["compared"]["choose -k 50"] / 3
    assert rho["compared"]["choose -k 50"] < rho["within"] / 10
    for wrong in ("--rho 1 --within 6", "--epsilon 1 --rho 1", "--within 5 --epsilon 1"):
        assert run(f"plan -k 50 --items 1000 {wrong}") == 2
        assert "exactly one of --epsilon, --rho and --within" in capsys.readouterr().err
    assert run("plan choose -k 50 --items 1000 --rho 1 --delta 1e-6") == 2
    assert "--delta goes with --epsilon" in capsys.readouterr().err


@pytest.mark.parametrize("values", [[4, 0, 3], [1, 1, 0], [0, 2, 5]])
@pytest.mark.parametrize("k", [1, 2])
def test_the_accuracy_of_a_ranking_holds_in_the_exact_law(values: list[int], k: int) -> None:
    mechanism = lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2), monotone=True)
    level = Fraction(1, 2)
    reach = mechanism.accuracy(3, level, k=k)
    close = Fraction(0)
    for release, mass in lb.audit.law(mechanism.ready_ranking(values, k)).masses.items():
        assert isinstance(release, lb.Ranking)
        left = set(range(3)) - set(release.indices)
        most = max(values[other] for other in left) - min(values[picked] for picked in release.indices)
        close += mass if most < reach else 0
    assert close >= level
    assert reach > 0


def test_what_a_terminal_or_a_file_cannot_hold_is_written_out(tmp_path: Path, capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{patient},\x1b[31mred\n" for patient in range(100))
    Path("odd.csv").write_text(f"patient,word\n{rows}", encoding="utf-8")
    Path("words.txt").write_text("\x1b[31mred\nblue\n", encoding="utf-8")
    assert run("top odd.csv --by word --unit patient --domain words.txt -k 1 --epsilon 9") == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\\x1b[31mred" in shown
