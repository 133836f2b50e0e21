"""docs/gallery.md, produced by running the gallery: `python -m tools.pages.gallery > docs/gallery.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import wrap

from lastbit.audit.attacks.attack import all_attacks
from lastbit.audit.broken.case import KINDS
from lastbit.audit.broken.gallery import TOLERANCE, Hearing, count_kinds, hearings
from lastbit.audit.laws import render_outcome

_HEAD = """# A gallery of mistakes

{counts}
Each case says whose mistake it is. Most were never published: a
control is a slip that we make on purpose, to see that the auditor convicts it. What the papers print wrongly, with what
is right, is on the page of [errata](errata.md).

This page is the output of `python -m tools.pages.gallery`. The auditor ran each program below on every branch, with
exact probabilities, on two neighbouring inputs. A loss is the logarithm, to base 2, of the ratio of the two
probabilities of the witness. It says "at least", because the auditor follows the tails of endless draws only until less
than {tolerance} is left. Where the claim is a rho, the rho found is a Rényi divergence over its order; where it is a
delta, the delta found is the smallest at the claimed loss. The repaired program ran the same way. To run all of them
yourself: `lastbit audit --gallery`.
"""


def page() -> str:
    """The whole page."""
    heard = list(hearings())
    rows = [
        f"| {each.case.name} | {KINDS[each.case.kind]} | {each.published.claims} | {each.published.in_bits} "
        f"| {_repaired(each)} |"
        for each in heard
    ]
    return "\n".join(
        [
            _HEAD.format(tolerance=f"2^-{TOLERANCE.denominator.bit_length() - 1}", counts=_counts()),
            "| mechanism | kind | claims | loses at least | repaired loses |",
            "| --- | --- | --- | --- | --- |",
            *rows,
            "",
            *(line for hearing in heard for line in _section(hearing)),
            "## Attacks",
            "",
            "An attacker sees one release and says whether it came from the first or the second of two neighbours. The",
            "table shows how much likelier the attacker names the first on the first than on the second: 0 for a coin,",
            "1 for certainty. The last column is the most that our privacy parameter allows.",
            "",
            "| attack | source | on the naive code | on ours | ours allows |",
            "| --- | --- | --- | --- | --- |",
            *(
                f"| {attack.name} | {attack.source} | {float(attack.naive_advantage):.4g} "
                f"| {float(attack.our_advantage):.4g} | {float(attack.our_bound):.4g} |"
                for attack in all_attacks()
            ),
            "",
        ]
    )


def _counts() -> str:
    return "\n".join(wrap(count_kinds(), 120))


def _repaired(hearing: Hearing) -> str:
    return "" if hearing.repaired is None else hearing.repaired.in_bits


def _section(hearing: Hearing) -> Iterator[str]:
    case, verdict = hearing.case, hearing.published
    yield f"## {case.name[0].upper()}{case.name[1:]}"
    yield ""
    kind = KINDS[case.kind]
    label = f" ([erratum {case.erratum}](errata.md#{case.erratum.lower()}))" if case.erratum else ""
    released = f" {case.authors_code}" if case.authors_code else ""
    yield from wrap(f"*{kind[0].upper()}{kind[1:]}*{label}. {case.source}. {case.why}{released}", 120)
    yield ""
    more = f" and {len(verdict.witness) - 1} more" if len(verdict.witness) > 1 else ""
    first, second = (f"{float(chance):.6g}" for chance in hearing.chances)
    yield f"Witness: `{render_outcome(verdict.witness[0])}`{more}, probability {first} against {second}."
    yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
