"""`make sanitize`: the compiled modules with address and undefined-behaviour sanitizers, under the tests that use them.

Everything happens in a copy of the tree, build/sanitize. The modules that setup.py lists are compiled with gcc's
sanitizers and with every index checked, also where the fast build checks none. Canaries with known faults go first: a
library of two functions shows that the sanitizers are awake, and a module that is compiled like ours shows that an
index beyond the end of an array is noticed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).parent.parent
SCRATCH = TREE / "build" / "sanitize"
FLAGS = ["-O0", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
TESTS = [
    "tests/chance/test_kernel.py",
    "tests/chance/test_curves.py",
    "tests/chance/test_parallel.py",
    "tests/chance/test_small_models.py",
    "tests/values/test_floor_kernel.py",
    "tests/values/test_grid.py",
    "tests/values/test_grid_extremes.py",
    "tests/values/test_between.py",
    "tests/chance/test_tables.py",
    "tests/mechanisms/test_top_k.py",
    "tests/mechanisms/test_comparison.py",
    "tests/audit/test_enumerator.py",
    "tests/mechanisms/test_exponential.py",
    "tests/values/test_counts_of_lists.py",
    "tests/twins/test_classes.py",
    "tests/twins/test_powers.py",
    "tests/twins/test_scaled.py",
    "tests/twins/test_selection.py",
    "tests/data/files/test_open_table.py",
    "tests/data/files/test_json_lines.py",
    "tests/data/duckdb/test_masks.py",
    "tests/mechanisms/test_rank_errors.py",
    "tests/mechanisms/test_subset.py",
    "tests/values/test_bins.py",
    "tests/values/test_log_scale.py",
    "tests/data/duckdb/test_units.py",
]
"""The tests that drive each compiled module to its ends."""
_OTHER_FOLDERS = {"broken", "cli", "data", "docs", "experiments", "ledger", "questions", "stability", "tools", "web"}
"""Tests of other programs, of pages, and of code that runs no compiled module of its own."""
_FOLDERS = {path.name for path in (TREE / "tests").iterdir() if path.is_dir() and path.name != "__pycache__"}
EVERY = [
    *(f"tests/{name}" for name in sorted(_FOLDERS - _OTHER_FOLDERS)),
    "tests/data/files/test_open_table.py",
    "tests/data/files/test_any_rows.py",
    "tests/data/files/test_json_lines.py",
    "tests/data/duckdb/test_units.py",
]
"""What `ALL=1` takes."""
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "build", "*.egg-info", "__pycache__", ".*_cache", "*.so", "_*.c")

CANARY = """
#include <stdlib.h>
int beyond(int i) { int *volatile room = malloc(4 * sizeof(int)); int found = room[i]; free(room); return found; }
int shifted(int by) { return 1 << by; }
"""
CANARY_MODULE = "def at(const long long[::1] numbers, Py_ssize_t i):\n    return numbers[i]\n"


def library(name: str) -> str:
    """The path of a library of the compiler."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], check=True, text=True, capture_output=True
    ).stdout.strip()


def environment() -> dict[str, str]:
    """The sanitizer must be loaded first, and see every allocation of Python. Python never frees all at its end."""
    # The C++ runtime comes along, or an exception of another library meets a sanitizer that does not know it.
    return {
        **os.environ,
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so')}",
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(SCRATCH / "src"),
    }


def is_noticed(call: str, message: str) -> bool:
    """Whether the sanitizers end a process that makes this call of the canary, and say this."""
    code = f"import ctypes; print(ctypes.CDLL('{SCRATCH / 'canary.so'}').{call})"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    return done.returncode != 0 and message in done.stderr


def plant() -> None:
    """Put a module beside ours, which the fast build would let read beyond the end of an array."""
    (SCRATCH / "src" / "lastbit" / "_canary.pyx").write_text(CANARY_MODULE)
    setup = (SCRATCH / "setup.py").read_text()
    changed = setup.replace("modules = [\n", 'modules = [\n    compiled("lastbit._canary", **FAST),\n')
    assert changed != setup
    (SCRATCH / "setup.py").write_text(changed)


def bounds_are_checked() -> bool:
    """Whether the planted module finds what is in an array, and refuses an index beyond its end."""
    code = "import numpy; from lastbit._canary import at; n = numpy.arange(3); print(at(n, 2)); at(n, 3)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    return done.stdout == "2\n" and "IndexError: Out of bounds" in done.stderr


def main() -> int:
    """Compile, wake the canary, and run the tests; further arguments go to pytest."""
    shutil.rmtree(SCRATCH, ignore_errors=True)
    shutil.copytree(TREE, SCRATCH, ignore=_LEFT_OUT)
    (SCRATCH / "canary.c").write_text(CANARY)
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", "canary.c", "-o", "canary.so"], cwd=SCRATCH, check=True)
    if not (is_noticed("beyond(4)", "heap-buffer-overflow") and is_noticed("shifted(40)", "shift exponent")):
        print("The sanitizers do not notice known faults, so they can show nothing.", file=sys.stderr)
        return 1
    print("== compiling with sanitizers and with bounds checked", flush=True)
    plant()
    subprocess.run([sys.executable, "tools/compiled.py", "--bounds", *FLAGS], cwd=SCRATCH, check=True)
    if not bounds_are_checked():
        print("An index beyond the end of an array is not noticed: bounds are not checked.", file=sys.stderr)
        return 1
    print("== tests", flush=True)
    tests = sys.argv[1:] or (EVERY if os.environ.get("ALL") else TESTS)
    # A PostgreSQL that is started with the sanitizers loaded never answers.
    options = ["-q", "-n", os.environ.get("JOBS") or "2", "-k", "not postgresql", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(command, cwd=SCRATCH, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
