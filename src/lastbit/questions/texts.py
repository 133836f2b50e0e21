"""A question in the words of a shell and of Python: both texts run, and ask the same."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any, Final

from lastbit.output.addresses import public_address
from lastbit.questions.kinds import KINDS
from lastbit.questions.options import Spending

_SHOWING: Final = ("as_json", "plot", "html", "dry_run", "reuse")
"""Options that change how a release is shown, and not the question."""
_NO_COMMAND: Final = (
    "# A command cannot name these items: some are empty, have blanks at their ends, or have several lines. Use Python."
)
_PAIRS: Final = ("bounds", "bin")
"""Options that take two words."""


def as_command(spending: Spending) -> str:
    """The command that asks this question.

    >>> asked = KINDS["top"].build(source=["a b.csv"], by=["item"], domain=[("flu", "cold")], k=2, epsilon="1/2")
    >>> as_command(asked.spending)
    "lastbit top 'a b.csv' --by item --domain flu,cold --epsilon 1/2 -k 2"
    """
    before, words = [], ["lastbit", spending.asked["command"]]
    files = 0
    for name, value in _given(spending):
        if name == "source":
            words += [shlex.quote(place) for place in value]
            continue
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif name == "domain":
            for each in value:
                text = _one_word(each)
                if text is None:
                    if not all(map(_fits_a_line, map(str, each))):
                        return _NO_COMMAND
                    files += 1
                    text = f"items-{files}.txt"
                    before.append(f"printf '%s\\n' {' '.join(map(shlex.quote, map(str, each)))} > {text}")
                words += [flag, shlex.quote(text)]
        elif name in _PAIRS:
            words += [flag, *map(shlex.quote, map(str, value))]
        else:
            for each in value if isinstance(value, list) else [value]:
                words += [flag, shlex.quote(str(each))]
    return "\n".join([*before, " ".join(words)])


def as_python(spending: Spending) -> str:
    """The program that asks this question.

    >>> asked = KINDS["count"].build(source=["visits.csv"], unit="patient", epsilon="1")
    >>> print(as_python(asked.spending))
    import lastbit as lb
    <BLANKLINE>
    release = lb.ask(
        "count",
        "visits.csv",
        unit="patient",
        epsilon="1",
    )
    print(release)
    """
    lines = [f"    {_literal(spending.asked['command'])},"]
    for name, value in _given(spending):
        if name == "source":
            lines += [f"    {_literal(place)}," for place in value]
        else:
            lines.append(f"    {name}={_literal(value)},")
    return "\n".join(["import lastbit as lb", "", "release = lb.ask(", *lines, ")", "print(release)"])


def _given(spending: Spending) -> Iterator[tuple[str, Any]]:
    """The options that are not their defaults, by name. Passwords in addresses are left out."""
    kind = KINDS[spending.asked["command"]]
    costs = {field.name for field in fields(Spending)}
    for option in kind.options:
        value = getattr(spending, option.name) if option.name in costs else spending.asked[option.name]
        if option.name in _SHOWING or value is None or value == option.default:
            continue
        if option.name == "source":
            value = [_place(each) for each in ([value] if isinstance(value, str) else value)]
        elif option.name == "ledger":
            value = _place(value)
        yield option.name, value


def _place(place: str) -> str:
    return public_address(place)


def _one_word(domain: str | Sequence[Any]) -> str | None:
    """The items of a domain as --domain takes them; None where that needs a file."""
    if isinstance(domain, str):
        return domain
    items = [str(item) for item in domain]
    plain = all(item and item == item.strip() and "," not in item and "\n" not in item for item in items)
    return ",".join(items) + "," * (len(items) == 1) if plain else None


def _fits_a_line(item: str) -> bool:
    """Whether a file of items can have this one."""
    return bool(item) and item == item.strip() and not {"\n", "\r", "\0", "\ufeff"} & set(item)


def _literal(value: Any) -> str:
    """A value as Python writes it, with double quotes."""
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_literal, value))}]"
    return repr(value)
