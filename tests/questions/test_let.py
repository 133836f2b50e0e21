"""`--let`, `--split` and `--join` in every face that holds the table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lastbit as lb
from lastbit.questions.identity import identity_of, rebuild_request
from lastbit.questions.kinds import KINDS
from tests.cli.test_commands import run
from tests.publication.studies import TEXT, make_study

BACK = "date_diff('day', lag(left_on) over (order by day), day) <= 30"
ROWS = [
    ("a", "2024-01-01", "2024-01-03", "x;y", "1"),
    ("a", "2024-01-20", "2024-01-21", "y", "2"),
    ("a", "2024-06-01", "2024-06-02", "", "3"),
    ("b", "2024-02-01", "2024-02-09", "x; z", "1"),
    ("b", "2024-05-01", "2024-05-02", "x", "1"),
    ("c", "2024-03-01", "2024-03-02", "z", "9"),
]
LARGE: dict[str, Any] = {"unit": "patient", "epsilon": 1000}


@pytest.fixture(params=["file", "frame"])
def visits(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROWS, columns=["patient", "day", "left_on", "codes", "zip"])
    frame.to_csv("visits.csv", index=False)
    Path("regions.csv").write_text("zip,region\n1,north\n2,south\n3,south\n")
    Path("drugs.csv").write_text("patient,drug\na,p\na,q\nb,q\n")
    return "visits.csv" if request.param == "file" else frame


def test_people_by_how_often_they_came(visits: Any) -> None:
    answer = lb.ask("count", visits, let={"n": "count(*)"}, edges={"n": [1, 2, 3]}, **LARGE).to_frame()
    assert dict(zip(answer["n"], answer["value"], strict=True)) == {"under 2": 1, "2": 1, "3 and over": 1}


def test_the_share_of_visits_soon_after_the_last(visits: Any) -> None:
    people = lb.ask("share", visits, let={"back": BACK}, of="back", **LARGE).to_frame()
    assert round(float(people["value"][0])) == 33
    rows = lb.ask("share", visits, let={"back": BACK}, of="back", rows=True, most_rows=9, **LARGE).to_frame()
    assert round(float(rows["value"][0])) == 17  # one of six


def test_never_and_both_are_said_of_people(visits: Any) -> None:
    lets = {"never": "not any(contains(codes, 'z'))", "two": "any(zip = '1') and any(zip = '2')"}
    for where, number in {"never": 1, "two": 1, "never and two": 1, "not never": 2}.items():
        answer = lb.ask("count", visits, let=lets, where=where, **LARGE).to_frame()
        assert answer["value"][0] == number


def test_numbers_that_people_have(visits: Any) -> None:
    lets = {"days": "sum(date_diff('day', day, left_on))"}
    answer = lb.ask("mean", visits, let=lets, of="days", bounds=(0, 100), **LARGE).to_frame()
    assert abs(float(answer["value"][0]) - (4 + 9 + 1) / 3) < 0.1


def test_items_of_a_text(visits: Any) -> None:
    split = {"split": ["codes", ";"], "by": {"codes": ["x", "y", "z"]}}
    answer = lb.ask("count", visits, **split, **LARGE).to_frame()
    assert list(answer["value"]) == [2, 1, 2]
    rows = lb.ask("count", visits, **split, rows=True, most_rows=9, **LARGE).to_frame()
    assert list(rows["value"]) == [3, 2, 2]


def test_facts_of_another_file(visits: Any) -> None:
    answer = lb.ask(
        "count", visits, join="regions.csv", on="zip", by={"region": ["north", "south"]}, **LARGE
    ).to_frame()
    assert list(answer["value"]) == [2, 1]
    drugs = lb.ask("count", visits, join="drugs.csv", on="patient", by={"drug": ["p", "q"]}, **LARGE).to_frame()
    assert list(drugs["value"]) == [1, 2]


def test_several_tables_and_tables_of_libraries(visits: Any) -> None:
    """A file or a frame of either kind gives one answer; the text says what is public, and how rows meet."""
    regions, drugs = pd.read_csv("regions.csv", dtype=str), pd.read_csv("drugs.csv")
    if isinstance(visits, str):
        drugs["patient"] = drugs["patient"].astype("string")
    asked = {"by": {"drug": ["p", "q"], "region": ["north", "south"]}, **LARGE}
    answers = [
        lb.ask("count", visits, join=joined, on=["zip", "patient"], **asked)
        for joined in (["regions.csv", "drugs.csv"], [regions, drugs], [regions, "drugs.csv"])
    ]
    for answer in answers:
        assert list(answer.to_frame()["value"]) == [1, 1, 2, 1]
    assert "What regions.csv holds is public" in str(answers[0])
    assert "What the joined table holds is public" in str(answers[1])
    assert "meets each of their rows in the joined table, and counts once for each of them, in sums" in str(answers[1])
    rows = lb.ask("count", visits, join=drugs, on="patient", rows=True, most_rows=5, **LARGE).to_frame()
    assert rows["bounded_value"][0] == 5 + 2 + 1


def test_a_frame_has_no_name_in_the_books(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two frames are never one question, so that no answer of one is shown for the other."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("patient,zip\n1,a\n2,b\n", encoding="utf-8")
    regions = pd.DataFrame({"zip": ["a", "b"], "region": ["north", "south"]})
    ledger = lb.Ledger("budget.db")
    ledger.create("clinic", epsilon=5000)
    paid = {"ledger": "budget.db", "dataset": "clinic"}
    asked = {"unit": "patient", "on": "zip", "by": "region", "domain": ["north", "south"], "epsilon": 1000}
    for joined in (regions, regions.assign(region=["south", "south"])):
        lb.ask("count", "visits.csv", join=joined, **asked, **paid)
    assert ledger.account("clinic").spent == 2000
    assert {json.loads(entry.question)["table"][-1] for entry in ledger.history("clinic") if entry.question} == {"-"}
    with pytest.raises(lb.ParameterError, match="--reuse needs a table that has a name"):
        lb.ask("count", "visits.csv", join=regions, reuse=True, **asked, **paid)
    with pytest.raises(lb.ParameterError, match="the table itself"):
        lb.ask("count", "visits.csv", join="budget.db#entries", **asked, **paid)
    assert ledger.account("clinic").spent == 2000


def test_a_password_of_a_table_that_is_joined_is_nowhere() -> None:
    place = "postgresql://bob:hunter2@db/clinic#drugs"
    options = {"source": "v.csv", "unit": "patient", "join": place, "on": "patient", "epsilon": 1}
    request = KINDS["count"].parse(options)
    texts = (request.command, request.python, request.about, json.dumps(identity_of(request)))
    assert [text for text in texts if "hunter2" in text] == []
    assert "--join 'postgresql://bob@db/clinic#drugs'" in request.command
    other = KINDS["count"].parse({**options, "join": place.replace("#drugs", "#doses")})
    assert identity_of(other) != identity_of(request)
    same = KINDS["count"].parse({**options, "join": "postgres://db/clinic?user=bob#drugs"})
    assert identity_of(same)["table"] == identity_of(request)["table"]


@pytest.mark.parametrize("visits", ["file"], indirect=True)
def test_the_command_says_the_same(visits: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"count {visits} --unit patient --let 'n = count(*)' --let 'soon=n > 1' --where soon "
    words += "--split codes ';' --join regions.csv --on zip --join drugs.csv --on patient --epsilon 1000"
    assert run(f"{words} --json") == 0
    assert json.loads(capsys.readouterr().out)["value"] == [2]
    assert run(f"plan {words}") == run(f"{words} --dry-run") == 0
    assert KINDS["count"].parse(
        {"source": visits, "unit": "patient", "join": ["regions.csv", "drugs.csv"], "on": ["zip", "patient"]}
        | {"epsilon": 1}
    ).command == ("lastbit count visits.csv --unit patient --join regions.csv --join drugs.csv --on zip --on patient "
                  "--epsilon 1")  # fmt: skip
    request = KINDS["count"].parse(
        {"source": visits, "unit": "patient", "let": {"n": "count(*)"}, "split": ["codes", ";"], "epsilon": 1}
    )
    assert request.command == "lastbit count visits.csv --unit patient --split codes ';' --let 'n=count(*)' --epsilon 1"
    assert 'let={"n": "count(*)"}' in request.python


def test_a_question_is_known_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def identity(**options: Any) -> Any:
        return identity_of(KINDS["count"].parse({"source": "v.csv", "unit": "patient", "epsilon": 1, **options}))

    lets = {"a": "count(*)", "b": "a > 1"}
    same = identity(let=lets, join=tmp_path / "regions.csv", on="zip")
    assert same == identity(let=["b=a > 1", "a = count(*)"], join="regions.csv", on="zip")
    assert same["options"]["let"] == lets
    others = [{}, {"let": {"a": "count(*)"}}, {"let": lets}]
    others += [{"let": lets, "join": name, "on": "zip"} for name in ("other.csv", "old/regions.csv")]
    assert all(identity(**other) != same for other in others)
    tables = ["s.db#a/t", "s.db#b/t", "s.db#t", "postgresql://bob@h/c#x/t", "postgresql://bob@h/c#y/t"]
    of_tables = [json.dumps(identity(join=name, on="zip")) for name in tables]
    assert len({*of_tables}) == len(tables)
    keys = ("zip,year", "year, zip", [["year", "zip"]])
    of_two = [identity(join="regions.csv", on=on) for on in keys]
    assert of_two[0] == of_two[1] == of_two[2] != identity(join="regions.csv", on="zip")
    for joined in ((), ("regions.csv",), (str(tmp_path / "regions.csv"),)):
        found = rebuild_request(json.dumps(same), ["v.csv"], lambda _: None, joined, epsilon=1)
        assert found is not None
        assert dict(found["let"]) == lets
    assert rebuild_request(json.dumps(same), ["v.csv"], lambda _: None, ("old/regions.csv",), epsilon=1) is None


@pytest.mark.parametrize("options", [{"let": {"n": "count(*)"}}, {"join": "facts.csv", "on": "zip"}])
def test_no_column_stands_for_the_expression_of_a_unit(
    options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table has a column of this name, too: its rows would be put together for several units."""
    monkeypatch.chdir(tmp_path)
    Path("v.csv").write_text("patient,day,year,zip\n1,2023-01-01,x,a\n1,2024-01-01,x,a\n", encoding="utf-8")
    Path("facts.csv").write_text("zip,region\na,north\n", encoding="utf-8")
    unit = ["patient", "year(day) as year"]
    with pytest.raises(lb.ParameterError, match="'year' is an expression"):
        lb.ask("count", "v.csv", unit=unit, epsilon=1, **options)


