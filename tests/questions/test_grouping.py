"""By what: the columns of groups, their names, their values, and how they are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

import lastbit as lb
from lastbit.questions.group_types import GroupList, NamedExpression
from lastbit.questions.identity import identity_of
from lastbit.questions.kinds import KINDS
from lastbit.questions.request import Request

REGIONS, SEXES = ("north", "south"), ("f", "m")
ROWS = "person,region,sex,age,day\n" + "".join(
    f"{person},{REGIONS[person % 2]},{SEXES[person % 4 // 2]},{person % 100},2024-0{1 + person % 3}-05\n"
    for person in range(400)
)
ENOUGH = "1000"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "people.csv"
    file.write_text(ROWS, encoding="utf-8")
    return file


def count(table: object = "people.csv", kind: str = "count", **options: object) -> Request:
    return KINDS[kind].parse({"source": str(table), "unit": "person", "epsilon": ENOUGH, **options})


def test_each_column_of_groups_is_a_column_of_the_answer(table: Path) -> None:
    answer = lb.ask(
        "count", table, unit="person", by="region,sex", domain=[["north", "south"], ["f", "m"]], epsilon=ENOUGH
    )
    frame = answer.to_frame()
    assert list(frame)[:3] == ["region", "sex", "value"]
    assert frame["region"].to_list() == ["north", "north", "south", "south"]
    assert frame["sex"].to_list() == ["f", "m", "f", "m"]
    assert frame["value"].to_list() == [100] * 4
    assert "('" not in repr(answer)
    assert answer.data["groups"] == {"region": ["north", "north", "south", "south"], "sex": ["f", "m", "f", "m"]}


def test_a_column_with_the_name_of_a_number_is_called_its_group(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("person,value,cost\n1,a,x\n2,b,x\n", encoding="utf-8")
    answer = lb.ask("count", file, unit="person", by=["value", "cost"], domain=[["a", "b"], ["x"]], epsilon=ENOUGH)
    assert list(answer.to_frame())[:3] == ["value (group)", "cost", "value"]
    assert answer.data["cost"] != ["x", "x"]


def test_commas_split_texts_and_words_but_no_names_in_a_list() -> None:
    assert GroupList().parse("a,b", "--by", "python") == ("a", "b")
    assert GroupList().parse(["a,b"], "--by", "python") == ("a,b",)
    assert GroupList().parse(["a,b", "c"], "--by", "command") == ("a", "b", "c")
    for names in (("a,b", "c"), ('say "a"', "x"), ("x as y",), ('"', " a")):
        words = [word for (word,) in GroupList().arguments(names)]
        assert GroupList().parse(words, "--by", "command") == names
        assert GroupList().parse(GroupList().fact(names), "--by", "python") == names
    made = NamedExpression("c", "coalesce(a, 'x,y')")
    assert GroupList().parse(["a,coalesce(a, 'x,y') as c"], "--by", "command") == ("a", made)
    assert GroupList().parse(GroupList().fact((made,)), "--by", "python") == (made,)
    with pytest.raises(lb.ParameterError, match="each column once"):
        _ = count(by="a,a", domain=["x", "y"]).items


def test_values_go_to_the_columns_that_they_name() -> None:
    typed = {"by": "region,sex"}
    regions, sexes = ["north", "south"], ["f", "m"]
    spellings = [
        {**typed, "domain": [regions, sexes]},
        {**typed, "domain": ["sex=f,m", "region=north,south"]},
        {**typed, "domain": {"sex": sexes, "region": regions}},
        {"by": {"region": regions, "sex": sexes}},
    ]
    first, *others = [identity_of(count(**spelling)) for spelling in spellings]
    assert all(other == first for other in others)
    command = KINDS["count"].parse(
        {"source": ["people.csv"], "unit": "person", "by": ["region", "sex"], "domain": ["sex=f,m", "north,south"],
         "epsilon": ENOUGH}, "command"
    )  # fmt: skip
    assert identity_of(command) == first
    with pytest.raises(lb.ParameterError, match="without one: sex"):
        _ = count(**typed, domain="north,south").items.domains
    with pytest.raises(lb.ParameterError, match="must name columns of --by"):
        _ = count(**typed, domain=["who=a,b", "sex=f,m"]).items.domains
    with pytest.raises(lb.ParameterError, match="Leave one of them out"):
        count(by={"region": regions}, domain=regions)


def test_a_domain_is_a_file_by_its_name_alone(tmp_path: Path) -> None:
    from lastbit.questions.domain import Domain

    assert Domain.parse("A").items == ("A",)
    assert Domain.parse("A,").items == ("A",)
    (tmp_path / "A").write_text("x\ny\n", encoding="utf-8")
    assert Domain.parse(str(tmp_path / "A")).items == ("x", "y")
    with pytest.raises(lb.ParameterError, match="a file with one item per line"):
        Domain.parse("nowhere.txt")


def values(table: Path, **options: object) -> dict[object, object]:
    """The groups of a count, with their numbers."""
    frame = lb.ask("count", table, unit="person", epsilon=ENOUGH, **options).to_frame()
    names = list(frame)[: list(frame).index("value")]
    keys = zip(*(frame[name].to_list() for name in names), strict=True)
    return dict(zip((key if len(key) > 1 else key[0] for key in keys), frame["value"].to_list(), strict=True))


def test_edges_have_open_ends_and_are_named_by_what_is_in_them(table: Path) -> None:
    assert values(table, edges={"age": [0, 18, 40, 80]}) == {
        "under 18": 72, "18 to 39": 88, "40 to 79": 160, "80 and over": 80,
    }  # fmt: skip
    # The first edge is where people think of the first group as beginning: it leaves nobody out.
    assert values(table, edges={"age": [17, 18]}) == {"under 18": 72, "18 and over": 328}
    assert values(table, edges={"age": ["0", "17.5"]}) == {"under 17.5": 72, "17.5 and over": 328}
    closed = {"edges": {"age": [10, 18, 40]}, "closed": True}
    assert values(table, **closed) == {"10 to 17": 32, "18 to 39": 88}
    assert values(table, **closed, others="show") == {"10 to 17": 32, "18 to 39": 88, "(others)": 280}
    with pytest.raises(lb.ParameterError, match="write --edges COLUMN"):
        _ = count(by="region", domain="north", closed=True).rows


def test_what_is_left_out_is_said_and_what_is_shown_is_a_group(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text("person,region,age\n1,north,5\n2,,50\n3,mars,\n4,north,x\n5,south,17.9\n", encoding="utf-8")
    asked = {"by": "region", "domain": "north,south"}
    assert values(file, **asked) == {"north": 2, "south": 1}
    assert values(file, **asked, others="show", missing="show") == {
        "north": 2, "south": 1, "(others)": 1, "(missing)": 1,
    }  # fmt: skip
    assert values(file, edges={"age": [0, 18]}, missing="show") == {"under 18": 2, "18 and over": 1, "(missing)": 2}
    assert values(file, edges={"age": [0, 18]}, missing="lowest") == {"under 18": 4, "18 and over": 1}
    assert values(file, edges={"age": [0, 18]}, missing=20) == {"under 18": 2, "18 and over": 3}
    said = count(file, **asked).question.notes
    assert "Rows without region, or with a region that is not listed, are left out." in said
    shown = count(file, **asked, others="show", missing="show").question.notes
    assert "(others) are rows with a region that is not listed." in shown
    assert "(missing) are rows without region." in shown
    assert not any("left out." in note for note in shown)
    with pytest.raises(lb.ParameterError, match="must not list"):
        _ = count(file, by="region", domain="north,(missing)", missing="show").question
    with pytest.raises(lb.ParameterError, match="what a missing number counts as"):
        _ = count(file, **asked, missing="lowest").question


@pytest.mark.parametrize("kind", ["int64", "double", "text", "date", "bool"])
def test_other_rows_of_every_type_are_shown(kind: str, tmp_path: Path) -> None:
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    days = [datetime.date(2024, 1, day) for day in (1, 2, 3)]
    columns = {
        "int64": (pa.array([1, 2, 3, None]), [1, "2"]),
        "double": (pa.array([0.0, -0.5, 3.0, float("nan")]), [0, -0.5]),
        "text": (pa.array(["1", "2", "3", None]), ["1", "2"]),
        "date": (pa.array([*days, None]), ["2024-01-01", "2024-01-02"]),
        "bool": (pa.array([True, True, False, None]), [True]),
    }
    column, domain = columns[kind]
    file = tmp_path / "x.parquet"
    pq.write_table(pa.table({"person": range(4), "x": column}), file)
    assert list(values(file, by="x", domain=domain, others="show", missing="show").values())[-2:] == [1, 1]


def test_times_are_hours_weekdays_and_months(tmp_path: Path) -> None:
    file = tmp_path / "times.csv"
    file.write_text("person,came\n1,2024-01-01T00:59\n2,2024-01-02 23:00:00\n3,2024-02-05\n4,soon\n", encoding="utf-8")
    hours = values(file, hour="came", missing="show")
    assert (hours["0"] if "0" in hours else hours[0], hours["(missing)"], len(hours)) == (2, 1, 25)
    week = values(file, weekday="came")
    assert list(week)[:2] == ["Monday", "Tuesday"]
    assert [week["Monday"], week["Tuesday"], sum(week.values())] == [2, 1, 3]
    assert values(file, month="came", domain="2024-01..2024-02") == {"2024-01": 2, "2024-02": 1}
    assert values(file, hour="came", domain="22..23") == {22: 0, 23: 1}
    assert values(file, by=["hour(came) as h", "month(came) as m"], domain=[[0, 23], [1, 2]]) == {
        (0, 1): 1, (0, 2): 1, (23, 1): 1, (23, 2): 0,
    }  # fmt: skip
    with pytest.raises(lb.ParameterError, match="different columns"):
        _ = count(file, hour="came", month="came").rows


def test_expressions_are_of_one_row_and_take_no_other_place(table: Path) -> None:
    assert values(table, by="age // 50 as half", domain="0..1") == {0: 200, 1: 200}
    assert values(table, by="upper(region) as region", domain="NORTH,SOUTH") == {"NORTH": 200, "SOUTH": 200}
    assert values(table, by="age * 2 as twice", edges={"twice": [0, 100]}) == {"under 100": 200, "100 and over": 200}
    for wrong in ("count(*) as n", "row_number() over () as n", "1) from data -- as n", "a, b) as n", "* as n"):
        with pytest.raises(lb.ParameterError):
            _ = count(table, by=[wrong], domain="1,2").rows
    for taken in ({"by": "region as person"}, {"by": "region as cost", "weights": "cost", "bounds": (0, 1)}):
        with pytest.raises(lb.ParameterError, match="a name of its own"):
            _ = count(table, **taken, domain="1,2").rows


def test_every_kind_with_groups_takes_them_in_every_spelling() -> None:
    shared = {"source": ["people.csv"], "unit": "person", "epsilon": "1"}
    more: dict[str, dict[str, object]] = {
        "top": {"k": 2}, "measure": {"k": 2}, "choose": {}, "above": {"threshold": 3}, "count": {}, "histogram": {},
        "median": {"of": "cost", "bounds": (0, 9)}, "quantile": {"of": "cost", "bounds": (0, 9), "at": "0.5"},
    }  # fmt: skip
    for kind, own in more.items():
        typed = {**shared, **own}
        plain = KINDS[kind].parse({**typed, "edges": {"age": [0, 18, "65.0"]}})
        words = KINDS[kind].parse({**typed, "edges": ["age=0,18,65"]}, "command")
        named = KINDS[kind].parse({**typed, "by": ["age"], "edges": ["age=0,18,65"]}, "command")
        assert identity_of(plain) == identity_of(words) == identity_of(named)
        assert "--edges age 0,18,65" in words.command
        assert plain.question.reading is not None


def test_some_columns_are_listed_and_combinations_are_found(table: Path) -> None:
    asked = {"by": "region,sex", "domain": {"region": ["north"]}, "discover": "sex", "delta": "1e-6", "most_items": 1}
    assert values(table, **asked) == {("north", "f"): 100, ("north", "m"): 100}
    with_all = {**asked, "discover": True}
    assert identity_of(count(table, **asked)) == identity_of(count(table, **with_all))
    for wrong, words in (
        ({"discover": "age"}, "must name a column of --by"),
        ({"discover": "region"}, "nobody listed, and those of 'region' are"),
        ({"discover": None}, "without one: sex"),
        ({"delta": None}, "takes a --delta"),
        ({"by": "region", "discover": True}, "here all are"),
    ):
        with pytest.raises(lb.ParameterError, match=words):
            _ = count(table, **{**asked, **wrong}).question
    with pytest.raises(lb.ParameterError, match="nobody listed any here"):
        _ = count(table, by="sex", discover=True, delta="1e-6", most_items=1, others="show").question


def test_a_discovery_is_one_question_in_old_and_new_words() -> None:
    for kind in ("count", "histogram", "top", "choose"):
        asked = {"by": "sex", "delta": "1e-6", "most_items": 1}
        old, new = (count(kind=kind, **asked, **more) for more in ({}, {"discover": True}))
        assert identity_of(old) == identity_of(new)
        assert identity_of(old)["options"]["discover"] == ["sex"]


def test_a_histogram_is_a_count_to_the_ledger() -> None:
    for old, new in (
        ({"of": "age", "edges": [0, 18, 65]}, {"edges": {"age": [0, 18, 65]}}),
        ({"of": "age", "bounds": (0, 90), "bins": 3}, {"edges": {"age": [0, 30, 60]}}),
        ({"month": "day", "bounds": ("2024-01", "2024-12")}, {"month": "day", "domain": "2024-01..2024-12"}),
        ({"of": "day", "every": "year", "bounds": ("2024", "2025")}, {"year": "day", "domain": "2024..2025"}),
        ({"of": "day", "every": "week", "bounds": ("2024-01-01", "2024-01-14")},
         {"week": "day", "domain": "2024-W01..2024-W02"}),
        ({"of": "age", "edges": [0, 18], "missing": "bin"}, {"edges": {"age": [0, 18]}, "missing": "show"}),
        ({"by": "sex", "domain": "f,m", "of": "age", "bounds": (0, 9)},
         {"by": "sex", "domain": "f,m", "weights": "age", "bounds": (0, 9)}),
    ):  # fmt: skip
        histogram, counted = count(kind="histogram", **old), count(**new)
        assert identity_of(histogram) == identity_of(counted)
        assert histogram.question.mechanism.parameters == counted.question.mechanism.parameters
