"""Post-processing: how accurate a release is. No function here looks at private values, so none costs anything."""

from lastbit.public_names import find_homes, load_name


def __getattr__(name: str) -> object:
    return load_name(__name__, name)


def __dir__() -> list[str]:
    return sorted(find_homes(__name__))
