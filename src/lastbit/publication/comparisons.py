"""Comparisons of a study: its answers against published ones of an earlier study. They cost nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.publication.study import Problem, Study
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.compare import compare
from lastbit.questions.stored_answers import read_document

_OF_AN_ANSWER: Final = ("title", "level", "value", "low", "high", "exact", "groups", "noun", "never_negative")
"""What a comparison needs of the JSON of a command."""


@dataclass(frozen=True)
class StudyComparison:
    """One answer of a study against an earlier one, whose published numbers it carries."""

    name: str
    of: str
    way: Any
    """difference, ratio or percent."""
    earlier: Mapping[str, Any]
    """The earlier answer, as far as the comparison needs it."""
    level: str
    title: str = ""
    """The title that the file gives it; "" where it gives none."""

    def render(self, views: Mapping[str, AnswerView]) -> AnswerView:
        """Return the comparison with the answer of this study."""
        view = views[self.of]
        compared = compare(self._arrange(view), view, as_=self.way, of=self._part, level=self.level)
        if not self.title:
            return compared
        return replace(compared, report=replace(compared.report, title=self.title))

    @property
    def _part(self) -> str | None:
        return self.of if "answers" in self.earlier else None

    def _arrange(self, view: AnswerView) -> Mapping[str, Any]:
        """Return the earlier answer with its columns in the order of this one: JSON keeps none."""
        if self._part is None:
            return self.earlier
        answer = self.earlier["answers"][self.of]
        names = [name for name in view.data_columns if name in answer["columns"]]
        columns = {name: answer["columns"][name] for name in dict.fromkeys((*names, *answer["columns"]))}
        return {**self.earlier, "answers": {self.of: {**answer, "columns": columns}}}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a certificate has it: with the earlier numbers, and without their file."""
        return {
            "name": self.name, "of": self.of, "as": self.way, "earlier": self.earlier, "level": self.level,
            "title": self.title,
        }  # fmt: skip

    @classmethod
    def of_certificate(cls, part: Mapping[str, Any]) -> StudyComparison:
        """Return the comparison that a certificate describes. No file of the reader is read."""
        if not isinstance(part["earlier"], dict):
            raise ParameterError("the earlier answer of a comparison must be in the certificate.")
        return cls(*(part[name] for name in ("name", "of", "as", "earlier", "level", "title")))


def read_comparisons(study: Study) -> list[StudyComparison]:
    """Return the comparisons of a study, with the numbers of the earlier publications that they name."""
    return [_read_comparison(study, typed) for typed in study.comparisons]


def _read_comparison(study: Study, typed: Mapping[str, Any]) -> StudyComparison:
    of = typed["of"]
    try:
        document = json.loads(Path(study.place(typed["with"])).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is no JSON"
        raise ParameterError(
            f"{typed['with']} cannot be read: {reason}. Name release.json of an earlier study."
        ) from None
    is_study = isinstance(document, dict) and "answers" in document
    read_document(document, of if is_study else None)
    level = str(study.output.get("level", "0.95"))
    return StudyComparison(
        typed["name"], of, typed.get("as", "difference"), _extract_numbers(document, of), level, typed.get("title", "")
    )


def _extract_numbers(document: Mapping[str, Any], of: str) -> dict[str, Any]:
    """Return what a comparison needs of an earlier publication, or of one answer."""
    if "answers" not in document:
        return {name: document[name] for name in _OF_AN_ANSWER if name in document}
    answer = document["answers"][of]
    (question,) = [part for part in document["plan"]["questions"] if part["name"] == of]
    options = {
        name: value for name, value in question["options"].items() if name in ("of", "weights", "bounds", "level")
    }
    asked = {name: question[name] for name in ("name", "ask")}
    return {
        "answers": {of: {"title": answer["title"], "columns": answer["columns"]}},
        "plan": {"hash": document["plan"].get("hash", ""), "questions": [{**asked, "options": options}]},
        "nouns": list(document["nouns"]),
    }


def check_comparisons(study: Study, simulate: Callable[[str], AnswerView]) -> Iterator[Problem]:
    """Yield what cannot be compared, before anything is charged: tried on made-up answers of the same shape.

    `simulate` returns such an answer of the question with a name.
    """
    for place, typed in enumerate(study.comparisons, 1):
        try:
            comparison = _read_comparison(study, typed)
        except LastbitError as error:
            yield study.problem(f"compare[{place}].with", str(error))
            continue
        try:
            comparison.render({comparison.of: simulate(comparison.of)})
        except LastbitError as error:
            yield study.problem(f"compare[{place}].of", str(error))
