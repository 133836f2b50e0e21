"""A static look at shifts and casts: what gcc says of the C files that Cython makes of our modules.

`make sanitize` prints how many conversions may change a number in each file, and fails where gcc complains of a shift.
docs/analysis.md says why the conversions are right; `python -m tools.conversions --all` prints each.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "src" / "lastbit"
SHIFTS = ["-Wshift-overflow=2", "-Wshift-count-negative", "-Wshift-count-overflow", "-Wshift-negative-value"]
FLAGS = ["-fsyntax-only", "-O1", *SHIFTS, "-Wconversion", "-Wsign-conversion"]
_FUNCTION = re.compile(r"In function [‘'](.*?)[’']")
_WARNING = re.compile(r"\S+?:(\d+:\d+): warning: (.*) \[-W(.*)\]")
_OURS = re.compile(r"__pyx_p?f_7lastbit|lastbit_")
"""Functions that are ours, as Cython and our own C name them. All others are Cython's."""


def collect_warnings() -> dict[str, list[str]]:
    """Return what gcc says of our functions, by the file that they come from."""
    warnings: dict[str, set[str]] = defaultdict(set)
    for module in sorted(SOURCES.glob("**/_*.pyx")):
        command = ["gcc", *FLAGS, f"-I{sysconfig.get_path('include')}", str(module.with_suffix(".c"))]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
        function = ""
        for line in text.splitlines():
            if inside := _FUNCTION.search(line):
                function = inside[1]
            elif (warning := _WARNING.match(line)) and _OURS.match(function):
                # What all modules share is compiled into each of them, at another line.
                shared = "6_words_" in function
                name = "chance/_words.pxd" if shared else str(module.relative_to(SOURCES))
                warnings[name].add(f"{warning[3]}: {function}{'' if shared else ':' + warning[1]}: {warning[2]}")
    return {name: sorted(lines) for name, lines in sorted(warnings.items())}


def main() -> int:
    """Print the warnings, and return whether some are of a shift."""
    warnings = collect_warnings()
    for name, lines in warnings.items():
        print(f"{name}: {len(lines)}")
        if "--all" in sys.argv:
            print(*(f"    {line}" for line in lines), sep="\n")
    shifts = [line for lines in warnings.values() for line in lines if line.startswith("shift")]
    print(*shifts, f"{sum(map(len, warnings.values()))} in all, {len(shifts)} of them shifts", sep="\n")
    return 1 if shifts else 0


if __name__ == "__main__":
    sys.exit(main())
