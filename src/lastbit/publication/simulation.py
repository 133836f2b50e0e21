"""A report with numbers that nobody has, to see what a publication will look like. It says so on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.publication.certificate import describe_publication
from lastbit.publication.report import render_report

if TYPE_CHECKING:
    from lastbit.publication.publication import Publication


def simulate_report(publication: Publication) -> str:
    """Return the report of made-up values of the declared shapes, with the real noise. No row is read."""
    draw, views = resolve_draw(None), {}
    for question in publication.questions:
        asked = question.request.question
        published = asked.prepare(asked.sample(publication.people))(draw)
        views[question.name] = publication.view(question, published)
    return render_report(describe_publication(publication), views, simulated=True)
