"""A copy of the tree, in which one fault at a time is made, tried and mended."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from tools.mutants.declared import TREE, Mutant
from tools.mutants.fork import run_pytest

PATIENCE = 1800
"""Seconds until tests that do not end count as having noticed: a fault may make a loop endless."""

_COMPILED = TREE / "build" / "mutants"
"""Compiled modules by the digest of their sources, because compiling takes longer than most tests."""
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", "build", "*.egg-info", "__pycache__", ".*_cache", ".hypothesis", "*.c"
)
_TICKS = count(int(time.time()))


@dataclass(frozen=True)
class Run:
    """Whether some test failed, and all that pytest printed."""

    failed: bool
    text: str

    @property
    def by(self) -> str:
        """The test that failed, without its parameters; or what was printed last, where no test could end."""
        failure = re.search(r"^(?:FAILED|ERROR) ([^\s\[]+)", self.text, re.MULTILINE)
        return failure[1] if failure else self.text.strip().rpartition("\n")[2]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: killed, survived, or no code (a module that does not compile shows nothing)."""

    kind: str
    seconds: float
    by: str = ""
    """The test that noticed."""


class Workshop:
    """A scratch copy with its compiled modules; tests that run in it import lastbit from it."""

    def __init__(self, tree: Path) -> None:
        self._scratch = Path(tempfile.mkdtemp(prefix="lastbit-mutants-"))
        self._tree = self._scratch / "tree"
        shutil.copytree(tree, self._tree, ignore=_LEFT_OUT)
        # Plugins that pytest finds by itself take longer to load than most of these tests to run.
        alone = {"PYTHONPATH": str(self._tree / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self._environment = {**os.environ, **alone}

    def try_mutant(self, mutant: Mutant) -> Outcome:
        """Make the fault, run its tests, and mend it."""
        start = time.monotonic()
        path = self._tree / mutant.file
        contents = {file: file.read_bytes() for file in [path, *self._tree.glob("src/**/*.so")]}
        self._write(path, mutant.apply(self._tree).encode())
        try:
            if path.suffix in (".pyx", ".pxd") and not self._compile(mutant, contents):
                return Outcome("no code", time.monotonic() - start)
            result = self.run(mutant.tests)
            return Outcome("killed" if result.failed else "survived", time.monotonic() - start, result.by)
        finally:
            for file, content in contents.items():
                if file.read_bytes() != content:
                    self._write(file, content)

    def run(self, tests: tuple[str, ...] | list[str], patience: float = PATIENCE) -> Run:
        """Run tests until the first one fails."""
        # xdist knows the marks of tests that share a server.
        plugins = ["-p", "xdist", "-p", "no:cacheprovider"]
        output = self._scratch / "output"
        code = run_pytest(["-x", "-q", "-rfE", *plugins, *tests], self._tree, self._environment, output, patience)
        text = output.read_text(errors="replace")
        # 2 is a module that cannot be imported any more, and below 0 the system or our patience ended the process.
        if code > 2:
            raise SystemExit(f"pytest could not run {' '.join(tests)}:\n{text}")
        return Run(failed=code != 0, text=text)

    def __enter__(self) -> Workshop:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._scratch)

    def _compile(self, mutant: Mutant, contents: Mapping[Path, bytes]) -> bool:
        """Compile what the fault changes, or take the modules of an earlier run, and return whether there are any."""
        sources = [file for file in sorted(self._tree.glob("src/**/*.p*")) if file.suffix in (".pyx", ".pxd")]
        texts = [file.read_bytes() for file in (self._tree / "setup.py", *sources)]
        store = _COMPILED / hashlib.sha256(b"\0".join([sys.version.encode(), *texts])).hexdigest()[:32]
        if not store.exists():
            if self._call([sys.executable, "tools/compiled.py", "--of", mutant.file, "-O1"]).returncode:
                return False
            folder = self._scratch / store.name
            changed = (file for file, old in contents.items() if file.suffix == ".so" and file.read_bytes() != old)
            for module in changed:
                (folder / module.relative_to(self._tree)).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(module, folder / module.relative_to(self._tree))
            _COMPILED.mkdir(parents=True, exist_ok=True)
            shutil.move(folder, store)
        for module in store.glob("src/**/*.so"):
            self._write(self._tree / module.relative_to(store), module.read_bytes())
        return True

    def _call(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        piped = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, cwd=self._tree, env=self._environment, text=True, check=False, **piped)

    def _write(self, path: Path, content: bytes) -> None:
        """Write a file with a time that no earlier version had: Python reuses its bytecode by time and size.

        A compiled module is replaced and not overwritten, because a running process may have it mapped.
        """
        fresh = path.with_name(path.name + ".fresh")
        fresh.write_bytes(content)
        tick = next(_TICKS)
        os.utime(fresh, (tick, tick))
        fresh.replace(path)
