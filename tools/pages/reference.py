"""The reference of the site, from docstrings and from the help of the command: nothing is written by hand.

`pages()` gives the text of every page by its name. `tests/docs/test_reference.py` compares it with what is public.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import lastbit
from lastbit.errors import LastbitError
from lastbit.public_names import find_homes
from lastbit.release import Release
from tools.pages.commands import commands
from tools.pages.json_keys import json_keys

TITLES: Final = {
    "questions": (
        "Questions",
        "Ask a table in one call, as the command does: read, count, plan, charge, release, report.",
    ),
    "publication": ("Publications", "A whole study from one file: its plan, its run, its report, and the check of it."),
    "mechanisms": ("Mechanisms", "What draws. Each is built from public parameters, and then given private values."),
    "releases": ("Releases", "What mechanisms publish. Everything in a release is public."),
    "data": ("Tables and values", "From a table to private values, with the public facts about them."),
    "privacy": ("Costs", "What a release costs, and the rate of noise that a cost buys."),
    "ledger": ("Ledgers", "Accounts that no number of processes can overdraw."),
    "audit": ("The auditor", "The exact law of a program, and a verdict on its cost."),
    "papers": (
        "The papers",
        "The papers' algorithms line by line, to read and to compare with; [the map](../papers.md).",
    ),
    "estimate": ("Estimates and plans", "Post-processing, and how accurate a release will be. Nothing here costs."),
    "chance": ("Chance", "Where randomness comes from. You need this page for tests and for your own mechanisms."),
    "errors": ("Errors", "Every error that lastbit raises, and what to do about it."),
}
SAME_PAGE: Final = {"values": "data"}
ROOMS: Final = ("lastbit.audit", "lastbit.estimate", "lastbit.ledger", "lastbit.papers")
ROOM: Final = re.compile(r"lastbit\.(\w+)")


def public() -> dict[str, Any]:
    """Return every public object by its name in programs: `lastbit.NoisyTopK`, `lastbit.audit.law`."""
    objects = {f"lastbit.{name}": getattr(lastbit, name) for name in lastbit.__all__}
    rooms = {name: value for name, value in objects.items() if isinstance(value, ModuleType)}
    known = {id(value) for value in objects.values()}
    for room, module in rooms.items():
        objects |= {
            f"{room}.{name}": getattr(module, name) for name in module.__all__ if id(getattr(module, name)) not in known
        }
    for name in lastbit.papers.__all__:
        objects |= _of_paper(f"lastbit.papers.{name}", getattr(lastbit.papers, name))
    return objects


def _of_paper(place: str, module: ModuleType) -> dict[str, Any]:
    """The functions and classes of a module of papers."""
    ours = {name: each for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__}
    return {f"{place}.{name}": each for name, each in ours.items() if not name.startswith("_") and each.__doc__}


def pages() -> dict[str, str]:
    """Return the text of every page of the reference."""
    homes = find_homes("lastbit")
    sections: dict[str, list[str]] = {page: [] for page in TITLES}
    for name, value in sorted(public().items(), key=lambda item: item[0].lower()):
        if isinstance(value, ModuleType) and value.__name__ in ROOMS:
            continue
        sections[_page(name, value, homes)].append("\n".join(_entry(name, value)))
    texts = {page: f"# {title}\n\n{about}\n\n" + "\n".join(sections[page]) for page, (title, about) in TITLES.items()}
    return {**texts, "commands": commands(), "json": json_keys(), "index": _index()}


def _index() -> str:
    rows = [f"| [{title}]({page}.md) | {about} |" for page, (title, about) in TITLES.items()]
    rows += [
        "| [Commands](commands.md) | The help of every command. |",
        "| [Keys of the JSON](json.md) | What each key of a release holds. |",
    ]
    table = "\n".join(["| page | |", "| --- | --- |", *rows])
    tree = "\n".join(["```{toctree}", ":hidden:", "", *TITLES, "commands", "json", "```"])
    about = "Every public name, from its docstring, and every command, from its help. The box on the left searches."
    return f"# Reference\n\n{about}\n\n{table}\n\n{tree}\n"


def _page(name: str, value: Any, homes: dict[str, str]) -> str:
    if isinstance(value, type) and issubclass(value, LastbitError):
        return "errors"
    if isinstance(value, type) and issubclass(value, Release):
        return "releases"
    inner = name.removeprefix("lastbit.")
    room = ROOM.match(homes.get(inner, name))
    assert room is not None, name
    return SAME_PAGE.get(room[1], room[1])


def _entry(name: str, value: Any) -> Iterator[str]:
    """A directive for an object, with its members inside it."""
    if isinstance(value, type):
        kind = "exception" if issubclass(value, BaseException) else "class"
        yield f"::::::{{py:{kind}}} {name}{'' if kind == 'exception' else _signature(value)}\n"
        bases = [base.__name__ for base in value.__mro__[1:] if base.__name__ in lastbit.__all__]
        if bases:
            # The nearest one: its page has the members that are not repeated here.
            yield f"A {{py:obj}}`{bases[0]} <lastbit.{bases[0]}>`.\n"
        yield from _describe(value)
        for member in members(value):
            yield from _member(value, member)
        yield "::::::\n"
    elif callable(value):
        yield f"::::::{{py:function}} {name}{_signature(value)}\n"
        yield from _describe(value)
        yield "::::::\n"
    else:
        yield f"::::::{{py:data}} {name}\n"
        text = (
            inspect.getdoc(value)
            if type(value).__module__.startswith("lastbit") or isinstance(value, ModuleType)
            else ""
        )
        yield f"{text}\n"
        yield "::::::\n"


def members(value: type) -> list[str]:
    """The public members with a docstring that the class brings: its own, and those of bases that are not public."""
    brought = [base for base in value.__mro__ if re.match(r"lastbit\.[a-z]", base.__module__)]  # and no compiled base
    ours: dict[str, None] = {}
    for base in brought:
        if base is not value and base.__name__ in lastbit.__all__:
            continue
        ours |= {name: None for name in vars(base) if not name.startswith("_") and _is_property_or_function(base, name)}
    return sorted(ours)


def _is_property_or_function(base: type, name: str) -> bool:
    raw = vars(base)[name]
    return isinstance(raw, property | classmethod | staticmethod) or inspect.isfunction(raw)


def _member(owner: type, name: str) -> Iterator[str]:
    raw = inspect.getattr_static(owner, name)
    if isinstance(raw, property):
        yield f":::::{{py:property}} {name}\n"
    else:
        kind = {classmethod: "classmethod", staticmethod: "staticmethod"}.get(type(raw), "method")
        yield f":::::{{py:{kind}}} {name}{_signature(getattr(owner, name), bound=kind == 'method')}\n"
    yield from _describe(raw if isinstance(raw, property) else getattr(owner, name))
    yield ":::::\n"


def _signature(value: Any, bound: bool = False) -> str:
    """The parameters with their defaults; types are in the text where they matter."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return "()"
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty, default=_default(parameter.default))
        for parameter in parameters[1 if bound else 0 :]
    ]
    return str(inspect.Signature(parameters))


