"""lastbit: differential privacy that holds to the last bit.

The public names are listed once, in `__init__.pyi`. Each loads when it is first used, so that a program or a command
pays for what it needs; a name that needs an extra says what to install.
"""

import ast
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Return the module every public name lives in."""
    statements = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    sources = [statement for statement in statements if isinstance(statement, ast.ImportFrom) and statement.module]
    return {alias.name: source.module or "" for source in sources for alias in source.names}


_HOMES = _homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'lastbit' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"lastbit.{name}") if home == "lastbit" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return ["__version__", *__all__]
