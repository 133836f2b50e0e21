"""What a ledger refuses before it opens the books."""

from __future__ import annotations

from typing import Final, TypeVar

from lastbit.errors import MechanismError, ParameterError
from lastbit.ledger import names
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.values.adjacency import Adjacency, parse_adjacency

Published = TypeVar("Published")
_LONGEST: Final = 10_000
"""No name of a data set has more characters: the options of commands take no longer text."""


def check_mechanism(mechanism: Mechanism[Published]) -> Mechanism[Published]:
    """Return the mechanism, or raise where it is none: anything else could state any cost."""
    # The real class and its real bases: an object can pretend to isinstance.
    if Mechanism in type(mechanism).__mro__:
        return mechanism
    what = f"the class {mechanism.__name__}. Build one" if isinstance(mechanism, type) else type(mechanism).__name__
    raise MechanismError(
        f"a ledger charges a Mechanism, such as DiscreteLaplace(epsilon=1): got {what}. Nothing was drawn and nothing "
        "was charged."
    )


def common_adjacency(*adjacencies: Adjacency | None) -> Adjacency | None:
    """Return the one adjacency that all who name one agree on; None where nobody names one."""
    notions = {parse_adjacency(adjacency) for adjacency in adjacencies if adjacency is not None}
    if len(notions) > 1:
        raise ParameterError(
            "the mechanism, its values and adjacency= must mean the same neighbours: got add-remove and replace. "
            "monotone=True means add-remove. Nothing was drawn and nothing was charged."
        )
    return notions.pop() if notions else None


def check_name(dataset: object) -> str:
    """Return the name of a new account, or raise where a ledger cannot have it."""
    if not isinstance(dataset, str) or not names.normal_form(dataset):
        raise ParameterError("a data set must have a name: got none.")
    if len(dataset) > _LONGEST:
        raise ParameterError(f"the name of a data set must have at most {_LONGEST:,} characters: got {len(dataset):,}.")
    return check_text(dataset, "the name of a data set")


def check_text(text: object, name: str) -> str:
    """Return the text, or raise where a database would not give it back as it was: digests are over what comes back."""
    if not isinstance(text, str) or "\0" in text or text != text.encode("utf-8", "ignore").decode("utf-8"):
        raise ParameterError(f"{name} must be text of Unicode characters without NUL. Nothing was charged.")
    return text
