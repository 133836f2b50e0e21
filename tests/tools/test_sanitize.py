"""The sanitizers run tests that drive each compiled module: one that somebody adds comes with its tests."""

import re
from pathlib import Path

import pytest

from tools.sanitize import EVERY, TESTS, TREE

MODULES = sorted(path.relative_to(TREE / "src").as_posix() for path in TREE.glob("src/**/*.pyx"))


@pytest.mark.parametrize("module", MODULES)
def test_a_compiled_module_is_driven_by_tests_that_name_it_or_what_imports_it(module: str) -> None:
    name = Path(module).stem
    imported = re.compile(rf"import.*\b{name}\b|\b{name} import")
    users = [path.stem for path in TREE.glob("src/**/*.py") if imported.search(path.read_text())]
    texts = [(TREE / test).read_text() for test in TESTS]
    driven = rf"lastbit.*\b({'|'.join([name, *users])})\b"
    assert any(re.search(driven, text) for text in texts), f"add tests of {module} to tools/sanitize.py"


def test_the_tests_are_there() -> None:
    assert [test for test in [*TESTS, *EVERY] if not (TREE / test).exists()] == []
