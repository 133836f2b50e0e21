"""Listed combinations of columns: just those that exist, in every grouped question, however they are typed."""

from __future__ import annotations

import json
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit.publication import certificate
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS

PAIRS = [("north", "1"), ("south", "1"), ("south", "3")]
RECORDS = [{"region": region, "ward": ward} for region, ward in PAIRS]


@pytest.fixture
def visits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    """Four people of five are in one combination or in several; some have only one that nobody listed."""
    monkeypatch.chdir(tmp_path)
    rows = [
        (person, region, ward, person % 10)
        for person in range(400)
        for place, (region, ward) in enumerate([("north", 1), ("south", 1), ("south", 3), ("north", 3), ("east", 1)])
        if person % 5 in (place, (place + 1) % 5)
    ]
    frame = pd.DataFrame(rows, columns=["patient", "region", "ward", "cost"])
    frame.to_csv("visits.csv", index=False)
    frame.to_parquet("visits.parquet", index=False)
    Path("pairs.csv").write_text("ward,region\n" + "".join(f'{ward},"{region}"\n' for region, ward in PAIRS))
    return frame


ASKED: dict[str, Any] = {"unit": "patient", "by": ["region", "ward"], "domain": "pairs.csv", "epsilon": 1}


def people_of(visits: pd.DataFrame) -> list[int]:
    return [
        visits[(visits["region"] == region) & (visits["ward"] == int(ward))]["patient"].nunique()
        for region, ward in PAIRS
    ]


@pytest.mark.parametrize("source", ["visits.csv", "visits.parquet"])
def test_listed_combinations_are_counted_and_no_others(visits: pd.DataFrame, source: str) -> None:
    """A column of whole numbers takes the texts of the file for numbers."""
    counts = KINDS["count"].parse({"source": source, **ASKED}).question.reading.run()  # type: ignore[union-attr]
    assert counts.items == tuple(PAIRS)
    assert counts.values.tolist() == people_of(visits)
    assert counts.total == 3  # a person may be in each of them
    question = KINDS["count"].parse({"source": source, **ASKED, "one_each": True}).question
    values = question.reading.run()  # type: ignore[union-attr]
    listed = visits.merge(pd.DataFrame({"region": [r for r, _ in PAIRS], "ward": [int(w) for _, w in PAIRS]}))
    # The lot is among listed combinations: everybody who has one counts in one.
    assert sum(values["answer"].values) == listed["patient"].nunique()
    assert values["answer"].items == tuple(PAIRS)
    assert values["spread"].values.sum() == listed["patient"].nunique()
    assert question.mechanism.cost.text == "epsilon 1"


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("count", {"rows": True, "most_rows": 2}),
        ("count", {"weights": "cost", "bounds": (0, 9), "most_items": 2}),
        ("sum", {"of": "cost", "bounds": (0, 9)}),
        ("mean", {"of": "cost", "bounds": (0, 9), "one_each": True}),
        ("share", {"of": "cost > 4", "most_items": 2}),
        ("median", {"of": "cost", "bounds": (0, 9)}),
        ("quantile", {"of": "cost", "bounds": (0, 9), "at": [0.25, 0.5], "most_items": 2}),
    ],
)
def test_every_grouped_question_takes_them(visits: pd.DataFrame, kind: str, options: dict[str, Any]) -> None:
    answer = lb.ask(kind, visits, **{**ASKED, **options, "epsilon": 50, "level": "0.999999999"})
    frame = answer.to_frame()
    rows = list(zip(frame["region"], frame["ward"], strict=True))
    assert list(dict.fromkeys(rows)) == PAIRS
    if "people_low" in frame:
        ends = dict(zip(rows, zip(frame["people_low"], frame["people_high"], strict=True), strict=True))
        for pair, true in zip(PAIRS, people_of(visits), strict=True):
            assert ends[pair][0] <= true <= ends[pair][1]
    assert ("people_low" in frame) == (kind != "count")
    assert any("with a combination of them that is not listed, are left out" in note for note in answer.report.notes)


