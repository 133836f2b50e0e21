"""`lastbit audit`, as a person calls it."""

import json
import math
import re
import shlex
from fractions import Fraction
from pathlib import Path

import pytest
from typer.testing import CliRunner

import lastbit as lb
from lastbit import cli
from lastbit.audit import verdict
from lastbit.audit.broken.gallery import GALLERY
from lastbit.audit.losses import Loss
from lastbit.cli.app import make_app
from lastbit.cli.catalog import COMMANDS
from lastbit.cli.verdicts import Unit
from tests.clock import Clock

application = make_app(command for command in COMMANDS if command.words == ("audit",))


def run(*arguments):
    return CliRunner().invoke(application, ["audit", *arguments])


def test_a_mechanism_on_two_values(tmp_path):
    picture = tmp_path / "laws.png"
    found = run(
        "DiscreteLaplace", "--set", "eta=1,1,1", "--values", "3", "--neighbour", "4",
        "--tolerance", "1/1000", "--plot", str(picture), "--table",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    first, second, *_ = found.stdout.splitlines()  # the verdict comes first
    assert first.startswith(
        "holds: loss at least 0.687304 nats; claimed 0.693147 nats, which holds but for a probability"
    )
    assert second == "20 outcomes on 20 branches, unexplored 0.000977"
    assert "value=3" in found.output
    assert "0.333333" in found.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_violation_is_an_exit_code():
    found = run("DiscreteLaplace", "--set", "epsilon=1", "--values", "0", "--neighbour", "2")
    assert found.exit_code == 1
    assert found.stdout.startswith(
        "violated: loss from 1.99999 to 2 nats but for a probability of 6.91e-07; claimed 1 nats; witness"
    )
    assert "probability  " not in found.stdout  # the table only on request


def test_a_claimed_rho_and_a_claimed_delta(tmp_path):
    swapped = ("NoisyMax", "--set", "eta=1,1,2", "--set", "resolution=1", "--values", "0,1", "--neighbour", "1,0")
    eighth = run(*swapped, "--tolerance", "1e-4", "--rho", "0.2403")
    assert eighth.exit_code == 1
    assert "violated: divergence at alpha 1.00000" in eighth.output
    assert "; claimed rho 0.2403; witness " in eighth.output
    assert run(*swapped, "--tolerance", "1e-4", "--rho", "0.84").exit_code == 0
    picture = tmp_path / "profile.png"
    far = ("DiscreteLaplace", "--set", "eta=1,1,1", "--values", "0", "--neighbour", "2", "--tolerance", "1e-4")
    short = run(*far, "--eta", "1,1,1", "--delta", "0.3", "--profile", str(picture))
    assert short.exit_code == 1
    assert "violated: delta at least 0.333" in short.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run(*far, "--eta", "1,1,1", "--delta", "0.334").exit_code == 0
    # Beside an epsilon that holds, a rho is a claim of its own; with --all too, for every neighbour.
    assert run(*far, "--eta", "1,1,2", "--rho", "1").exit_code == 0
    assert run(*far, "--eta", "1,1,2", "--rho", "1/2").exit_code == 1
    everyone = ("DiscreteLaplace", "--set", "eta=1,1,1", "--values", "0", "--all", "--tolerance", "1e-4")
    assert run(*everyone).exit_code == 0
    assert run(*everyone, "--rho", "1/10").exit_code == 1


def test_too_little_time_is_another():
    found = run(
        "DiscreteLaplace", "--set", "epsilon=1/10", "--values", "0,0,0", "--neighbour", "1,0,0", "--seconds", "0.05"
    )
    assert found.exit_code == 4
    assert found.stdout.startswith("undecided: loss ")
    assert "To go on longer: --seconds 0.5" in found.stderr


def test_all_neighbours():
    found = run("NoisyMax", "--set", "epsilon=1", "--set", "resolution=1", "--values", "0,1", "--all",
                "--tolerance", "1/500")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("holds on 8 neighbours\nworst, on ")


PROGRAMS = """
def program(draw):
    return draw.integer(4)

def other(draw):
    return draw.index([1, 1, 1, 3])

def on_values(values, draw):
    return values[0] + draw.integer(2)
"""


def test_a_program_of_ones_own(tmp_path):
    file = tmp_path / "mymechanism.py"
    file.write_text(PROGRAMS)
    alone = run(f"{file}:program")
    assert alone.exit_code == 0
    assert "4 outcomes on 4 branches, every branch explored" in alone.output
    assert "1/4" in alone.output
    assert "no cost was claimed" in run(f"{file}:program", "--neighbour", "other").output
    assert run(f"{file}:program", "--neighbour", "other", "--epsilon", "0.7").exit_code == 0
    assert run(f"{file}:program", "--neighbour", "other", "--eta", "1,1,1").exit_code == 0
    assert run(f"{file}:program", "--neighbour", "other", "--epsilon", "0.6").exit_code == 1
    shifted = run(f"{file}:on_values", "--values", "0", "--neighbour", "1", "--epsilon", "5")
    assert shifted.exit_code == 1
    assert "loss at least ∞ nats" in shifted.output


def test_what_cannot_be_audited_says_why(tmp_path):
    file = tmp_path / "mymechanism.py"
    file.write_text(PROGRAMS)
    broken = tmp_path / "broken.py"
    broken.write_text("1 / 0")
    for arguments, message in {
        (): "audit needs a mechanism",
        ("Nothing",): "there is no mechanism named Nothing. Use one of ",
        ("DiscreteLaplace", "--set", "epsilon"): "--set must be NAME=VALUE",
        ("DiscreteLaplace", "--set", "k=2"): "DiscreteLaplace has the parameters epsilon",
        ("DiscreteLaplace", "--values", "1"): "DiscreteLaplace needs epsilon: add --set epsilon=1.",
        ("DiscreteLaplace", "--set", "epsilon=1", "--set", "rho=1"): "exactly one of epsilon, eta and rho",
        ("NoisyTopK", "--set", "epsilon=1"): "NoisyTopK needs k: add --set k=NUMBER.",
        ("SparseVector",): "SparseVector needs threshold, limit and epsilon: add --set threshold=NUMBER --set limit=NU",
        ("SparseVector", "--set", "limit=1", "--set", "rho=1"): "SparseVector needs threshold: add --set threshold=NUM",
        ("Snapping", "--set", "epsilon=1"): "Snapping needs bounds: add --set bounds=LOW,HIGH.",
        ("PrivateSelection",): "PrivateSelection needs candidate_cost and most: add --set candidate_cost=NUMBER --set ",
        ("PrivateSearch",): "needs fit_score, which no option can state. Write a program",
        ("DiscreteLaplace", "--unit", "shannon"): "--unit must be bits or nats: got shannon.",
        ("DiscreteLaplace", "--set", "epsilon=1", "--values", "1", "--seconds", "-1"): "seconds must be a number from",
        (
            "DiscreteLaplace",
            "--set",
            "epsilon=1",
            "--values",
            "1",
            "--all",
            "--table",
        ): "Leave out --neighbour, --table",
        ("DiscreteLaplace", "--set", "epsilon=1"): "needs --values",
        ("DiscreteLaplace", "--set", "epsilon=1", "--all"): "--all needs",
        (f"{file}:nothing",): "no program named nothing",
        (f"{file}:on_values",): "pass --values",
        (f"{file}:program", "--all"): "--all needs a mechanism, of lastbit or your own",
        (f"{file}:program", "--set", "k=1"): "--set is for mechanisms of lastbit",
        (str(file),): "must be given as FILE.py:PROGRAM",
        ("nowhere.py:program",): "no file nowhere.py",
        (f"{broken}:program",): "does not run: ZeroDivisionError",
        (f"{file}:program", "--neighbour", "other", "--eta", "1,1"): "eta must be X,Y,Z",
        (f"{file}:program", "--neighbour", "other", "--delta", "0.1"): "--delta needs --epsilon, --eta or --rho",
        (f"{file}:program", "--profile", "profile.png"): "--profile compares two laws",
    }.items():
        found = run(*arguments)
        assert found.exit_code == 1
        assert message in str(found.exception), (arguments, found.exception)


@pytest.mark.xdist_group("gallery")
@pytest.mark.usefixtures("laws_once")
def test_the_gallery_is_one_table():
    found = run("--gallery")
    assert found.exit_code == 0
    assert "sparse vector, variant 6" in found.output
    assert "retry timing" in found.output
    assert found.output.count("(violated)") == found.output.count("(holds)") > 12
    assert f"{len(GALLERY)} of {len(GALLERY)}: " in found.stderr
    assert " bits (" not in found.stdout.partition("\n\n")[0]
    assert " nats (violated)" in found.stdout


def test_one_unit_and_json():
    shifted = ("DiscreteLaplace", "--set", "eta=1,1,1", "--values", "0", "--neighbour", "2", "--tolerance", "1e-4")
    assert run(*shifted, "--unit", "bits").stdout.splitlines()[0] == (
        "violated: loss from 1.99859 to 2.00001 bits but for a probability of 0.000814; claimed 1 bits; witness value=0"
    )
    found = run(*shifted, "--unit", "bits", "--json", "--table")
    assert found.exit_code == 1
    answer = json.loads(found.stdout)
    assert (answer["verdict"], answer["unit"]) == ("violated", "bits")
    assert answer["loss"]["at_least"] == pytest.approx(1.99859, abs=1e-5)
    assert answer["claimed"] == {"epsilon": pytest.approx(1), "rho": None, "delta": 0.0, "text": "eta (1, 1, 1)"}
    assert answer["law"][0] == {
        "outcome": "value=0",
        "probability": pytest.approx(1 / 3),
        "exact": {"probability": "1/3"},
    }
    assert answer["neighbour_law"][0]["outcome"] == "value=2"
    nats = json.loads(run(*shifted, "--json").stdout)
    assert nats["loss"]["at_least"] == pytest.approx(1.99859 * math.log(2), abs=1e-5)
    assert "law" not in nats
    with pytest.raises(lb.ParameterError, match="bits or nats"):
        Unit("bit")


def test_json_has_no_infinity(tmp_path):
    file = tmp_path / "mymechanism.py"
    file.write_text(PROGRAMS)
    shifted = run(f"{file}:on_values", "--values", "0", "--neighbour", "1", "--epsilon", "5", "--json")
    answer = json.loads(shifted.stdout, parse_constant=lambda name: pytest.fail(name))
    assert answer["verdict"] == "violated"
    assert answer["loss"] == {"at_least": None, "at_most": None, "but_for": 0.0}
    alone = json.loads(run(f"{file}:program", "--json").stdout)
    assert alone["verdict"] is None
    assert [each["exact"]["probability"] for each in alone["law"]] == ["1/4"] * 4


def test_an_open_question_with_all_neighbours_is_exit_code_4(monkeypatch):
    """No time for a neighbour is no acquittal, and no more neighbours are tried than there is time for."""
    everyone = ("DiscreteLaplace", "--set", "epsilon=1", "--values", "0,0,0", "--all", "--tolerance", "1e-3")
    Clock(monkeypatch)
    found = run(*everyone, "--seconds", "0.05")
    assert found.exit_code == 4
    assert found.stdout.startswith("undecided on ")
    assert "To go on longer: --seconds 0.5." in found.stderr
    assert json.loads(run(*everyone, "--seconds", "0.05", "--json").stdout)["verdict"] == "undecided"
    # All that were tried hold, and more are there than are ever tried.
    monkeypatch.setattr(verdict, "MOST_NEIGHBOURS", 1)
    one = ("DiscreteLaplace", "--set", "eta=1,1,1", "--values", "0", "--all", "--tolerance", "1e-3", "--seconds", "9")
    found = run(*one)
    assert found.exit_code == 4
    assert found.stdout.startswith("undecided on 1 neighbour (there was no time for the others)\nworst, on -1: holds: ")
    monkeypatch.setattr(verdict, "MOST_NEIGHBOURS", 2)
    assert run(*one).exit_code == 0


def test_a_private_selection():
    """Each value is a coin; its cost is that of the selection, 3 candidates; the loss is that of the listed law."""
    asked = ("PrivateSelection", "--set", "candidate_cost=1", "--set", "most=2", "--values", "0", "--neighbour", "1")
    found = run(*asked, "--tolerance", "0", "--table")
    assert found.exit_code == 0, found.output
    assert "; claimed 3 nats" in found.stdout
    # By the definition: one or two rounds, each as likely; the best of two coins is 0 where both are.
    rate = lb.Rate.from_epsilon(1).fraction
    best = {value: (1 - p + (1 - p) ** 2) / 2 for value, p in ((0, rate / 2), (1, Fraction(1, 2)))}
    laws = json.loads(run(*asked, "--tolerance", "0", "--table", "--json").stdout)
    for name, value in (("law", 0), ("neighbour_law", 1)):
        masses = {law["outcome"][-1]: Fraction(law["exact"]["probability"]) for law in laws[name]}
        assert masses == {"0": best[value], "1": 1 - best[value]}
    loss = max(abs(math.log(best[0] / best[1])), abs(math.log((1 - best[0]) / (1 - best[1]))))
    assert laws["loss"]["at_least"] == pytest.approx(loss)
    everyone = run(*asked[:5], "--values", "0,1", "--all", "--tolerance", "0")
    assert everyone.exit_code == 0
    assert everyone.stdout.startswith("holds on 3 neighbours")
    assert run(*asked, "--tolerance", "0", "--epsilon", f"{loss * 1.001}").exit_code == 0
    assert run(*asked, "--tolerance", "0", "--epsilon", f"{loss * 0.999}").exit_code == 1


OWN = """
from __future__ import annotations
from dataclasses import dataclass
import beside
import lastbit as lb

@dataclass
class Setting:
    sides: int = 2

mine = lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1))

def coins(values):
    return [lambda draw, each=each: ("coin", each * draw.integer(Setting().sides) + beside.nothing) for each in values]
"""


def test_a_mechanism_and_candidates_of_ones_own(tmp_path):
    (tmp_path / "beside.py").write_text("nothing = 0")
    file = tmp_path / "own.py"
    file.write_text(OWN)
    assert run(f"{file}:mine", "--values", "0", "--all", "--tolerance", "1e-3").stdout.startswith(
        "holds on 2 neighbours"
    )
    selection = (
        "PrivateSelection",
        "--set",
        "most=2",
        "--set",
        "candidate_cost=1",
        "--set",
        f"candidates={file}:coins",
    )
    found = run(*selection, "--values", "0", "--neighbour", "1")
    assert found.exit_code == 1
    assert "loss at least ∞ nats" in found.stdout
    assert run(*selection, "--values", "1", "--neighbour", "1").exit_code == 0


def test_progress_where_there_is_no_terminal(monkeypatch, capsys):
    Clock(monkeypatch)  # a look takes a millisecond, and every branch takes a look
    command = "audit DiscreteLaplace --set epsilon=1/10 --values 0,0,0 --neighbour 1,0,0 --seconds 21 --json"
    assert cli._run(shlex.split(command), debug=False) == 4
    shown = capsys.readouterr()
    first, *lines = shown.err.splitlines()
    assert first == "lastbit: following the branches of DiscreteLaplace, for at most 21 s (--seconds)"
    assert len([line for line in lines if line.startswith("lastbit: explored ")]) == 4  # after 1 and 6 seconds, twice
    assert json.loads(shown.out)["verdict"] == "undecided"
    # A library's user who has no terminal hears nothing.
    lb.audit.law(lb.DiscreteLaplace(epsilon="1/10").program([0, 0, 0]), seconds=3)
    assert capsys.readouterr().err == ""


def test_what_the_page_and_the_help_say_runs_as_written(tmp_path, monkeypatch, capsys):
    page = (Path(__file__).parents[2] / "docs" / "auditing.md").read_text(encoding="utf-8")
    shown = "audit DiscreteLaplace --set epsilon=1 --values 0 --neighbour 2"
    assert cli._run(shlex.split(shown), debug=False) == 1
    assert capsys.readouterr().out == (
        "violated: loss from 1.99999 to 2 nats but for a probability of 6.91e-07; claimed 1 nats; witness value=0\n"
        "84 branches followed, 7.59e-10 of the probability unexplored\n"
    )
    assert cli._run(["audit", "--help"], debug=False) == 0
    help_text = capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mymechanism.py").write_text(PROGRAMS)
    codes = {}
    for command in re.findall(r"^ *lastbit (audit .+)$", page + help_text, re.MULTILINE):
        if "--gallery" not in command:  # another test runs it
            codes[command] = cli._run(shlex.split(command), debug=False)
            assert capsys.readouterr().out.startswith(("holds", "violated"))
    assert len(codes) >= 6
    assert set(codes.values()) == {0, 1}
    assert (tmp_path / "profile.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("unit", ["nats", "bits"])
def test_the_bounds_that_people_read_are_bounds(unit):
    """Rounded to the nearest, a bound of 0.6931474 would be read as 0.693147, and would be none."""
    exact = {"nats": Fraction(1), "bits": 1 / Fraction(math.log(2))}[unit]
    for lower, upper in ((0.6931476, 0.6931474), (2 / 3, 1 / 3), (1e-9 / 3, 1e9 / 3), (math.log(8), math.log(8))):
        loss = Loss(lower, upper, None, Fraction(2, 3))
        line = Unit(unit).loss(loss)
        low, high, apart = re.fullmatch(
            rf"loss from (\S+) to (\S+) {unit} but for a probability of (\S+)", line
        ).groups()
        assert Fraction(low) <= Fraction(lower) * exact
        assert Fraction(high) >= Fraction(upper) * exact
        assert Fraction(apart) >= Fraction(2, 3)
        told = Unit(unit).loss_data(loss)["loss"]
        assert told["at_least"] <= Fraction(lower) * exact
        assert told["at_most"] >= Fraction(upper) * exact
        read = re.match(r"loss from (\S+) to (\S+) nats", str(loss)).groups()
        assert Fraction(read[0]) <= Fraction(lower)
        assert Fraction(read[1]) >= Fraction(upper)
    tiny = Loss(0.0, 1.0, None, Fraction(1, 10**400))
    assert "1e-400" in str(tiny)
