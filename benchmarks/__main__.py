"""Run every benchmark, or those named on the command line."""

import importlib
import sys
from pathlib import Path

from benchmarks.measure import machine

BESIDES = {"__init__", "__main__", "measure"}
everything = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in BESIDES)
chosen = sys.argv[1:] or everything
if unknown := set(chosen) - set(everything):
    sys.exit(f"no benchmark named {', '.join(sorted(unknown))}. There are: {', '.join(everything)}.")
print(machine("lastbit", "numpy", "cryptography", "opendp"))
for name in chosen:
    importlib.import_module(f"benchmarks.{name}").run()
