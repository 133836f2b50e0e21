"""Read the mutants that the .toml files of this folder declare, and check that they fit the code."""

from __future__ import annotations

import ast
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
TREE = FOLDER.parent.parent


@dataclass(frozen=True)
class Mutant:
    """One fault: in `file`, `old` becomes `new`. The tests must notice, unless `survives` says why they cannot."""

    room: str
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""

    def apply(self, tree: Path) -> str:
        """Return the text of the file with the fault."""
        return (tree / self.file).read_text().replace(self.old, self.new)

    def misfits(self, tree: Path) -> list[str]:
        """Return why this mutant does not fit the code in a tree; nothing when it does."""
        path = tree / self.file
        if not path.exists():
            return [f"there is no {self.file}"]
        times = path.read_text().count(self.old)
        wrong = [f"`old` occurs {times} times in {self.file}, and must occur once"] if times != 1 else []
        if self.old == self.new:
            wrong.append("`old` and `new` are equal")
        if not self.tests:
            wrong.append("no tests are named")
        wrong += [f"there is no test {test}" for test in self.tests if not _exists(tree, test)]
        if not wrong and path.suffix == ".py":
            try:
                ast.parse(self.apply(tree))
            except SyntaxError as error:
                wrong.append(f"the changed file is not Python: {error}")
        return wrong


def rooms(folder: Path = FOLDER) -> list[str]:
    """Return the names of the files that declare mutants."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def changed_files(tree: Path = TREE) -> set[str]:
    """Return the files that differ from the last commit, or are new; nothing where git does not know the tree."""
    files: set[str] = set()
    for arguments in (("diff", "--name-only", "HEAD"), ("ls-files", "--others", "--exclude-standard")):
        done = subprocess.run(("git", "-C", str(tree), *arguments), capture_output=True, text=True)
        files.update(done.stdout.splitlines() if done.returncode == 0 else ())
    return files


def read_mutants(room: str, folder: Path = FOLDER) -> list[Mutant]:
    """Return the mutants of one room, in the order of its file."""
    entries = tomllib.loads((folder / f"{room}.toml").read_text())["mutant"]
    return [Mutant(room=room, **{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]


def _exists(tree: Path, test: str) -> bool:
    """Whether a test is there: the name of a file, then perhaps :: and the name of a function."""
    name, _, function = test.partition("::")
    path = tree / name
    if not path.exists():
        return False
    return not function or f"def {function.split('[')[0].rpartition('::')[2]}(" in path.read_text()
