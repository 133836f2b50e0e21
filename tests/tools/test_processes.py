"""No test hands its own environment on to a program that it starts."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from tests import processes

ROOT = Path(__file__).parents[2]
FILES = sorted({*(ROOT / "tests").rglob("*.py"), ROOT / "conftest.py"} - {ROOT / "tests" / "processes.py"})
STARTERS = {
    "subprocess": ("run", "Popen", "call", "check_call", "check_output", "getoutput", "getstatusoutput"),
    "os": ("system", "popen", "exec", "spawn", "posix_spawn"),
    "asyncio": ("create_subprocess",),
}


def starts(source: str) -> list[str]:
    """The names of functions that start a program, as this source calls or imports them."""
    names = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
                names.append((module, name))
            case ast.ImportFrom(module=str(module), names=aliases):
                names += [(module, alias.name) for alias in aliases]
    return [f"{module}.{name}" for module, name in names if name.startswith(STARTERS.get(module, ()))]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("subprocess.run(['true'])", ["subprocess.run"]),
        ("with subprocess.Popen(['true'], env={**os.environ}): pass", ["subprocess.Popen"]),
        ("from subprocess import check_output as other", ["subprocess.check_output"]),
        ("os.system('true'); os.execve('true', [], {})", ["os.system", "os.execve"]),
        ("def f() -> subprocess.Popen[str]: return processes.start(['true'], stdout=subprocess.PIPE)", []),
    ],
)
def test_a_start_is_found(source: str, found: list[str]) -> None:
    assert starts(source) == found


def test_all_programs_are_started_by_one_module() -> None:
    assert len(FILES) > 100
    assert {str(file.relative_to(ROOT)): names for file in FILES if (names := starts(file.read_text("utf-8")))} == {}


def test_a_program_sees_what_it_needs_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    monkeypatch.setenv("LASTBIT_CORES", "1")
    program = "import os; print(*os.environ)"
    done = processes.run([sys.executable, "-c", program], variables={"MORE": "1"}, capture_output=True, text=True)
    by_python_itself = {"LC_CTYPE"}  # where no locale is named
    assert {*done.stdout.split()} - by_python_itself <= {*processes.NEEDED, *processes.TOOLS, "MORE"}
    assert {"PATH", "MORE"} <= {*done.stdout.split()}