def test_another_file_of_the_same_name_is_another_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer for the regions of one year is not that for those of another."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("patient,zip\n1,a\n2,a\n3,b\n", encoding="utf-8")
    for year, rows in (("2023", "a,north\nb,south\n"), ("2024", "a,south\nb,north\n")):
        Path(year).mkdir()
        Path(year, "regions.csv").write_text(f"zip,region\n{rows}", encoding="utf-8")
    ledger = lb.Ledger("budget.db")
    ledger.create("clinic", epsilon=5000)
    asked = {"unit": "patient", "on": "zip", "by": "region", "domain": ["north", "south"], "epsilon": 1000}
    paid = {"ledger": "budget.db", "dataset": "clinic", "reuse": True}
    files = [f"{year}/regions.csv" for year in ("2023", "2024", "2023")]
    answers = [lb.ask("count", "visits.csv", join=file, **asked, **paid) for file in files]
    numbers = [[int(value) for value in answer.data["value"]] for answer in answers]
    assert numbers == [[2, 1], [1, 2], [2, 1]]
    assert ledger.account("clinic").spent == 2000


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("count(*)", "must be NAME=EXPR"),
        (["= count(*)"], "must name its column"),
        (["1a = count(*)"], "must name its column"),
        (["lastbit_x = count(*)"], "must name its column"),
        (["a b = count(*)"], "must name its column"),
        (["a ="], "must not be empty"),
        ({"a": 3}, "must be text"),
        ({"both": "count(*)"}, "a word of SQL"),
        ({"a": "count(*)", "A": "count(*)"}, "each column once"),
        (7, "or a mapping"),
        ({f"c{n}": "count(*)" for n in range(101)}, "at most 100 columns"),
    ],
)
def test_words_that_are_no_let(value: Any, reason: str) -> None:
    with pytest.raises(lb.ParameterError, match=reason):
        _ = KINDS["count"].parse({"source": "v.csv", "unit": "patient", "let": value, "epsilon": 1}).rows


