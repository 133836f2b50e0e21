"""lastbit: differential privacy that holds to the last bit.

The public names are listed once, in `__init__.pyi`. Each loads when it is first used, so that a program or a command
pays for what it needs; a name that needs an extra says what to install.
"""

from lastbit.public_names import find_homes, load_name

__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    return load_name(__name__, name)


def __dir__() -> list[str]:
    return ["__version__", *sorted(find_homes(__name__))]
