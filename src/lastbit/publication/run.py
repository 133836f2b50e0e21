"""A publication is run once: charged as a whole, drawn, kept part by part, and only then written anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastbit.chance.bits import check_system
from lastbit.errors import AlreadyCharged, LastbitError, LedgerError, ParameterError, StudyError, add_charge_note
from lastbit.ledger.entry import Charge
from lastbit.ledger.identity import Identity
from lastbit.mechanisms.mechanism import resolve_draw
from lastbit.publication.pricing import Priced
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.identity import identity_of
from lastbit.questions.question import TABLE_ADJACENCY
from lastbit.release import Release

if TYPE_CHECKING:
    from lastbit.ledger import Entry, Ledger
    from lastbit.publication.publication import Publication

Step = Callable[[str], None]
"""Is told what comes next, for progress and for tests that stop a run at a chosen moment."""


@dataclass(frozen=True)
class PublishedAnswers:
    """The answers of a publication, as the books have them."""

    publication: Publication
    charge: Entry
    parts: Mapping[str, Entry]
    was_paid: bool
    """Whether the account had paid for this plan before: then this run cost nothing."""

    @cached_property
    def views(self) -> dict[str, AnswerView]:
        """All answers, in the order of the file."""
        return {
            question.name: self.publication.view(question, self.parts[question.name].published)
            for question in self.publication.questions
        }

    @cached_property
    def comparisons(self) -> dict[str, AnswerView]:
        """The answers against those of earlier publications."""
        return {comparison.name: comparison.render(self.views) for comparison in self.publication.comparisons}

    @property
    def all_views(self) -> dict[str, AnswerView]:
        """All that is published: the answers, then the comparisons."""
        return {**self.views, **self.comparisons}


def run_publication(
    publication: Publication,
    folder: str | Path | None = None,
    *,
    key: str | Path | None = None,
    step: Step = lambda _: None,
) -> Any:
    """Answer every question, once, and write the folder. `key` names the file of the private key that signs it."""
    from lastbit.publication.folder import check_folder, write_folder
    from lastbit.publication.signature import read_private_key

    # What is in the books is shown again whatever the table has become: then nobody looks at it.
    problems = publication.check(tables=not is_answered(publication))
    if problems:
        raise StudyError(problems)
    place = _choose_folder(publication, folder)
    check_folder(place, key)
    signer = None if key is None else read_private_key(key)
    answers = answer_publication(publication, step)
    step("write")
    try:
        return write_folder(answers, place, signer)
    except OSError as error:
        raise LedgerError(
            f"the folder {place} could not be written: {error.strerror}. Every answer is in the books: lastbit publish "
            "render writes the folder again, for nothing."
        ) from None


def render_publication(
    publication: Publication, folder: str | Path | None = None, *, key: str | Path | None = None
) -> Any:
    """Write the folder of a publication that was run, from the books alone. No row is read and nothing is spent."""
    from lastbit.publication.folder import check_folder, write_folder
    from lastbit.publication.signature import read_private_key

    ledger = _require_ledger(publication)
    place = _choose_folder(publication, folder)
    check_folder(place, key)
    signer = None if key is None else read_private_key(key)
    charge = ledger.charged(publication.key)
    parts = {} if charge is None else ledger.parts(charge.id)
    missing = [question.name for question in publication.questions if question.name not in parts]
    if charge is None or missing:
        raise LedgerError(
            "the books do not have all answers of this plan: run it first, with lastbit publish run. A file whose "
            "questions, prices or edition were changed is another plan. Nothing was charged."
        )
    return write_folder(PublishedAnswers(publication, charge, parts, was_paid=True), place, signer)


def is_answered(publication: Publication) -> bool:
    """Return whether the books have every answer of this plan. A file that cannot be run has none."""
    try:
        ledger = publication.ledger
        charge = None if ledger is None else ledger.charged(publication.key)
        if ledger is None or charge is None:
            return False
        return ledger.parts(charge.id).keys() >= {question.name for question in publication.questions}
    except LastbitError:  # whoever checks the file, or opens the books, says why
        return False


def answer_publication(publication: Publication, step: Step = lambda _: None) -> PublishedAnswers:
    """Return all answers: those that the books have, and the others drawn now. The charge comes before the first draw.

    What the books have is never drawn again. What was drawn and not kept was seen by nobody, and is drawn anew.
    """
    ledger = _require_ledger(publication)
    charge = ledger.charged(publication.key)
    was_paid = charge is not None
    parts = {} if charge is None else ledger.parts(charge.id)
    missing = [question for question in publication.questions if question.name not in parts]
    if charge is None:
        # Reading may take long, so a budget that is too small refuses first. The charge checks the budget again.
        ledger.account(publication.dataset).charged(publication.mechanism.cost, TABLE_ADJACENCY)
    ready = {}
    for question in missing:
        step(f"read {question.name}")
        ready[question.name] = _prepare(question)
    draw = resolve_draw(None)
    check_system()
    if charge is None:
        step("charge")
        charge = _charge(publication, ledger)
    try:
        for question in missing:
            step(f"draw {question.name}")
            published = ready.pop(question.name)(draw)
            step(f"keep {question.name}")
            entry = ledger.record_part(
                charge.id,
                question.name,
                question.request.question.mechanism,
                published,
                adjacency=TABLE_ADJACENCY,
                question=_identify(publication, question),
            )
            # Another process may have been faster: what it kept is the answer.
            parts[question.name] = entry
            step(f"kept {question.name}")
    except BaseException as error:
        note = (
            f"The plan is paid for, entry {charge.id} of {publication.dataset!r}: run it again to go on, for nothing."
        )
        add_charge_note(error, note)
        raise
    if missing:
        ledger.record(Charge(charge.id, ledger.account(publication.dataset)))
    return PublishedAnswers(publication, charge, parts, was_paid)


def _prepare(question: Priced) -> Callable[[Any], Release]:
    asked = question.request.question
    if asked.reading is None:
        raise ParameterError(f"{question.name!r} reads a stream, and a publication reads tables. Leave it out.")
    ready: Callable[[Any], Release] = asked.prepare(asked.reading.run())
    return ready


def _charge(publication: Publication, ledger: Ledger) -> Entry:
    """Charge the whole plan, and return the entry of its charge: perhaps that of a process that was faster."""
    title = publication.study.title
    question = Identity(publication.facts, f"publication {title}", publication.protects)
    with suppress(AlreadyCharged):
        ledger.charge(
            publication.dataset,
            publication.mechanism,
            adjacency=TABLE_ADJACENCY,
            note=title,
            question=question,
            once=publication.key,
        )
    entry = ledger.charged(publication.key)
    if entry is None:
        raise LedgerError("the books have lost the charge of this plan. Restore the ledger from a copy.")
    return entry


def _identify(publication: Publication, question: Priced) -> Identity:
    """Return the question as the books know it. Its words name no file: they go into the certificate."""
    about = f"{publication.study.title}: {question.name}"
    return Identity(identity_of(question.request), about, publication.protects)


def _require_ledger(publication: Publication) -> Ledger:
    ledger = publication.ledger
    if ledger is None:
        raise StudyError(
            [
                publication.study.problem(
                    "budget",
                    'to run a publication somebody pays: write ledger = "budget.db" and dataset = "clinic", and '
                    "create the account with lastbit budget create.",
                )
            ]
        )
    return ledger


def _choose_folder(publication: Publication, folder: str | Path | None) -> Path:
    if folder is not None:
        return Path(folder)
    named = publication.study.output.get("folder")
    if named is None:
        raise StudyError([publication.study.problem("output.folder", "name the folder to write, such as report-2024.")])
    return Path(publication.study.place(str(named)))
