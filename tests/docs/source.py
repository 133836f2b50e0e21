"""The files of lastbit as trees: parsed once for all the tests that read them."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src/lastbit"


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def modules(*rooms: str) -> list[tuple[str, ast.Module]]:
    """The files of rooms, or of all of lastbit, by their path in src/lastbit, as trees."""
    files = [path for room in rooms or ("",) for path in sorted((SOURCE / room).rglob("*.py"))]
    assert files
    return [(path.relative_to(SOURCE).as_posix(), parse(path)) for path in files]


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Everything in a file, at any depth."""
    return tuple(ast.walk(tree))
