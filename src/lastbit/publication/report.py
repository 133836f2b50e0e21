"""The report of a publication: one HTML page that prints well on A4, made of published values alone."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

import lastbit
from lastbit.output.page import style_sheet
from lastbit.output.table import html_table

if TYPE_CHECKING:
    from lastbit.publication.publication import Publication
    from lastbit.publication.run import PublishedAnswers
    from lastbit.questions.rendering import AnswerView

_STYLE: Final = """
@page { size: A4; margin: 18mm 16mm 20mm; }
section.answer { break-inside: avoid-page; margin-bottom: 2rem; }
section.new-page { break-before: page; }
.title-page { border-bottom: 2px solid var(--line); margin-bottom: 1.5rem; padding-bottom: 1rem; }
.simulated { color: var(--bad); font-weight: 600; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #000; --faint: #444; --line: #999; --soft: #f6f6f6; }
  main { max-width: none; padding: 0; }
  a { color: inherit; text-decoration: none; }
  .wide { overflow: visible; }
  table { font-size: 9.5pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  svg.chart, figure { break-inside: avoid; max-height: 200mm; }
  .mark { position: fixed; top: -12mm; left: 0; right: 0; text-align: center; }
}
"""
_SIMULATED: Final = "SIMULATED: these numbers are made up. No row was read. They show what the report will look like."


def build_report(answers: PublishedAnswers) -> str:
    """Return the report of the answers."""
    return render_report(answers.publication, answers.views)


def render_report(publication: Publication, views: Mapping[str, AnswerView], *, simulated: bool = False) -> str:
    """Return the page: title, answers in order, methods, how to cite, and what the cost means."""
    study = publication.study
    words = study.words
    mark = f'<p class="mark simulated">{_SIMULATED}</p>' if simulated else ""
    head = [f"<h1>{escape(study.title)}</h1>"]
    by = ", ".join(escape(str(words[name])) for name in ("by", "contact") if words.get(name))
    if by:
        head.append(f"<p>{by}</p>")
    if words.get("edition"):
        head.append(f"<p>Edition {escape(str(words['edition']))}</p>")
    titles = {question.name: publication.title_of(question) for question in publication.questions}
    contents = "".join(
        f'<li><a href="#{escape(name)}">{escape(view.report.title or titles[name])}</a></li>'
        for name, view in views.items()
    )
    parts = [
        mark,
        f'<header class="title-page">{"".join(head)}</header>',
        f"<nav><h2>Contents</h2><ol>{contents}</ol></nav>",
        *(_answer(name, view) for name, view in views.items()),
        _methods(publication, views),
        _meaning(publication),
        _citation(publication),
    ]
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(study.title)}</title>'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{style_sheet()}{_STYLE}</style></head>\n<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _answer(name: str, view: AnswerView) -> str:
    names, rows = view.printed_table
    notes = "".join(f"<p>{escape(note)}</p>" for note in view.report.notes)
    chart = f'<figure class="wide" tabindex="0">{view.chart}</figure>' if view.chart else ""
    table = f'<div class="wide">{html_table(names, rows, view.report.title)}</div>'
    heading = f"<h2>{escape(view.report.title)}</h2>"
    return f'<section class="answer" id="{escape(name)}">{heading}{chart}{table}{notes}</section>'


def _methods(publication: Publication, views: Mapping[str, AnswerView]) -> str:
    paragraphs = []
    for view in views.values():
        methods: Any = getattr(view, "methods", None)
        text = methods() if callable(methods) else " ".join(view.report.notes)
        paragraphs.append(f"<p><b>{escape(view.report.title)}.</b> {escape(str(text))}</p>")
    return f'<section class="new-page"><h2>Methods</h2>{"".join(paragraphs)}</section>'


def _meaning(publication: Publication) -> str:
    """Return the page on what the cost means here."""
    people = publication.words.people
    person = publication.words.person
    cost, why = publication.budget.text, publication.study.words.get("why")
    lines = [
        f"Everything in this report together costs {cost}. That bounds what the report can tell about any one "
        f"{person}: with all rows of one {person} taken out of the table, every possible report would have been nearly "
        "as likely.",
        "With epsilon, «nearly» is a factor of at most e to the power epsilon: for epsilon 1 a factor of 2.72, for "
        "epsilon 3 a factor of 20.1. A delta is the probability that this may fail. A rho bounds the factor on "
        "average; it adds up better over many tables.",
        f"So nobody learns much more about a {person} from this report than they would have without that {person} in "
        f"the table. What the report says about all {people} together, everybody may learn: that is its purpose.",
        "Random noise was added once, by exact sampling, and is part of every number. The intervals say how far a "
        "number may be from the one in the table. They do not describe sampling or errors in the table.",
    ]
    if why:
        lines.append(f"Why this cost: {why}.")
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<section class="new-page"><h2>What the privacy cost means</h2>{paragraphs}</section>'


def _citation(publication: Publication) -> str:
    words = publication.study.words
    author = words.get("by") or "The publisher"
    edition = f" ({words['edition']})" if words.get("edition") else ""
    text = (
        f"{author}{edition}: {publication.study.title}. Published with lastbit {lastbit.__version__}. "
        f"Plan {publication.hash[:16]}."
    )
    proof = (
        "release.json beside this page states every cost and carries the published values. lastbit verify checks the "
        "folder without the data."
    )
    return f"<section><h2>How to cite</h2><p>{escape(text)}</p><p>{escape(proof)}</p></section>"
