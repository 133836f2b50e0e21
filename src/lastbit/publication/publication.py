"""`Publication`: a study in one file. Check it, plan it, run it once, and write its report as often as you like."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lastbit.errors import LastbitError, StudyError
from lastbit.mechanisms.parts import Parts
from lastbit.publication.certificate import describe_options, rebuild_request, render_part, title_without
from lastbit.publication.comparisons import StudyComparison, check_comparisons, read_comparisons
from lastbit.publication.keys import locate_problem, remove_repeats
from lastbit.publication.pricing import Budget, Priced, Wish
from lastbit.publication.questions import check_budget, parse_questions, people_of, price_questions
from lastbit.publication.study import FORMATS, Problem, Study
from lastbit.questions.answer import protects_of
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.identity import identity_of
from lastbit.questions.rendering import check_presentation

if TYPE_CHECKING:
    from lastbit.ledger import Ledger
    from lastbit.questions.request import Request

VERSION: Final = 1
"""Changes whenever the hash of a plan is made of something else."""


class Nouns(NamedTuple):
    """What a person of the table is called."""

    person: str
    people: str


@dataclass(frozen=True)
class Publication:
    """Every question of a study and its one budget, declared in a file before a row is read.

    >>> text = '''
    ... [study]
    ... title = "Patients 2024"
    ... [data]
    ... files = "visits.csv"
    ... unit = "patient"
    ... [budget]
    ... epsilon = 1
    ... [[question]]
    ... name = "patients"
    ... ask = "count"
    ... weight = 3
    ... [[question]]
    ... name = "cost"
    ... ask = "mean"
    ... of = "cost"
    ... bounds = [0, 1000]
    ... '''
    >>> publication = Publication.from_text(text)
    >>> [(question.name, str(question.price)) for question in publication.questions]
    [('patients', '3/4'), ('cost', '1/4')]
    """

    study: Study

    @classmethod
    def from_file(cls, path: str | Path) -> Publication:
        """Return the publication that a TOML file declares. `check` says what in it cannot be."""
        return cls(Study.read(path))

    @classmethod
    def from_text(cls, text: str, folder: Path | None = None) -> Publication:
        """Return the publication that a text in TOML declares."""
        return cls(Study.parse(text, folder))

    def check(self, *, tables: bool = True) -> tuple[Problem, ...]:
        """Return everything in the file that cannot be, with its key and line; nothing where it can be run.

        No row is read. With `tables` the columns are looked up where the files are there: names alone.
        """
        from lastbit.publication.simulation import simulate_answer

        problems = [*self._wishes_and_problems[1], *check_budget(self.study)[1], *self._output_problems()]
        if problems:
            return tuple(problems)
        try:
            questions = self.questions
        except StudyError as error:
            return tuple(error.problems)  # type: ignore[arg-type]
        for place, question in enumerate(questions, 1):
            try:
                check_presentation(question.request)
            except LastbitError as error:
                problems.append(locate_problem(self.study, place, str(error)))
        if problems:
            return tuple(remove_repeats(problems))
        named = {question.name: question for question in questions}
        problems += check_comparisons(self.study, lambda name: simulate_answer(self, named[name]))
        if tables and all(Path(source).exists() for source in self.study.sources):
            for place, question in enumerate(questions, 1):
                try:
                    reading = question.request.question.reading
                    if reading is not None:
                        reading.check_columns()
                except LastbitError as error:
                    problems.append(locate_problem(self.study, place, str(error)))
        return tuple(remove_repeats(problems))

    def _output_problems(self) -> list[Problem]:
        output, problems = self.study.output, []
        formats = output.get("formats", list(FORMATS))
        if not isinstance(formats, list) or not set(map(str, formats)) <= set(FORMATS):
            problems.append(self.study.problem("output.formats", f"it must be a list of some of {', '.join(FORMATS)}."))
        if not isinstance(output.get("registry", False), bool):
            problems.append(self.study.problem("output.registry", "it must be true or false."))
        return problems

    @cached_property
    def _wishes_and_problems(self) -> tuple[list[Wish], list[Problem]]:
        return parse_questions(self.study)

    @cached_property
    def budget(self) -> Budget:
        """What the whole may cost."""
        budget, problems = check_budget(self.study)
        if budget is None or problems:
            raise StudyError(problems)
        return budget

    @cached_property
    def people(self) -> int:
        """A public guess how many people there are, for the accuracies that depend on it."""
        try:
            return people_of(self.study)
        except LastbitError as error:
            raise StudyError([self.study.problem("data.about", str(error))]) from None

    @cached_property
    def questions(self) -> list[Priced]:
        """The questions at their prices, in the order of the file."""
        wishes, problems = self._wishes_and_problems
        if problems:
            raise StudyError(problems)
        budget, people = self.budget, self.people
        return price_questions(self.study, budget, wishes, people)

    @cached_property
    def comparisons(self) -> list[StudyComparison]:
        """The comparisons with earlier publications, in the order of the file."""
        return read_comparisons(self.study)

    @cached_property
    def mechanism(self) -> Parts:
        """All questions as one mechanism, which a ledger charges at once."""
        return Parts(parts={question.name: question.request.question.mechanism for question in self.questions})

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What makes this plan this one: every question with its price, whom it protects, and the edition.

        Titles, paths and the outputs are not among them: a corrected title is the same plan. No row takes part.
        """
        edition = str(self.study.words.get("edition", ""))
        return plan_facts(edition, {question.name: question.request for question in self.questions})

    @cached_property
    def hash(self) -> str:
        """The SHA-256 of the facts: the key that pays once."""
        return hash_facts(self.facts)

    @property
    def key(self) -> str:
        """The key under which an account pays for this plan, once."""
        return f"publication {self.hash} of {self.dataset}"

    @property
    def dataset(self) -> str:
        """The account that pays; "" where nobody does."""
        return str(self.study.budget.get("dataset", ""))

    @property
    def ledger(self) -> Ledger | None:
        """The ledger that the file names; None where it names none."""
        if "ledger" not in self.study.budget or "dataset" not in self.study.budget:
            return None
        from lastbit.ledger import Ledger

        witness = self.study.budget.get("witness")
        place = self.study.place(self.study.budget["ledger"])
        return Ledger(place, witness=None if witness is None else self.study.place(witness))

    @property
    def protects(self) -> str:
        """What all questions protect, as the books write it."""
        return protects_of(self.questions[0].request)

    @property
    def words(self) -> Nouns:
        """What a person of the table is called, one and several; where several columns are the unit, a combination."""
        usual = ["person", "people"]
        if "noun" not in self.study.data and isinstance(self.study.data.get("unit"), list):
            usual = [self.questions[0].request.words.person, self.questions[0].request.words.people]
        noun = self.study.data.get("noun", usual)
        return Nouns(*map(str, noun)) if isinstance(noun, list) and len(noun) == 2 else Nouns(str(noun), str(noun))

    def view(self, question: Priced, published: Any) -> AnswerView:
        """Return the answer of a question with all that is said about it.

        It is made of what the certificate says of the question: so it names no place of the publisher's machine, and
        whoever verifies makes the same.
        """
        request = rebuild_request(question.request.kind.name, describe_options(question.request))
        return render_part(request, question.wish.rate, str(self.study.data.get("where", "")), published)

    def title_of(self, question: Priced) -> str:
        """Return the title of a question, before there is an answer."""
        return title_without(question.request, str(self.study.data.get("where", "")))

    def plan(self) -> Any:
        """Return what every question will cost and how accurate it will be. No row is read and nothing is spent."""
        from lastbit.publication.plan import PublicationPlan

        return PublicationPlan.of(self)

    def run(self, folder: str | Path | None = None, *, key: str | Path | None = None) -> Any:
        """Charge the whole at once, answer every question, keep each answer in the books, and write the folder.

        A second run shows the same answers for nothing. A run that was killed goes on where it was.
        """
        from lastbit.publication.run import run_publication

        return run_publication(self, folder, key=key)

    def render(self, folder: str | Path | None = None, *, key: str | Path | None = None) -> Any:
        """Write the folder again from the books, for nothing: with other titles, or in other formats."""
        from lastbit.publication.run import render_publication

        return render_publication(self, folder, key=key)

    def with_wishes(self, change: Callable[[list[Wish]], list[Wish]]) -> Publication:
        """Return the same publication with other weights or wished accuracies, to compare plans."""
        wishes, problems = self._wishes_and_problems
        if problems:
            raise StudyError(problems)
        other = Publication(self.study)
        other.__dict__["_wishes_and_problems"] = (change(wishes), [])
        return other


def plan_facts(edition: str, requests: Mapping[str, Request]) -> dict[str, Any]:
    """Return what makes a plan this one: its questions by name, each with its price, and the edition."""
    return {
        "version": VERSION,
        "publication": edition,
        "questions": [
            {
                "name": name,
                **{key: fact for key, fact in identity_of(request).items() if key != "table"},
                "cost": request.question.mechanism.cost.text,
            }
            for name, request in requests.items()
        ],
    }


def hash_facts(facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the facts of a plan."""
    text = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()
