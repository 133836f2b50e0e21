"""The mechanism that CONTRIBUTING.md adds step by step: its code, copied out of the page, runs and passes its tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests import processes

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

# The new module becomes part of lastbit.mechanisms, and its names become public, for one process only.
PLACE = """
import pathlib
import lastbit, lastbit.mechanisms
from lastbit.public_names import find_homes
lastbit.mechanisms.__path__.append(str(pathlib.Path(__file__).parent))
homes = find_homes("lastbit")
homes |= dict.fromkeys(["RandomizedResponse", "Responses"], "lastbit.mechanisms.randomized_response")
"""

GUARANTEES = """
from tools.pages import guarantees
from tools.pages.guarantees import _BIT, Fraction, Instance
ENTRY = {{
{entry}
}}
def test_the_guarantees_hold():
    from lastbit import audit, RandomizedResponse
    for each in ENTRY["RandomizedResponse"]:
        assert audit.check_all(RandomizedResponse(**each.parameters), each.values, each.tolerance).holds
    assert guarantees.headings_of(RandomizedResponse).keys() == {{*guarantees.HEADINGS}}
"""


def block(start: str) -> str:
    """The one block of code on the page that starts like this."""
    (found,) = (each for each in re.findall(r"```[a-z]*\n(.*?)```", PAGE, re.DOTALL) if each.startswith(start))
    return found


def run(folder: Path, *command: str) -> str:
    path = [str(ROOT), str(ROOT / "src")]
    done = processes.run(
        [sys.executable, *command],
        cwd=folder,
        variables={"PYTHONPATH": ":".join(path), "PYTHONDONTWRITEBYTECODE": "1"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_code_of_the_page_runs_and_passes_its_tests(tmp_path: Path) -> None:
    (tmp_path / "randomized_response.py").write_text(block('"""Randomized response: each'), encoding="utf-8")
    (tmp_path / "test_law.py").write_text(block('"""Randomized response, exactly'), encoding="utf-8")
    (tmp_path / "conftest.py").write_text(PLACE, encoding="utf-8")
    entry = block('    "RandomizedResponse": [\n')
    (tmp_path / "test_guarantees.py").write_text(GUARANTEES.format(entry=entry), encoding="utf-8")
    said = run(tmp_path, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.", "--doctest-modules", ".")
    assert re.search(r"\b22 passed", said), said


def test_the_auditor_says_what_the_page_shows(tmp_path: Path) -> None:
    (tmp_path / "randomized_response.py").write_text(block('"""Randomized response: each'), encoding="utf-8")
    command = block(".venv/bin/lastbit audit").split()[1:]
    program = f"{PLACE}\nfrom lastbit.cli import main\nmain()"
    (tmp_path / "place.py").write_text(program, encoding="utf-8")
    assert run(tmp_path, "place.py", *command) == block("lastbit: following")


def test_the_files_and_commands_that_the_page_names_are_there() -> None:
    for name in re.findall(r"\]\(([\w/.]+)\)", PAGE):
        assert (ROOT / name).exists(), name
    targets = re.findall(r"^([a-z]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"^\| `make (\w+)`", PAGE, re.MULTILINE)) == {*targets} - {"help"}
