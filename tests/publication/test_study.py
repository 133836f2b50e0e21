"""A study file says where it is wrong: the key, and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

import lastbit as lb
from lastbit.errors import LastbitError, StudyError
from lastbit.privacy.zcdp import epsilon_for
from lastbit.publication.pricing import round_down
from tests.publication.studies import TEXT, make_study

WRONG = [
    ('bounds = [0, 1000]', 'bound = [0, 1000]', "question[2].bound", 29, "mean has no such option"),
    ('ask = "mean"', 'ask = "average"', "question[2].ask", 27, "it must be one of"),
    ('bounds = [0, 1000]', 'bounds = [9, 1]', "question[2].bounds", 29, "bounds must rise"),
    ('bounds = [0, 1000]', 'bounds = "wide"', "question[2].bounds", 29, "--bounds"),
    ('name = "cost"', 'name = "patients"', "question[2].name", 26, "two have the name"),
    ('name = "cost"', 'name = "a/b"', "question[2].name", 26, "letters"),
    ('weight = 3', 'weight = 0', "question[1].weight", 23, "above 0"),
    ('weight = 3', 'epsilon = 3', "question[1].epsilon", 23, "one budget"),
    ('weight = 3', 'within = 0', "question[1].within", 23, "within"),
    ('within = 40', 'within = 40\nweight = 2', "question[3].within", 36, "not both"),
    ('epsilon = 3', 'epsilon = -3', "budget", 14, "epsilon"),
    ('unit = "patient"', 'unit = "patient"\nunits = 3', "data.units", 11, "no such key"),
    ('dataset = "clinic"', "", "budget", 14, "go together"),
    ('about = 400', 'about = "many"', "data.about", 12, "whole number"),
    ('formats = ["html", "csv", "svg"]', 'formats = ["pdf"]', "output.formats", 40, "some of"),
    ('[study]', '[studies]', "studies", 2, "no section"),
    ('by = "region"', 'by = "regio"', "question[3].by", 34, "regio"),
    ('within = 40', 'where = "zone = 3"', "question[3].where", 36, "no column 'zone'"),
    ('within = 40', 'where = "cost >"', "question[3].where", 36, "SQL"),
    ('within = 40', 'within = [3]', "question[3].within", 36, "a number such as"),
    ('within = 40', 'within = 1e300', "question[3].within", 36, "small enough"),
    ('within = 40', 'most_items = 2\none_each = true', "question[3].one_each", 37, "got both"),
    ('domain = ["north", "south"]', "", "question[3]", 31, "--most-items"),
    ('weight = 3', 'delta = 1e-7', "question[1].delta", 23, "one budget"),
    ('weight = 3', 'title = 3', "question[1].title", 23, "--title"),
    ('weight = 3', 'override = "yes"', "question[1].override", 23, "true or false"),
    ('unit = "patient"', 'unit = "patien"', "data.unit", 10, "no column 'patien'"),
    ('unit = "patient"', '', "data.unit", 8, "--unit must say who is protected"),
    ('noun = ["patient", "patients"]', 'noun = ["a", "b", "c"]', "data.noun", 11, "a noun for one"),
    ('about = 400', 'where = 3', "data.where", 12, "text"),
    ('about = 400', 'where = "zone = 3"', "data.where", 12, "no column 'zone'"),
    ('files = "visits.csv"', 'files = 3', "data.files", 9, "name the table"),
    ('files = "visits.csv"', 'files = [""]', "data.files", 9, "name the table"),
    ('files = "visits.csv"', 'files = "/"', "data.files", 9, "folder"),
    ('edition = "2024"', 'edition = ["2024"]', "study.edition", 5, "text"),
    ('ledger = "budget.db"', 'ledger = ""', "budget.ledger", 17, "text"),
    ('folder = "report"', 'folder = ""', "output.folder", 39, "text"),
    ('folder = "report"', 'level = 2', "output.level", 39, "probability"),
    ('folder = "report"', 'registry = "yes"', "output.registry", 39, "true or false"),
    ('of = "cost"', 'of = "price"', "question[2].of", 28, "price"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "key", "line", "words"), WRONG, ids=[case[1][:25] for case in WRONG])
def test_what_cannot_be_is_said_with_its_key_and_line(tmp_path, right, wrong, key, line, words):
    path = make_study(tmp_path, TEXT.replace(right, wrong, 1))
    try:
        problems = lb.Publication.from_file(path).check()
    except StudyError as error:
        problems = error.problems
    assert [(problem.key, problem.line) for problem in problems if words in problem.message] == [(key, line)]


def test_every_problem_is_said_at_once(tmp_path):
    text = (
        TEXT.replace("bounds = [0, 1000]", "bound = 1").replace("weight = 3", "weight = 0").replace("epsilon = 3", "")
    )
    problems = lb.Publication.from_file(make_study(tmp_path, text)).check()
    assert [problem.key for problem in problems] == ["question[1].weight", "question[2].bound", "budget"]


def test_check_and_plan_read_no_row_and_spend_nothing(tmp_path):
    path = make_study(tmp_path)
    (tmp_path / "visits.csv").write_text("patient,region,cost\n")  # the header alone
    publication = lb.Publication.from_file(path)
    assert publication.check() == ()
    assert "± 40" in str(publication.plan())
    account = lb.Ledger(tmp_path / "budget.db").account("clinic")
    assert (account.spent_rho, account.spent_delta) == (0, 0)


def test_a_text_that_is_no_toml_is_refused():
    with pytest.raises(StudyError, match=r"no TOML.*line 1"):
        lb.Publication.from_text("a = = 1")
    with pytest.raises(StudyError, match="data: a study needs"):
        lb.Publication.from_text("")


def test_the_hash_covers_what_decides_numbers_and_nothing_else(tmp_path):
    def hash_of(text: str) -> str:
        return lb.Publication.from_text(text, tmp_path).hash

    base = hash_of(TEXT)
    same = [
        TEXT.replace("Patients 2024", "All patients"),
        TEXT.replace("visits.csv", "elsewhere.csv"),
        TEXT.replace('folder = "report"', 'folder = "other"'),
        TEXT.replace("bounds = [0, 1000]", 'bounds = ["0.0", 1e3]'),
        TEXT.replace('by = "A hospital"', ""),
        TEXT.replace("budget.db", "other.db"),
        TEXT.replace('folder = "report"', "level = 0.6"),
        TEXT.replace('edition = "2024"', "edition = 2024"),
        TEXT.replace('noun = ["patient", "patients"]', ""),
    ]
    assert {hash_of(text) for text in same} == {base}
    other = [
        TEXT.replace('edition = "2024"', 'edition = "2025"'),
        TEXT.replace("bounds = [0, 1000]", "bounds = [0, 1001]"),
        TEXT.replace("weight = 3", "weight = 2"),
        TEXT.replace('["north", "south"]', '["north", "east"]'),
        TEXT.replace('unit = "patient"', 'unit = "visit"'),
        TEXT.replace('unit = "patient"', 'unit = "patient"\nwhere = "cost > 10"'),
        TEXT.replace("epsilon = 3", "epsilon = 2"),
        TEXT.replace('name = "regions"', 'name = "by_region"'),
    ]
    assert len({base, *map(hash_of, other)}) == len(other) + 1


def test_the_level_that_is_shown_chooses_no_noise(tmp_path):
    """Of two kinds of noise for one price the better one is taken, at the level of wished accuracies."""
    cheap = TEXT.replace("weight = 3", 'weight = "1/10000"')
    plans = [lb.Publication.from_text(cheap, tmp_path)]
    plans += [lb.Publication.from_text(f"{cheap}level = {level}\n", tmp_path) for level in ("0.1", "0.9999")]
    assert len({plan.hash for plan in plans}) == 1
    question = plans[1].questions[0].request
    cost = question.question.mechanism.cost
    other = question.change(rho=None, epsilon=round_down(epsilon_for(cost.rho), 10))
    assert cost.epsilon is None
    assert other.question.accuracy(400).within < question.question.accuracy(400).within


def test_a_first_file_passes_as_it_is_and_holds_nothing_of_the_rows(tmp_path):
    from lastbit.publication.first_file import write_first_file

    make_study(tmp_path)
    text = write_first_file(str(tmp_path / "visits.csv"), folder=tmp_path)
    (tmp_path / "visits.csv").write_text("patient,region,cost\nSECRET,SECRET,777\n")
    assert write_first_file(str(tmp_path / "visits.csv"), folder=tmp_path) == text
    publication = lb.Publication.from_text(text, tmp_path)
    assert publication.check() == ()
    assert publication.study.data["unit"] == "patient"
    assert "people" in str(publication.plan())
    with pytest.raises(LastbitError, match="no column 'who'"):
        write_first_file(str(tmp_path / "visits.csv"), unit="who")


def test_names_that_toml_must_quote_come_back(tmp_path):
    from lastbit.publication.first_file import write_first_file

    Path(tmp_path, "odd.csv").write_text('"a ""b""",größe,user id\n')
    text = write_first_file(str(tmp_path / "odd.csv"), unit='a "b"', folder=tmp_path)
    assert lb.Publication.from_text(text, tmp_path).check() == ()


