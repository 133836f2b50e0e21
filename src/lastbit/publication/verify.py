"""`verify`: what can be proved of a published folder without the data, and what cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import lastbit
from lastbit.errors import LastbitError, ParameterError
from lastbit.ledger import chain, codec
from lastbit.ledger.account import Account
from lastbit.ledger.price import Price
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import Parts
from lastbit.output.data_files import csv_bytes
from lastbit.output.words import plural
from lastbit.publication.certificate import (
    CERTIFICATE,
    answer_columns,
    read_document,
    rebuild_request,
    render_part,
    signed_bytes,
)
from lastbit.publication.comparisons import StudyComparison
from lastbit.publication.folder import (
    ANSWERS,
    REGISTRY,
    REPORT,
    digest_files,
    holds_columns,
    render_page,
    text_bytes,
)
from lastbit.publication.publication import hash_facts, plan_facts
from lastbit.publication.rates import PublicRate
from lastbit.publication.signature import fingerprint, is_signed, public_bytes, read_public_key
from lastbit.publication.small_audits import audit_mechanisms
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.request import Request
from lastbit.release import Release

NOT_PROVED: Final = (
    "That the noise was drawn honestly, and only once for each part: whoever runs a program can run another.",
    "That the rows are what they are said to be, and that the column of the unit names people.",
    "That the publisher has no other publication of the same people: ask for the books of the account.",
)
"""What no check of a folder can show."""


@dataclass(frozen=True)
class FolderVerdict:
    """What is proved of a folder, what is wrong with it, and what cannot be proved this way."""

    folder: Path
    title: str
    proved: tuple[str, ...]
    problems: tuple[str, ...]
    fingerprint: str
    """The fingerprint of the key that signed; "" where nobody did."""
    not_proved: tuple[str, ...] = NOT_PROVED

    @property
    def holds(self) -> bool:
        """Whether every check passed."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.holds

    def __repr__(self) -> str:
        lines = [f"{self.title}: {'every check passed' if self.holds else 'NOT as it was published'}"]
        lines += [f"  wrong       {problem}" for problem in self.problems]
        lines += [f"  proved      {line}" for line in self.proved]
        lines += [f"  not proved  {line}" for line in self.not_proved]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict for programs."""
        return {
            "title": self.title,
            "holds": self.holds,
            "problems": list(self.problems),
            "proved": list(self.proved),
            "not_proved": list(self.not_proved),
            "fingerprint": self.fingerprint,
        }


def verify(folder: str | Path, *, key: str | Path | None = None, audit: bool = True) -> FolderVerdict:
    """Check a published folder. No data, ledger or network is needed.

    `key` is the file of the publisher's public key: then the folder must be signed with it. `audit` runs the exact
    auditor on small instances of the mechanisms.

    >>> verify("report-2024")
    Traceback (most recent call last):
    lastbit.errors.ParameterError: report-2024/release.json cannot be read: No such file or directory. Name a ...
    """
    place = Path(folder)
    expected = None if key is None else public_bytes(read_public_key(key))
    try:
        content = (place / CERTIFICATE).read_bytes()
    except OSError as error:
        raise ParameterError(
            f"{place / CERTIFICATE} cannot be read: {error.strerror}. Name a published folder."
        ) from None
    document, problems = read_document(content)
    if document is None:
        return FolderVerdict(place, place.name, (), tuple(problems), "")
    check = _Check(place, document, expected)
    check.problems += problems
    check.run(audit)
    title = (
        str(document.get("study", {}).get("title", place.name))
        if isinstance(document.get("study"), dict)
        else place.name
    )
    return FolderVerdict(
        place, title, tuple(check.proved), tuple(check.problems), check.fingerprint, tuple(check.not_proved)
    )


class _Check:
    """One check of a folder, step by step. What a hostile certificate holds may stop a step, and is a problem."""

    def __init__(self, folder: Path, document: Mapping[str, Any], expected: bytes | None) -> None:
        self.folder, self.document, self.expected = folder, document, expected
        self.proved: list[str] = []
        self.problems: list[str] = []
        self.not_proved = list(NOT_PROVED)
        self.fingerprint = ""
        self.requests: dict[str, Request] = {}
        self.tables = 0
        self.rates: dict[str, PublicRate | None] = {}
        self.published: dict[str, Release] = {}

    def run(self, audit: bool) -> None:
        """Run all steps."""
        steps: list[tuple[str, Callable[[], Iterator[str]]]] = [
            ("the signature", self._check_signature),
            ("the files", self._check_files),
            ("the costs", self._check_costs),
            ("the plan", self._check_plan),
            ("the books", self._check_books),
            ("the answers", self._check_answers),
        ]
        if audit:
            steps.append(("the mechanisms", self._check_mechanisms))
        for name, step in steps:
            before, proved = len(self.problems), len(self.proved)
            try:
                for problem in step():
                    self.problems.append(problem)
            except Exception as error:  # a certificate of somebody else: whatever is in it, it is a problem
                text = str(error) if isinstance(error, LastbitError) else type(error).__name__
                del self.problems[before:]
                self.problems.append(f"{name} cannot be checked: {text}")
            if len(self.problems) > before:
                del self.proved[proved:]

    def _check_signature(self) -> Iterator[str]:
        signature = self.document.get("signature")
        if signature is None:
            if self.expected is not None:
                yield "the folder is unsigned, and a key was named."
            else:
                self.not_proved.append("Who made this folder: it is unsigned.")
            return
        if not is_signed(signature, signed_bytes(self.document)):
            return  # `read_document` has said so
        key = bytes.fromhex(signature["public_key"])
        self.fingerprint = fingerprint(key)
        if self.expected is not None and key != self.expected:
            yield f"the folder is signed by another key, {self.fingerprint}."
            return
        by = "the key that was named" if self.expected is not None else "a key; compare it with the publisher's page"
        self.proved.append(f"Signed by {by}: {self.fingerprint}.")

    def _check_files(self) -> Iterator[str]:
        stated, there = self.document["files"], digest_files(self.folder)
        for name in sorted(stated.keys() | there.keys()):
            if name not in there:
                yield f"the file {name} is missing."
            elif name not in stated:
                yield f"the file {name} is not part of the publication."
            elif stated[name] != there[name]:
                yield f"the file {name} was changed."
        if stated == there:
            self.proved.append(f"All {len(stated)} files are as they were published.")

    def _check_costs(self) -> Iterator[str]:
        """Build every mechanism again from its question, and compare parameters and costs; then the total."""
        plan = self.document["plan"]
        mechanisms: dict[str, Mechanism[Any]] = {}
        for question in plan["questions"]:
            request = rebuild_request(question["ask"], question["options"])
            mechanism = request.question.mechanism
            name = question["name"]
            self.requests[name], mechanisms[name] = request, mechanism
            self.rates[name] = None if question["rate"] is None else PublicRate(**question["rate"])
            stated = (question["mechanism"], question["parameters"], question["cost"])
            if stated != (mechanism.name, dict(mechanism.parameters), mechanism.cost.text):
                yield f"{name} states another mechanism or cost than its question has: {mechanism.cost.text}."
        total = Parts(parts=mechanisms).cost
        if plan["cost"] != total.text:
            yield f"the costs of all questions add up to {total.text}, and {plan['cost']} is stated."
        budget = {name: Fraction(text) for name, text in plan["budget"].items()}
        account = Account.with_limit("study", **budget)  # type: ignore[arg-type]
        if not account.plus(Price.of(total)).within:
            yield f"all questions together cost {total.text}, which is more than the budget that is stated."
        self.proved.append(f"Every cost follows from its question; together {total.text}, within the stated budget.")

    def _check_plan(self) -> Iterator[str]:
        plan = self.document["plan"]
        if hash_facts(plan_facts(plan["edition"], self.requests)) != plan["hash"]:
            yield "the hash of the plan does not fit its questions."
        else:
            self.proved.append(f"The plan is {plan['hash'][:16]}: its hash fits its questions and its edition.")

    def _check_books(self) -> Iterator[str]:
        books, plan = self.document["books"], self.document["plan"]
        before, charge, parts = books["before"], None, {}
        for line in books["entries"]:
            if "kind" in line:
                entry = SimpleNamespace(**line)
                if chain.digest(before, entry) != entry.digest:
                    yield f"entry {entry.id} of the books does not fit its digest."
                if entry.kind == "charge":
                    charge = entry
                else:
                    parts[entry.note] = entry
            before = line["digest"]
        if charge is None or hash_facts(json.loads(charge.question)) != plan["hash"]:
            yield "the books have no charge for this plan."
            return
        if charge.cost != plan["cost"]:
            yield f"entry {charge.id} of the books charged {charge.cost}, and {plan['cost']} is stated."
        for question in plan["questions"]:
            part = parts.get(question["name"])
            text = self.document["answers"][question["name"]]["published"]
            if part is None or json.loads(part.terms) != {"of": str(charge.id)}:
                yield f"the books have no entry for {question['name']}."
            elif part.cost != question["cost"]:
                yield f"the books have {question['name']} at {part.cost}, and {question['cost']} is stated."
            elif part.published_digest != codec.digest(part.digest, text):
                yield f"what is published as {question['name']} is not what the books kept."
        self.proved.append(
            f"Entry {charge.id} of {charge.dataset!r} charged the whole before the first answer was kept, and each "
            "answer is the one that was kept; the digests of the entries fit each other."
        )

    def _check_answers(self) -> Iterator[str]:
        """Compute every number, interval and sentence again from the published values."""
        views: dict[str, AnswerView] = {}
        for name, request in self.requests.items():
            stated = self.document["answers"][name]
            published = codec.decode(stated["published"])
            if not isinstance(published, Release):
                yield f"the answer {name} cannot be read by this lastbit."
                continue
            if published.cost != request.question.mechanism.cost:
                yield f"the answer {name} states {published.cost.text}, and its question costs another."
            views[name] = view = render_part(request, self.rates[name], self.document["plan"]["where"], published)
            if stated["title"] != view.title:
                yield f"the title of {name} in {CERTIFICATE} is not that of its question."
            yield from self._check_columns(name, view, stated["columns"])
        for part in self.document["comparisons"]:
            views[part["name"]] = StudyComparison.of_certificate(part).render(views)
            yield from self._check_columns(part["name"], views[part["name"]], part["columns"])
        if self.document["comparisons"]:
            self.not_proved.append("That the earlier numbers of comparisons were published so: verify their folder.")
        self.proved.append(
            f"The numbers and intervals of {plural(len(views), 'answer')} follow from the published values, in "
            f"{CERTIFICATE} and in {plural(self.tables, 'file')} of tables."
        )
        yield from self._check_pages(views)

    def _check_columns(self, name: str, view: AnswerView, stated: Any) -> Iterator[str]:
        """Compare the columns of an answer with those that are stated, and with its files of tables."""
        columns = answer_columns(view)
        if stated != columns:
            yield f"the numbers of {name} in {CERTIFICATE} do not follow from the published values."
        ways: dict[str, Callable[[Path], bool]] = {
            "csv": lambda path: path.read_bytes() == csv_bytes(columns),
            "parquet": lambda path: holds_columns(path, columns),
            "svg": lambda path: not self._is_of_this_version or path.read_bytes() == text_bytes(view.chart),
        }
        for ending, is_same in ways.items():
            path = self.folder / ANSWERS / f"{name}.{ending}"
            if not path.exists():
                continue
            self.tables += ending != "svg"
            if not is_same(path):
                yield f"{ANSWERS}/{path.name} does not follow from the published values."

    @property
    def _is_of_this_version(self) -> bool:
        """Whether this version wrote the folder. Another one may say and draw the same in another way."""
        return bool(self.document["lastbit"] == lastbit.__version__)

    def _check_pages(self, views: Mapping[str, AnswerView]) -> Iterator[str]:
        """Write the pages again."""
        if any(name.endswith(".png") for name in self.document["files"]):
            self.not_proved.append("That pictures in PNG show these numbers: a drawing library made them.")
        for name in (REPORT, REGISTRY):
            path = self.folder / name
            if not path.exists():
                continue
            if not self._is_of_this_version:
                self.not_proved.append(f"The words of {name}: it was made by lastbit {self.document['lastbit']}.")
            elif path.read_bytes() != render_page(name, self.document, views):
                yield f"{name} does not follow from the published values."
            else:
                self.proved.append(f"Every word of {name} follows from {CERTIFICATE}.")

    def _check_mechanisms(self) -> Iterator[str]:
        mechanisms = [request.question.mechanism for request in self.requests.values()]
        verdicts = audit_mechanisms(mechanisms)
        for name, holds in verdicts.items():
            if holds is False:
                yield f"the auditor convicts {name} on a small instance."
        good = [name for name, holds in verdicts.items() if holds]
        if good:
            self.proved.append(f"The exact auditor finds the cost of small instances kept: {', '.join(good)}.")
        other = [name for name, holds in verdicts.items() if holds is None]
        if other:
            self.not_proved.append(f"The cost of small instances of {', '.join(other)}: none is known here.")
