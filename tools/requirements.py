"""Print the requirements of extras of pyproject.toml: `python tools/requirements.py dev`.

`build` stands for what compiling needs, and `core` for what lastbit needs without any extra.
"""

import re
import sys
import tomllib
from pathlib import Path

written = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
project = written["project"]
extras = {
    **project["optional-dependencies"],
    "build": written["build-system"]["requires"],
    "core": project["dependencies"],
}


def requirements(extra: str) -> list[str]:
    """The extra's own requirements, and in place of `lastbit[a,b]` those of the extras a and b."""
    own = []
    for requirement in extras[extra]:
        ours = re.fullmatch(rf"{project['name']}\[(.+)\]", requirement)
        own += [each for name in ours[1].split(",") for each in requirements(name)] if ours else [requirement]
    return own


print(*dict.fromkeys(each for extra in sys.argv[1:] for each in requirements(extra)))
