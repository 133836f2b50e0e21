"""All attacks: those of each module in this folder that has an `attacks` function."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

from lastbit.audit import attacks as folder
from lastbit.audit.attacks.attack import Attack


def all_attacks() -> Iterator[Attack]:
    """Run all attacks, one after the other.

    >>> all(attack.succeeds and attack.fails_on_ours for attack in all_attacks())
    True
    """
    for module in sorted(info.name for info in iter_modules(folder.__path__)):
        yield from getattr(import_module(f"{folder.__name__}.{module}"), "attacks", tuple)()
