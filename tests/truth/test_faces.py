"""The command, the service, its page and `ask` say the same as the library, on the same words."""

from __future__ import annotations

import asyncio
import html
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.mechanisms import mechanism
from lastbit.output.json_values import json_text
from lastbit.output.table import PEOPLE, format_cells
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Face
from lastbit.questions.rendering import render_answer
from lastbit.questions.row_options import RowOptions
from lastbit.values import contribution_bound
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.tokens import Tokens
from tests.fixed_words import FixedWords
from tests.truth.cases import CASES, Case
from tests.truth.harness import Trial

NAMES = (
    "describe delta 1e-6 of crowd",
    "count of crowd",
    "count rows most_rows 3 of crowd",
    "count by rows most_rows 3 of crowd",
    "count by one_each of clinic",
    "count by most_items auto of crowd",
    "histogram month day most_items 1 of clinic",
    "count by weights most_items 2 of clinic",
    "sum of of crowd",
    "mean of of crowd",
    "share of of crowd",
    "median by of one_each of torn",
    "quantile of at ('1/3',) per row most_rows 2 of same rows",
    "top by k 3 of crowd",
    "top by k 3 set of crowd",
    "top by in_each day month day k 2 most_items 2 of ward with numbers",
    "choose by k 3 delta 1e-6 of crowd",
    "measure by k 3 of crowd",
    "above by threshold 60 limit 3 of crowd",
    "top unlisted by k 3 delta 1e-6 most_items 1 of popular",
    "histogram unlisted by delta 1e-6 most_items 1 of popular",
    "tables by edges rho 1/2 ways 1 of crowd",
    "tables by edges rho 1/2 missing show one_each of crowd",
)
"""One of each kind of answer."""
FACES = [case for case in CASES if case.name in NAMES]
OWN = ("account", "charged", "reused")
"""What a face says of the books."""


WORDS: tuple[Face, ...] = ("command", "python", "service", "page")


@pytest.fixture
def rewind(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Returns a function after which the next release has the same words and the same lot."""

    def rewind() -> None:
        monkeypatch.setattr(mechanism, "_SYSTEM", lb.Sampler(FixedWords("faces")))
        monkeypatch.setattr(contribution_bound, "secrets", FixedWords("lots of faces"))

    return rewind


def plain(data: Any) -> dict[str, Any]:
    """Return what a program reads, without the books; a command names the books too."""
    read: dict[str, Any] = json.loads(json_text(data))
    read["notes"] = [sentence.partition("To ask that: ")[0] for sentence in read["notes"]]
    return {name: value for name, value in read.items() if name not in OWN}


def test_every_kind_is_asked_through_every_face() -> None:
    assert len(FACES) == len(NAMES)
    assert {case.kind for case in FACES} == KINDS.keys()


@pytest.mark.parametrize("case", FACES, ids=lambda case: case.name)
def test_every_face_says_the_same_on_the_same_words(case: Case, tmp_path: Path, rewind: Any, capsys: Any) -> None:
    trial = Trial(case, tmp_path)
    request, question = trial.request, trial.request.question
    rewind()
    values = question.reading.run()  # type: ignore[union-attr]
    view = render_answer(request, None, question.prepare(values)(mechanism.resolve_draw(None)))
    # Each face names options in its own words: the sentences are those of one answer.
    said = {face: plain(render_answer(replace(request, face=face), None, view.published).data) for face in WORDS}

    rewind()
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in case.options.items()}
    asked = lb.ask(case.kind, *request["source"], **options)
    assert asked == view.published
    assert plain(asked.data) == said["python"]

    rewind()
    assert cli._run([*shlex.split(request.command)[1:], "--json"], debug=False) == 0
    assert plain(json.loads(capsys.readouterr().out)) == said["command"]

    rewind()
    assert cli._run(shlex.split(request.command)[1:], debug=False) == 0
    printed = " ".join(capsys.readouterr().out.split())
    report = view.report
    cells = format_cells(report.columns, whole=(*PEOPLE, *report.whole_columns))
    words = [report.title, *(cell for column in cells for cell in column)]
    for word in [*words, *said["command"]["notes"]]:
        assert " ".join(word.split()) in printed

    rewind()
    released, page = asyncio.run(serve(case, request["source"][0], tmp_path))
    assert plain(released) == said["service"]
    for word in [*words, *said["page"]["notes"]]:
        assert word in page
    rows = asked.to_frame()
    if report.frame:
        assert list(rows.columns) == list(report.frame)
        assert len(rows) == len(next(iter(report.frame.values())))


async def serve(case: Case, source: str, folder: Path) -> tuple[dict[str, Any], str]:
    """Return what the service says of a release, and the text of its page."""
    ledger = folder / "budget.db"
    lb.Ledger(ledger).create("people", epsilon=100, delta="1e-3")
    tokens, secrets = Tokens.make()
    desk = Desk(RowOptions(source=(source,), unit="person"), str(ledger), "people")
    app = application(desk, tokens, frozenset({"here"}), secure=False)
    headers = {"authorization": f"Bearer {secrets['release']}"}
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in case.options.items()}
    del options["unit"]
    if "month" in options and case.kind == "histogram":
        options |= {"of": options.pop("month"), "every": "month"}
    try:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://here", headers=headers
        ) as client:
            confirmed = await client.post("/api/confirmations", json={"question": case.kind, "options": options})
            assert confirmed.status_code == 201, confirmed.text
            answer = (await client.post("/api/releases", json={"key": confirmed.json()["key"]})).json()
            page = (await client.get(f"/results/{answer['entry']}")).text
    finally:
        desk.jobs.close()
    return answer["release"], html.unescape(page)
