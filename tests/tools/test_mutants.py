"""The declared mutants fit the code, so that they do not rot; and the runner tells killed from survived."""

import textwrap

import pytest

from tools.mutants.__main__ import choose_changed, run
from tools.mutants.declared import TREE, Mutant, read_mutants, rooms


@pytest.mark.parametrize("room", rooms())
def test_every_mutant_fits_the_code(room):
    mutants = read_mutants(room)
    misfits = [f"{mutant.name}: {why}" for mutant in mutants for why in mutant.misfits(TREE)]
    assert not misfits, "\n".join(["Change tools/mutants/*.toml together with the code:", *misfits])
    assert len({mutant.name for mutant in mutants}) == len(mutants), "two mutants have one name"


def test_the_table_of_the_page_has_the_declared_mutants():
    text = (TREE / "docs" / "analysis.md").read_text()
    _, _, table = text.partition("| room | declared | killed | explained |\n| --- | --- | --- | --- |\n")
    counts = {}
    for room in rooms():
        mutants = read_mutants(room)
        explained = sum(bool(mutant.survives) for mutant in mutants)
        counts[room] = [len(mutants), len(mutants) - explained, explained]
    counts["all"] = [sum(column) for column in zip(*counts.values(), strict=True)]
    rows = ["| " + " | ".join(map(str, [room, *row])) + " |" for room, row in counts.items()]
    assert table.partition("\n\n")[0].splitlines() == rows, "Run make mutants, and write docs/analysis.md again."


@pytest.fixture
def tree(tmp_path):
    """A tree with one module of two lines, and a test that looks at one of them."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "toy.py").write_text("def above(a, b):\n    return a > b\n\n\nSEEN = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    (tmp_path / "test_toy.py").write_text(
        textwrap.dedent(
            """\
            import toy

            def test_above():
                assert toy.above(2, 1)
                assert not toy.above(1, 2)
            """
        )
    )
    return tmp_path


def fault(name, old, new, survives=""):
    return Mutant("toy", name, "src/toy.py", old, new, ("test_toy.py",), survives)


def test_killed_survived_and_explained_are_told_apart(tree, capsys):
    faults = [
        fault("turned", "a > b", "a < b"),
        fault("not strict", "a > b", "a >= b"),
        fault("unseen", "SEEN = 1", "SEEN = 2", survives="nobody reads it"),
        fault("seen after all", "a > b", "b > a", survives="wrong"),
    ]
    assert run(faults, tree, jobs=1) == 2
    begun, *tried, first, last = capsys.readouterr().out.splitlines()
    assert begun == "== the tests without a fault (1 names), and 4 mutants"
    # Lines come as trials end, in any order.
    said = {fault.name: next(line for line in tried if f" {fault.name} " in line) for fault in faults}
    assert said["turned"].endswith("killed    by test_toy.py::test_above")
    assert said["not strict"].endswith("survived  NOT NOTICED")
    assert said["unseen"].endswith("survived  explained")
    assert "NOTICED, although" in said["seen after all"]
    assert [each.partition(";")[0] for each in (first, last)] == [
        f"{name}: 4 mutants: 1 killed, 1 explained, 2 wrong" for name in ("toy", "all")
    ]


def test_a_mutant_that_does_not_fit_is_said_before_anything_runs(tree):
    assert fault("rotten", "a >= b", "a < b").misfits(tree) == [
        "`old` occurs 0 times in src/toy.py, and must occur once"
    ]
    assert fault("same", "a > b", "a > b").misfits(tree) == ["`old` and `new` are equal"]
    assert "not Python" in fault("broken", "a > b", "a >").misfits(tree)[0]
    lost = Mutant("toy", "lost", "src/toy.py", "a > b", "a < b", ("test_toy.py::test_gone",))
    assert lost.misfits(tree) == ["there is no test test_toy.py::test_gone"]
    assert run([lost], tree) == 1


def test_tests_that_fail_without_a_fault_show_nothing(tree, capsys):
    (tree / "test_toy.py").write_text("def test_never():\n    assert False\n")
    assert run([fault("turned", "a > b", "a < b")], tree) == 1
    assert "fail without any fault" in capsys.readouterr().out


def test_a_changed_file_runs_its_own_mutants(capsys):
    code = fault("turned", "a > b", "a < b")
    other = Mutant("toy", "other", "src/other.py", "x", "y", ("test_other.py::test_x",))
    assert choose_changed([code, other], {"src/toy.py"}) == [code]
    assert choose_changed([code, other], {"test_other.py"}) == [other]
    assert capsys.readouterr().out.count("1 of 2 mutants") == 2
    assert choose_changed([code, other], {"README.md"}) == [code, other]
