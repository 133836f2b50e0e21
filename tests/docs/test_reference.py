"""The generated reference has every public name, every member, every command and every error."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import FunctionType

import pytest

import lastbit as lb
from lastbit._outcomes import Compared
from tests import processes
from tools.pages import reference
from tools.pages.commands import helps

PAGES = reference.pages()
EVERYTHING = "\n".join(PAGES.values())


def public_names(path: Path) -> list[str]:
    """`__all__` of a module, read as text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    (found,) = (
        each.value
        for each in tree.body
        if isinstance(each, ast.Assign) and getattr(each.targets[0], "id", "") == "__all__"
    )
    return [ast.literal_eval(name) for name in found.elts]  # type: ignore[attr-defined]


TWICE = ("compare",)
"""Names that a room has of its own, beside the library's."""


@pytest.mark.parametrize("room", ["", "audit", "estimate", "ledger"])
def test_every_public_name_has_an_entry(room: str) -> None:
    home = Path(lb.__file__).parent
    stub = home / room / "__init__.pyi"
    names = public_names(stub if stub.exists() else home / room / "__init__.py")
    assert names
    for name in names:
        if name in ("audit", "estimate", "ledger", "papers"):
            continue
        # A name of a room may be one of the library too.
        entry = rf"::\{{py:\w+\}} lastbit\.{f'{room}.' if name in TWICE and room else ''}(?:{room}\.)?{name}\b"
        assert len(re.findall(entry, EVERYTHING)) == 1, name


def test_every_function_of_the_papers_has_an_entry() -> None:
    for name in (
        "snapping.noise_epsilon",
        "sparse_vector.disc_sv",
        "base2_exponential.randomized_round",
        "errata.Erratum",
    ):
        assert len(re.findall(rf"::\{{py:\w+\}} lastbit\.papers\.{name}\b", PAGES["papers"])) == 1


def test_every_public_name_has_an_example() -> None:
    rooms, in_spark = (
        {"audit", "estimate", "ledger", "papers"},
        {"SparkCounts", "SparkHistogram", "TopItems", "TopSetItems"},
    )
    for name in {*lb.__all__} - rooms - in_spark:
        assert ">>> " in (getattr(lb, name).__doc__ or ""), name


def test_every_documented_member_has_an_entry_on_its_class_or_a_base() -> None:
    for name in lb.__all__:
        each = getattr(lb, name)
        if not isinstance(each, type):
            continue
        homes = [base for base in each.__mro__ if base.__name__ in lb.__all__]
        shown = {member for base in homes for member in reference.members(base)}
        kinds = (property, classmethod, staticmethod, FunctionType)
        ours = [base for base in each.__mro__ if base.__module__.startswith("lastbit.") and base is not Compared]
        public = {
            member
            for base in ours
            for member, value in vars(base).items()
            if not member.startswith("_") and isinstance(value, kinds)
        }
        assert public <= shown, name


def test_every_command_is_there_as_it_prints_itself() -> None:
    printed = processes.run(
        [sys.executable, "-m", "lastbit", "--help"],
        check=True,
        capture_output=True,
        text=True,
        variables={"COLUMNS": "100"},
    ).stdout
    listed = printed.partition("Commands:")[2].partition("\n\n")[0]
    named = re.findall(r"^  (\w+)  +\S", listed, re.MULTILINE)
    assert len(named) > 10
    assert "..." not in listed  # no line of the list is cut off
    assert {name.split()[1] for name in helps() if name.count(" ") == 1} == {*named}
    for name, text in helps().items():
        assert f"## {name}\n\n```text\n{text.rstrip()}\n```" in PAGES["commands"]
        assert text.startswith(f"Usage: {name} "), name


def test_every_error_says_what_to_do() -> None:
    tree = ast.parse(Path(lb.errors.__file__).read_text(encoding="utf-8"))
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef)]
    assert len(classes) == PAGES["errors"].count("{py:exception} lastbit.")
    for each in classes:
        entry = PAGES["errors"].partition(f"{{py:exception}} lastbit.{each.name}\n")[2].partition("\n::::::\n")[0]
        assert "- **To do**: " in entry, each.name


def test_a_docstring_becomes_markdown() -> None:
    text = "Pick a*b.\n\nLaw:      one\n          two_three.\nCost:     `x*y`.\n\n>>> 1\n1\n\n>>> 2\n2"
    assert reference.markdown(text) == (
        "Pick a\\*b.\n\n- **Law**: one two\\_three.\n- **Cost**: `x*y`.\n\n```python\n>>> 1\n1\n\n>>> 2\n2\n```"
    )
