"""One broken mechanism: where it is printed, and the programs that prove it broken."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal

from lastbit.mechanisms.mechanism import Program
from lastbit.papers.errata import find
from lastbit.privacy.cost import Cost
from lastbit.privacy.eta import Eta

Kind = Literal["error", "misprint", "warned", "implementers", "control"]

KINDS: Final[dict[Kind, str]] = {
    "error": "an error of the text",
    "misprint": "a misprint beside a right proof",
    "warned": "warned against by the paper",
    "implementers": "a mistake of implementers",
    "control": "a slip of our own, as a control",
}
"""Whose mistake a case is, in words."""


@dataclass(frozen=True)
class Case:
    """A program that loses more than its cost between two neighbouring inputs, and why.

    `source` says where the mechanism is printed; `repaired` are the corrected programs on the same inputs, if any.
    """

    name: str
    source: str
    why: str
    program: Program
    neighbour: Program
    cost: Cost | Eta | Fraction
    repaired: tuple[Program, Program] | None = None
    kind: Kind = field(kw_only=True)
    erratum: str = field(default="", kw_only=True)
    """The label of the erratum on docs/errata.md, where it is one."""

    @property
    def is_printed(self) -> bool:
        """Whether a paper prints it as right."""
        return self.kind in ("error", "misprint")

    @property
    def authors_code(self) -> str:
        """What the code does that the authors released, in a sentence; "" where the case is no erratum."""
        return f"The authors' released code {find(self.erratum).released}." if self.erratum else ""
