"""docs/papers.md, from the registry in lastbit.papers: `python -m tools.pages.papers > docs/papers.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from lastbit.papers.registry import ENTRIES, FROM_B2DP, FROM_FREEGAP, FROM_SNAPPING, NOT_HERE, PAPERS, MapEntry, Paper

_HEAD = """# From the papers to the calls

lastbit began as the implementation of five papers. This page maps each of their algorithms, mechanisms, numbered
results, parameter rules, attacks, experiments and wishes to what stands for it here: the call that users make (with
`import lastbit as lb`), the function of [`lastbit.papers`](reference/papers.md) that follows the paper line by line,
the [experiment](experiments.md) that measures it again, and the [errata](errata.md) that concern it.

Tests run every call on this page. The page is the output of `python -m tools.pages.papers`.
"""

_TABLES = (
    ("From b2dp", "[b2dp](https://github.com/cilvento/b2dp) is Ilvento's Rust crate for both of her papers.",
     FROM_B2DP),
    ("From freegap", "[freegap](https://github.com/cmla-psu/freegap) is the Python code of the free gap paper.",
     FROM_FREEGAP),
    ("From the snapping scripts", "[cc_snap.py](https://github.com/ctcovington/floating_point) is Covington's script.",
     FROM_SNAPPING),
)  # fmt: skip


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for paper in PAPERS:
        lines += _section(paper)
    for title, about, rows in _TABLES:
        lines += [f"## {title}", "", about, "", "| theirs | ours | what differs |", "| --- | --- | --- |"]
        lines += [f"| `{_cell(theirs)}` | {_code(ours)} | {_cell(differs)} |" for theirs, ours, differs in rows]
        lines.append("")
    lines += ["## What is not here, and why", "", "| paper | what | why |", "| --- | --- | --- |"]
    lines += [f"| {paper} | {_cell(what)} | {_cell(why)} |" for paper, what, why in NOT_HERE]
    return "\n".join(lines) + "\n"


def _section(paper: Paper) -> Iterator[str]:
    code = f" The authors' code: [{paper.code.removeprefix('https://')}]({paper.code})." if paper.code else ""
    yield f"## {paper.key[0].upper()}{paper.key[1:]}"
    yield ""
    yield f"{paper.authors}, [*{paper.title}*]({paper.link}).{code}"
    yield ""
    yield "| in the paper | about | call | line by line | measured | errata |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for entry in ENTRIES:
        if entry.paper == paper.key:
            yield _row(entry)
    yield ""


def _row(entry: MapEntry) -> str:
    cells: Sequence[str] = (
        entry.item,
        _cell(entry.about),
        _code(entry.call),
        f"`{entry.function}`" if entry.function else "",
        f"[`{entry.experiment}`](experiments/{entry.experiment}.md)" if entry.experiment else "",
        ", ".join(f"[{label}](errata.md#{label.lower()})" for label in entry.errata),
    )
    return f"| {' | '.join(cells)} |"


def _code(text: str) -> str:
    return f"`{_cell(text)}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
