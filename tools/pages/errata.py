"""docs/errata.md, from the list in lastbit.papers.errata: `python -m tools.pages.errata > docs/errata.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import wrap

from lastbit.audit.broken.case import KINDS
from lastbit.papers.errata import ERRATA, Erratum

_HEAD = """# Errata of the five papers

lastbit implements five papers ([the map](papers.md)). Reading them line by line beside exact computation, we found the
places below. The papers are right nearly everywhere else, and their authors' released code is right in several of these
places: each entry says what it does. The code of lastbit names a place by its label here.

**A**: followed to the letter, privacy breaks. **B**: a result is wrong, and privacy is intact. **C**: a slip that
misleads a reader. Each entry has a witness, a test that computes the evidence. The
[gallery](gallery.md) shows those of kind A as the auditor convicts them, among other mistakes.

This page is the output of `python -m tools.pages.errata`. If you find another place, or an entry that is wrong, please
tell us.
"""

_PARTS = {
    "A": "Followed to the letter, privacy breaks",
    "B": "A result is wrong, and privacy is intact",
    "C": "Slips that mislead a reader",
}


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for part, title in _PARTS.items():
        lines += [f"## {part}. {title}", ""]
        for erratum in ERRATA:
            if erratum.label.startswith(part):
                lines += _section(erratum)
    return "\n".join(lines).rstrip("\n") + "\n"


def _section(erratum: Erratum) -> Iterator[str]:
    yield f"### {erratum.label}"
    yield ""
    kind = KINDS[erratum.kind]
    yield from wrap(
        f"The paper on {erratum.paper}, {erratum.where}: {kind}. Printed: {erratum.printed}. Right: {erratum.right}. "
        f"Evidence: {erratum.evidence}.",
        120,
        break_long_words=False,
    )
    yield ""
    yield f"The authors' released code {erratum.released}." if erratum.released else "We know of no released code."
    yield ""
    yield f"Witness: `{erratum.witness}`"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
