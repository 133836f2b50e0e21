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
    from lastbit.questions.domains import Domain

    assert Domain.parse("A").items == ("A",)
    assert Domain.parse("A,").items == ("A",)
    (tmp_path / "A").write_text("x\ny\n", encoding="utf-8")
    assert Domain.parse(str(tmp_path / "A")).items == ("x", "y")
    with pytest.raises(lb.ParameterError, match="a file with one item per line"):
        Domain.parse("nowhere.txt")