def test_one_question_however_it_is_typed(visits: pd.DataFrame) -> None:
    del visits
    typed: list[Any] = [
        "pairs.csv",
        Path("pairs.csv"),
        PAIRS,
        RECORDS,
        [dict(reversed(row.items())) for row in RECORDS],
    ]
    requests = [KINDS["count"].parse({"source": "visits.csv", **ASKED, "domain": domain}) for domain in typed]
    (facts,) = {json.dumps(identity_of(request)) for request in requests}
    for request in requests:
        assert request.items.names == tuple(PAIRS)
        rebuilt = rebuild_request(
            facts, ["visits.csv"], {request.typed_domains[0].digest: request.typed_domains[0]}.get
        )
        assert rebuilt is not None
        assert json.dumps(identity_of(rebuilt)) == facts
    by_service = KINDS["count"].parse({"by": ["region", "ward"], "domain": RECORDS, "epsilon": 1}, "service",
                                      {"source": "visits.csv", "unit": "patient"})  # fmt: skip
    assert by_service.items.names == tuple(PAIRS)
    assert "--domain pairs.csv" in requests[0].command
    *files, command = requests[2].command.split("\n")
    assert files == ["printf '%s\\n' region,ward north,1 south,1 south,3 > items-1.csv"]
    assert shlex.split(command)[-4:] == ["--domain", "items-1.csv", "--epsilon", "1"]
    program = (
        requests[2].python.replace("print(release)", "asked = release").replace("release = lb.ask", "asked = dict")
    )
    assert 'domain=[{"region": "north", "ward": "1"}, ' in program
    kept = certificate._list_items(requests[0])
    assert certificate.rebuild_request("count", {**ASKED, "domain": kept}).items.names == tuple(PAIRS)


def test_two_lists_stay_two_lists() -> None:
    for domain in ([["north", "south"], ["1", "3"]], {"region": ["north", "south"], "ward": ["1", "3"]}):
        assert KINDS["count"].parse({"source": "v.csv", **ASKED, "domain": domain}).items.size == 4
    assert (
        KINDS["count"].parse({"source": "v.csv", **ASKED, "domain": [("a", "b", "c"), ("x", "y", "z")]}).items.size == 9
    )


def test_edges_of_a_columns_file_are_read_first(visits: pd.DataFrame) -> None:
    Path("study.toml").write_text("[columns.cost]\nedges = [0, 5]\n[columns.region]\nvalues = ['north', 'south']\n")
    Path("costs.csv").write_text("region,cost\nnorth,under 5\nsouth,5 and over\n")
    asked = {**ASKED, "by": ["region", "cost"], "domain": "costs.csv", "columns": "study.toml"}
    counts = KINDS["count"].parse({"source": "visits.csv", **asked}).question.reading.run()  # type: ignore[union-attr]
    expected = [
        visits[(visits["region"] == "north") & (visits["cost"] < 5)]["patient"].nunique(),
        visits[(visits["region"] == "south") & (visits["cost"] >= 5)]["patient"].nunique(),
    ]
    assert counts.values.tolist() == expected
    assert Fraction(counts.sensitivity) == 1


@pytest.mark.usefixtures("visits")
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("region,ward\nnorth,1\nnorth,1\n", {}, "a combination once in each line"),
        ('region,ward\nnorth,1\n"north",1\n', {}, "each combination once: one is there twice"),
        ("region,sex\nnorth,f\n", {}, "a header that names the columns of --by, region, ward: got region, sex"),
        ("region,ward\nnorth\n", {}, "a value of each column in line 2"),
        ("region,ward\n", {}, "a combination once in each line, below its header"),
        ("region,ward\nnorth,1\n", {"others": "show"}, "leave them out where combinations are listed"),
        ("region,ward\nnorth,1\n", {"missing": "show"}, "leave them out where combinations are listed"),
    ],
)
def test_a_file_that_is_wrong_says_so(text: str, options: dict[str, Any], message: str) -> None:
    Path("wrong.csv").write_text(text)
    with pytest.raises(lb.ParameterError, match=message):
        _ = KINDS["count"].parse({"source": "visits.csv", **ASKED, "domain": "wrong.csv", **options}).question


@pytest.mark.usefixtures("visits")
def test_what_has_no_combinations_says_so() -> None:
    with pytest.raises(lb.ParameterError, match="each combination once"):
        KINDS["count"].parse({"source": "visits.csv", **ASKED, "domain": [*PAIRS, PAIRS[0]]})
    with pytest.raises(lb.ParameterError, match="combinations of the columns of --by, region, ward: got region, sex"):
        KINDS["count"].parse({"source": "visits.csv", **ASKED, "domain": [{"region": "north", "sex": "f"}]})
    with pytest.raises(lb.ParameterError, match="the same columns in each combination"):
        KINDS["count"].parse({"source": "visits.csv", **ASKED, "domain": [*RECORDS, {"region": "north"}]})
    with pytest.raises(lb.ParameterError, match="tables have every combination"):
        _ = KINDS["tables"].parse({"source": "visits.csv", **ASKED, "domain": RECORDS, "delta": "1e-6"}).question
    with pytest.raises(lb.ParameterError, match="--in-each needs a list of each column"):
        _ = KINDS["top"].parse({"source": "visits.csv", **ASKED, "by": "ward", "in_each": "region", "k": 1}).question
    frame = pd.DataFrame({"patient": [1], "region": ["north"], "ward": [1]})
    with pytest.raises(lb.ParameterError, match="each value of 'ward' in one way"):
        lb.ask("count", frame, **{**ASKED, "domain": [("north", "1"), ("south", "01")]})
