"""The report of a publication: one HTML page that prints well on A4, made of the certificate and the answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final

from lastbit.output.page import assemble_page
from lastbit.output.table import html_table
from lastbit.output.words import Words
from lastbit.publication.meaning import explain_cost
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.unit_types import describe_combination, find_protected, read_unit_names

_STYLE: Final = """
@page {
  size: A4; margin: 18mm 16mm 20mm;
  @bottom-right { content: counter(page) " of " counter(pages); font: 8pt sans-serif; }
}
section.answer { margin-bottom: 2rem; }
.title-page { border-bottom: 2px solid var(--line); margin-bottom: 1.5rem; padding-bottom: 1rem; }
.simulated { color: var(--bad); font-weight: 600; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #999; --soft: #f6f6f6; }
  main { max-width: none; padding: 0; }
  p { max-width: none; orphans: 3; widows: 3; }
  a { color: inherit; text-decoration: none; }
  .wide { overflow: visible; }
  body { font-size: 10pt; }
  table { font-size: 8.5pt; }
  th, td { padding: 0.2rem 0.7rem 0.2rem 0; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2, h3, caption { break-after: avoid; break-inside: avoid; }
  .together { break-inside: avoid; }
  section.new-page { break-before: page; }
  figure { break-inside: avoid; margin: 0.5rem 0; }
  figure.wide svg.chart { min-width: 0; max-height: 150mm; }
}
"""
_FEW: Final = 12
"""Rows of a table that is not cut in print."""
_SIMULATED: Final = "SIMULATED: these numbers are made up. No row was read. They show what the report will look like."
_MARK: Final = f"""
@page {{ margin-top: 26mm; @top-center {{ content: "{_SIMULATED}"; color: #b3261e; font: bold 8pt sans-serif; }} }}
"""
"""The mark stands in the margin of every printed page, and on the screen above the title."""


def render_report(
    certificate: Mapping[str, Any], views: Mapping[str, AnswerView], *, simulated: bool = False
) -> str:  # fmt: skip
    """Return the page: title, answers in order, methods, what the cost means, and how to cite.

    Of the certificate only what was declared is used: the texts of the study, and its plan.
    """
    words = certificate["study"]
    head = [f"<h1>{escape(words['title'])}</h1>"]
    by = ", ".join(escape(words[name]) for name in ("by", "contact") if words.get(name))
    if by:
        head.append(f"<p>{by}</p>")
    if words.get("edition"):
        head.append(f"<p>Edition {escape(words['edition'])}</p>")
    if where := certificate["plan"]["where"]:
        head.append(f"<p>All numbers are of rows where {escape(where)}.</p>")
    contents = "".join(f'<li><a href="#{escape(name)}">{escape(view.title)}</a></li>' for name, view in views.items())
    parts = [
        f'<p class="mark simulated">{_SIMULATED}</p>' if simulated else "",
        f'<header class="title-page">{"".join(head)}</header>',
        f"<nav><h2>Contents</h2><ol>{contents}</ol></nav>",
        *(_render_answer(name, view) for name, view in views.items()),
        _render_methods(views),
        _render_meaning(certificate),
        _render_citation(certificate),
    ]
    return assemble_page(words["title"], parts, f"{_STYLE}{_MARK if simulated else ''}")


def _render_answer(name: str, view: AnswerView) -> str:
    names, rows = view.printed_table
    notes = "".join(f"<p>{escape(note)}</p>" for note in view.report.notes)
    chart = f'<figure class="wide" tabindex="0">{view.chart}</figure>' if view.chart else ""
    table = f'<div class="wide">{html_table(names, rows, "")}</div>'
    heading = f"<h2>{escape(view.title)}</h2>"
    # A short table stays on the page of its heading and its picture.
    kept, rest = (table, "") if len(rows) <= _FEW else ("", table)
    first = f'<div class="together">{heading}{chart}{kept}</div>'
    return f'<section class="answer" id="{escape(name)}">{first}{rest}{notes}</section>'


def _render_methods(views: Mapping[str, AnswerView]) -> str:
    paragraphs = "".join(f"<p>{escape(view.methods())}</p>" for view in views.values())
    return f'<section class="new-page"><h2>Methods</h2>{paragraphs}</section>'


def _render_meaning(certificate: Mapping[str, Any]) -> str:
    """Return the page on what the cost means here."""
    plan = certificate["plan"]
    meaning = explain_cost(plan["budget"], *find_protected(plan["questions"][0]["options"], certificate["nouns"]))
    promise = _describe_unit(certificate)
    paragraphs = [f"<p>{escape(line)}</p>" for line in (*meaning.before, *promise)]
    paragraphs.append(html_table(meaning.names, meaning.rows, meaning.caption))
    paragraphs += [f"<p>{escape(line)}</p>" for line in meaning.after]
    if why := certificate["study"].get("why"):
        paragraphs.append(f"<p>{escape(f'Why this cost: {why}')}</p>")
    return f'<section class="new-page"><h2>What the privacy cost means</h2>{"".join(paragraphs)}</section>'


def _describe_unit(certificate: Mapping[str, Any]) -> list[str]:
    """Return what is protected, and what is not, where several columns are the unit."""
    options = certificate["plan"]["questions"][0]["options"]
    if not isinstance(options.get("unit"), list):
        return []
    names, words = read_unit_names(options["unit"]), Words(*certificate["nouns"])
    return describe_combination(names, words, options.get("most_units"))[:1]


def _render_citation(certificate: Mapping[str, Any]) -> str:
    words = certificate["study"]
    author = words.get("by") or "The publisher"
    edition = f" ({words['edition']})" if words.get("edition") else ""
    text = (
        f"{author}{edition}: {words['title']}. Published with lastbit {certificate['lastbit']}. "
        f"Plan {certificate['plan']['hash'][:16]}."
    )
    proof = (
        "release.json beside this page states every cost and carries the published values. lastbit verify checks the "
        "folder without the data."
    )
    return f"<section><h2>How to cite</h2><p>{escape(text)}</p><p>{escape(proof)}</p></section>"