def test_a_file_of_counts_has_no_rows_of_people() -> None:
    with pytest.raises(lb.ParameterError, match="--let needs --unit"):
        _ = (
            KINDS["top"]
            .parse(
                {"source": "v.csv", "by": "w", "domain": ["a"], "counts": "n", "sensitivity": 1, "k": 1, "epsilon": 1}
                | {"let": {"a": "count(*)"}}
            )
            .rows
        )


def test_a_column_called_row_is_a_unit_of_a_frame_too() -> None:
    frame = pd.DataFrame({"row": [1, 1, 2]})
    answer = lb.ask("count", frame, unit="row", let={"n": "count(*)"}, where="n > 1", epsilon=1000).to_frame()
    assert answer["value"][0] == 1


def test_spark_says_before_reading_that_it_cannot(session: Any) -> None:
    frame = session.createDataFrame([("a", 1)], ["patient", "n"])
    for kind, options in {"count": {}, "tables": {"by": "n", "domain": {"n": [1, 2]}, "where": "m > 0"}}.items():
        with pytest.raises(lb.ParameterError, match="Spark"):
            lb.ask(kind, frame, unit="patient", let={"m": "count(*)"}, rho=1, **options)
    with pytest.raises(lb.ParameterError, match=r"Bring it here.*Nothing was read"):
        lb.ask("count", pd.DataFrame({"patient": ["a"]}), unit="patient", join=frame, on="patient", epsilon=1)


