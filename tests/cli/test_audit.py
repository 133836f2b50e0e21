"""`lastbit audit`, as a person calls it."""

import typer
from typer.testing import CliRunner

from lastbit.cli.audit import register

application = typer.Typer()
register(application)


@application.command("other")
def other() -> None:
    """A second command, so that the first is named."""


def run(*arguments):
    return CliRunner().invoke(application, ["audit", *arguments])


def test_a_mechanism_on_two_values(tmp_path):
    picture = tmp_path / "laws.png"
    found = run(
        "DiscreteLaplace", "--set", "eta=1,1,1", "--values", "3", "--neighbour", "4",
        "--tolerance", "1/1000", "--plot", str(picture),
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert "value=3" in found.output
    assert "0.333333" in found.output
    assert "holds: loss from" in found.output
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_violation_is_an_exit_code():
    found = run("DiscreteLaplace", "--set", "epsilon=1", "--values", "0", "--neighbour", "2")
    assert found.exit_code == 1
    assert "violated" in found.output
    assert "witness value=" in found.output


def test_a_claimed_rho_and_a_claimed_delta(tmp_path):
    swapped = ("NoisyMax", "--set", "eta=1,1,2", "--set", "resolution=1", "--values", "0,1", "--neighbour", "1,0")
    eighth = run(*swapped, "--tolerance", "1e-4", "--rho", "0.2403")
    assert eighth.exit_code == 1
    assert "violated: divergence at alpha 1.00000" in eighth.output
    assert "cost rho 2403/10000" in eighth.output
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
    assert "undecided" in found.output


def test_all_neighbours():
    found = run("NoisyMax", "--set", "epsilon=1", "--set", "resolution=1", "--values", "0,1", "--all",
                "--tolerance", "1/500")  # fmt: skip
    assert found.exit_code == 0, found.output
    assert found.output.startswith("8 neighbours, worst holds")


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
    assert "loss from inf" in shifted.output


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
        ("DiscreteLaplace", "--values", "1"): "exactly one of epsilon, eta and rho",
        ("NoisyTopK", "--set", "epsilon=1"): "NoisyTopK needs more parameters",
        ("DiscreteLaplace", "--set", "epsilon=1"): "needs --values",
        ("DiscreteLaplace", "--set", "epsilon=1", "--all"): "--all needs",
        (f"{file}:nothing",): "no program named nothing",
        (f"{file}:on_values",): "pass --values",
        (f"{file}:program", "--all"): "--all needs a mechanism of lastbit",
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


def test_the_gallery_is_one_table():
    found = run("--gallery")
    assert found.exit_code == 0
    assert "sparse vector, variant 6" in found.output
    assert "retry timing" in found.output
    assert found.output.count("(violated)") == found.output.count("(holds)") > 12
