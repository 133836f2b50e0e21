"""What docs/architecture.md claims of the structure, read off the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.mechanisms.mechanism import Mechanism

SOURCE = Path(lb.__file__).parent
MADE_OF_OTHERS = {"PrivateSearch": "PrivateSelection", "GroupQuantiles": "Quantiles"}
"""Mechanisms that are made of another one."""


def imports(path: Path) -> set[str]:
    """The names that a file imports, at any depth, but for those that only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    return {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom | ast.Import) and node not in hidden
        for alias in node.names
    }


def test_mechanisms_do_not_import_each_other() -> None:
    public = {
        name: kind
        for name in lb.__all__
        if isinstance(kind := getattr(lb, name), type) and issubclass(kind, Mechanism) and not kind.__abstractmethods__
    }
    assert len(public) > 10
    for name, kind in public.items():
        path = SOURCE.joinpath(*kind.__module__.split(".")[1:]).with_suffix(".py")
        others = imports(path) & public.keys() - {name}
        assert others <= {MADE_OF_OTHERS.get(name)}, f"{name} imports {others}"


@pytest.mark.parametrize("room", ["questions", "web"])
def test_only_the_command_knows_the_library_of_the_command_line(room: str) -> None:
    files = list((SOURCE / room).rglob("*.py"))
    assert files
    for path in files:
        assert not {"typer", "click"} & imports(path), path


def test_one_encoder_and_one_decoder_of_options() -> None:
    """No face names an option's values: the two words of bounds are counted by their type."""
    for room in ("questions", "web", "cli", "ledger"):
        for path in (SOURCE / room).rglob("*.py"):
            assert '("bounds", "bin")' not in path.read_text(encoding="utf-8"), path
