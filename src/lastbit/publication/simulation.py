"""A report with numbers that nobody has, to see what a publication will look like. It says so on every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.publication.certificate import describe_publication
from lastbit.publication.report import render_report
from lastbit.questions.answer_view import AnswerView

if TYPE_CHECKING:
    from lastbit.publication.pricing import Priced
    from lastbit.publication.publication import Publication


def simulate_answer(publication: Publication, question: Priced) -> AnswerView:
    """Return an answer of made-up values of the declared shape, with the real noise. No row is read."""
    asked = question.request.question
    published = asked.prepare(asked.sample(publication.people))(resolve_draw(None))
    return publication.view(question, published)


def simulate_report(publication: Publication) -> str:
    """Return the report of made-up answers, compared as the file says. No row is read."""
    views = {question.name: simulate_answer(publication, question) for question in publication.questions}
    views |= {comparison.name: comparison.render(views) for comparison in publication.comparisons}
    return render_report(describe_publication(publication), views, simulated=True)
