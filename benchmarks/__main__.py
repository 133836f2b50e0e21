"""Run every benchmark, or those named on the command line.

`python -m benchmarks.timing --releases 20000 --only Snapping` times releases less thoroughly than `timing` does here.
"""

import importlib
import sys
from pathlib import Path

from benchmarks.measure import machine

BESIDES = {"__init__", "__main__", "measure"}
everything = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in BESIDES)
# Among all others, timing takes a few releases: to look for leaks takes a quarter of an hour, and a quiet machine.
chosen = sys.argv[1:] or everything
if unknown := set(chosen) - set(everything):
    sys.exit(f"no benchmark named {', '.join(sorted(unknown))}. There are: {', '.join(everything)}.")
print(machine("lastbit", "numpy", "cryptography", "opendp", "diffprivlib"))
for name in chosen:
    run = importlib.import_module(f"benchmarks.{name}").run
    run(5_000) if name == "timing" and not sys.argv[1:] else run()