STUDY = (
    TEXT.replace('unit = "patient"', 'unit = "patient"\njoin = "towns.csv"\non = "region"')
    + """
[let]
visits = "count(*)"
dear = "any(cost > 500)"

[[question]]
name = "often"
ask = "count"
by = "visits"
edges = { visits = [1, 2, 3] }
one_each = true

[[question]]
name = "dear_in_towns"
ask = "share"
of = "dear and twice"
by = "town"
domain = ["york", "bath"]
let = { twice = "visits > 1" }
"""
)


def test_a_study_has_columns_that_every_question_may_use(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("region,town\nnorth,york\nsouth,bath\n")
    path = make_study(tmp_path, STUDY)
    publication = lb.Publication.from_file(path)
    assert publication.check() == ()
    written = publication.run()
    assert list(written["often"].to_frame()["visits"]) == ["under 2", "2", "3 and over"]
    assert lb.verify(tmp_path / "report", audit=False).holds
    assert str(tmp_path) not in (tmp_path / "report" / "release.json").read_text()
    other = lb.Publication.from_text(STUDY.replace('"count(*)"', '"count(region)"'), tmp_path)
    assert other.hash != publication.hash
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "towns.csv").write_text("region,town\nnorth,york\nsouth,bath\n")
    assert lb.Publication.from_file(make_study(elsewhere, STUDY)).hash == publication.hash


def test_a_study_joins_several_tables(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("region,town\nnorth,york\nsouth,bath\n")
    (tmp_path / "rivers.csv").write_text("town,river\nyork,ouse\nbath,avon\n")
    text = STUDY.replace(
        'join = "towns.csv"\non = "region"', 'join = ["towns.csv", "rivers.csv"]\non = ["region", "town"]'
    )
    text = text.replace('by = "town"\ndomain = ["york", "bath"]', 'by = "river"\ndomain = ["ouse", "avon"]')
    publication = lb.Publication.from_file(make_study(tmp_path, text))
    assert publication.check() == ()
    assert list(publication.run()["dear_in_towns"].to_frame()["river"]) == ["ouse", "avon"]
    assert lb.verify(tmp_path / "report", audit=False).holds
    assert str(tmp_path) not in (tmp_path / "report" / "release.json").read_text()


def test_a_study_joins_by_several_columns(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("region,cost,town\nnorth,1,york\nsouth,1,bath\nsouth,2,york\n")
    text = STUDY.replace('on = "region"', 'on = [["cost", "region"]]')
    publication = lb.Publication.from_file(make_study(tmp_path, text))
    assert publication.check() == ()
    publication.run()
    assert lb.verify(tmp_path / "report", audit=False).holds
    again = lb.Publication.from_text(text.replace('[["cost", "region"]]', '"region,cost"'), tmp_path)
    assert again.check() == ()


@pytest.mark.parametrize(
    ("right", "wrong", "key", "words"),
    [
        ('"count(*)"', '"median(cost)"', "let.visits", "there is no function median"),
        ('"any(cost > 500)"', '"any(price > 500)"', "let.dear", "price"),
        ('visits = "count(*)"', "visits = 3", "let.visits", "must be text"),
        ('let = { twice = "visits > 1" }', 'let = { visits = "1" }', "question[5].let", r"and so does \[let\]"),
        ('on = "region"', 'on = "ward"', "data.on", "ward"),
        ('join = "towns.csv"', "join = 7", "data.join", "must be a file"),
        ('on = "region"', 'on = ["region", "town"]', "data.join", "each with its own"),
    ],
)
def test_what_cannot_be_in_a_study(right: str, wrong: str, key: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text("region,town\nnorth,york\nsouth,bath\n")
    problems = lb.Publication.from_file(make_study(tmp_path, STUDY.replace(right, wrong, 1))).check()
    assert {problem.key for problem in problems} == {key}
    assert re.search(words, problems[0].message)