def test_a_first_file_names_whatever_columns_are_called(tmp_path):
    from lastbit.publication.first_file import write_first_file

    names = ["user\U0001f600", "a\x7fb", 'quo"te', "back\\slash", "two words", "é", "# [study]"]
    name = "x\n[study]\ntitle = 1\n.csv"
    (tmp_path / name).write_text(",".join('"' + name.replace('"', '""') + '"' for name in names) + "\n")
    publication = lb.Publication.from_text(write_first_file(str(tmp_path / name), folder=tmp_path), tmp_path)
    assert publication.check() == ()
    assert publication.study.data["unit"] == names[0]
    assert publication.study.sources == [str(tmp_path / name)]


@pytest.mark.parametrize("kind", ["parquet", "duckdb", "csv"])
def test_a_first_file_knows_the_types_that_a_file_declares_and_not_what_they_list(tmp_path, kind):
    import duckdb

    from lastbit.publication.first_file import write_first_file

    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute("create type mood as enum('SECRET', 'ok')")
        connection.execute("create table v (patient int, feels mood, cost decimal(9, 2), day date, tags int[])")
        connection.execute("insert into v values (1, 'SECRET', 77777, '2033-03-03', [77777])")
        for name in ("parquet", "csv"):
            connection.execute(f"copy v to '{tmp_path / 'v'}.{name}'")
    text = write_first_file(str(tmp_path / f"v.{kind}"), table="v" if kind == "duckdb" else None, folder=tmp_path)
    assert "SECRET" not in text
    assert "77777" not in text
    assert "2033" not in text
    assert lb.Publication.from_text(text, tmp_path).check() == ()
    about = {part.split("]")[0]: part for part in text.split("# [columns.")[1:]}
    if kind == "csv":  # nobody declares a type
        assert all("values" in part and "bounds" in part for part in about.values())
    else:
        assert "values" in about["feels"]
        assert "bounds" in about["cost"]
        assert "values" not in about["cost"]
        assert "month" in about["day"]
        assert "bounds" not in about["day"]
