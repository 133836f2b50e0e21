"""Pages that say how the code is laid out say what is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from tests.schedule import LONGEST

ROOT = Path(__file__).parents[2]


def test_the_layers_of_the_architecture_page_are_the_lint_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    layers = [layer.replace("lastbit.", "").replace(" | ", ", ") for layer in contract["layers"]]
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- layers -->\n```\n(.*?)\n```", page, re.DOTALL)
    assert shown is not None
    assert shown[1].split("\n") == layers


def test_every_room_is_on_the_architecture_page_and_in_the_contract() -> None:
    rooms = {path.name for path in (ROOT / "src/lastbit").iterdir() if (path / "__init__.py").exists()}
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    tree = page.split("```")[1]
    assert rooms == set(re.findall(r"^(\w+)/", tree, re.MULTILINE))
    contract = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"lastbit.{room}" in contract for room in rooms)


def test_the_folders_that_the_page_of_tests_names_are_there() -> None:
    page = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(\w+)/`", page):
        assert (ROOT / "tests" / name).is_dir(), name


def test_the_page_of_tests_names_every_folder() -> None:
    page = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert {name for name in folders if f"`{name}/" not in page} == set()


def test_the_files_and_groups_that_start_first_are_there() -> None:
    files = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py") if path.name != "schedule.py"]
    for name in LONGEST:
        assert (ROOT / name).is_file() or any(f'xdist_group("{name}")' in text for text in files), name
