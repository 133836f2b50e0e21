"""Public names of a package, listed once in its `.pyi`. Each loads when it is first used."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib import import_module
from pathlib import Path


@cache
def find_homes(package: str) -> dict[str, str]:
    """Return the module that every public name of a package lives in.

    >>> find_homes("lastbit.estimate")["blue"]
    'lastbit.estimate.blue'
    """
    file = sys.modules[package].__file__
    assert file is not None  # noqa: S101
    text = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    # Its imports are plain: Python's own parser would take a tenth of the time in which a command starts.
    imports = re.findall(r"^from (\S+) import (?:\(([^)]*)\)|(.*))$", text, re.MULTILINE)
    return {name: home for home, several, one in imports for name in re.findall(r"\w+", several or one)}


def load_name(package: str, name: str) -> object:
    """Return what a public name of a package stands for; `__all__` is the list of them."""
    homes = find_homes(package)
    if name == "__all__":
        return sorted(homes)
    if name not in homes:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    home = homes[name]
    value = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
    setattr(sys.modules[package], name, value)
    return value
