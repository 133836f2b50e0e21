"""Print the requirements of one extra of pyproject.toml: `python tools/requirements.py dev`."""

import re
import sys
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
extras = project["optional-dependencies"]


def requirements(extra: str) -> list[str]:
    """The extra's own requirements, and in place of `lastbit[a,b]` those of the extras a and b."""
    own = []
    for requirement in extras[extra]:
        ours = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        own += [each for name in ours[1].split(",") for each in requirements(name)] if ours else [requirement]
    return own


print(*dict.fromkeys(requirements(sys.argv[1])))
