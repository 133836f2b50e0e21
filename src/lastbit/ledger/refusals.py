"""What a ledger refuses before it opens the books."""

from __future__ import annotations

from typing import Final, TypeVar

from lastbit.errors import MechanismError, ParameterError
from lastbit.ledger import names
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.adjacency import Adjacency, named

Published = TypeVar("Published")
_LONGEST: Final = 10_000
"""No name of a data set has more characters: the options of commands take no longer text."""


def mechanism_of(mechanism: Mechanism[Published]) -> Mechanism[Published]:
    """The mechanism, refused unless it is one: anything else could state any cost."""
    # The real class and its real bases: an object can pretend to isinstance.
    if Mechanism in type(mechanism).__mro__:
        return mechanism
    what = f"the class {mechanism.__name__}. Build one" if isinstance(mechanism, type) else type(mechanism).__name__
    raise MechanismError(
        f"a ledger charges a Mechanism, such as DiscreteLaplace(epsilon=1): got {what}. Nothing was drawn and nothing "
        "was charged."
    )


def common(*adjacencies: Adjacency | None) -> Adjacency | None:
    """The one adjacency that all name who name one."""
    said = {named(each) for each in adjacencies if each is not None}
    if len(said) > 1:
        raise ParameterError(
            "the mechanism, its values and adjacency= must mean the same neighbours: got add-remove and replace. "
            "monotone=True means add-remove. Nothing was drawn and nothing was charged."
        )
    return said.pop() if said else None


def name_of(dataset: object) -> str:
    """The name of a new account."""
    if not isinstance(dataset, str) or not names.normal_form(dataset):
        raise ParameterError("a data set must have a name: got none.")
    if len(dataset) > _LONGEST:
        raise ParameterError(f"the name of a data set must have at most {_LONGEST:,} characters: got {len(dataset):,}.")
    return text_of(dataset, "the name of a data set")


def text_of(text: object, name: str) -> str:
    """Text that every database gives back as it was: the digests are over what comes back."""
    if not isinstance(text, str) or "\0" in text or text != text.encode("utf-8", "ignore").decode("utf-8"):
        raise ParameterError(f"{name} must be text of Unicode characters without NUL. Nothing was charged.")
    return text