class _Literal(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _default(value: Any) -> Any:
    if value is inspect.Parameter.empty:
        return value
    text = str(value) if type(value).__name__ == "Fraction" else repr(value)
    return _Literal(text if re.fullmatch(r"[\w\s'\"./()\[\],+-]*", text) else "...")


def _describe(value: Any) -> Iterator[str]:
    text = inspect.getdoc(value)
    assert text, f"{value!r} has no docstring"
    yield markdown(text) + "\n"


HEADING: Final = re.compile(r"^([A-Z][A-Za-z ]*?):\s{2,}(.*)$")


def markdown(text: str) -> str:
    """A docstring as Markdown: paragraphs, the headings of a mechanism as a list, examples as code."""
    blocks = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.split("\n")
        start = next((index for index, line in enumerate(lines) if line.lstrip().startswith(">>>")), len(lines))
        if lines[:start]:
            blocks.append(_prose(lines[:start]))
        if lines[start:]:
            code = inspect.cleandoc("\n".join(lines[start:]))
            blocks.append(f"```python\n{code}\n```")
    # Blank lines inside one example end a block: put neighbouring blocks of code together.
    return "\n\n".join(blocks).replace("\n```\n\n```python\n", "\n\n")


def _prose(lines: list[str]) -> str:
    if not HEADING.match(lines[0]):
        return _plain("\n".join(line.strip() if not line.lstrip().startswith("- ") else line for line in lines))
    items: list[str] = []
    for line in lines:
        heading = HEADING.match(line)
        if heading:
            items.append(f"- **{heading[1]}**: {heading[2]}")
        else:
            items[-1] += f" {line.strip()}"
    return _plain("\n".join(items), keep="**")


def _plain(text: str, keep: str = "") -> str:
    """Stars and angle brackets mean themselves, outside of code."""
    parts = re.split(r"(``[^`]+``|`[^`]+`)", text)
    for index in range(0, len(parts), 2):
        part = parts[index].replace("<", "&lt;").replace("|", "\\|")
        bold = re.split(r"(\*\*[^*]+\*\*)", part) if keep else [part]
        parts[index] = "".join(
            piece if keep and piece.startswith("**") else piece.replace("*", "\\*").replace("_", "\\_")
            for piece in bold
        )
    return "".join(parts)


def write(folder: Path) -> None:
    """Write the pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
