"""What docs/architecture.md, CONTRIBUTING.md and tests/README.md claim of the structure, read off the code."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import lastbit as lb
from lastbit.chance.draw import Draw
from lastbit.mechanisms.mechanism import Mechanism
from tests.docs.source import SOURCE, modules, nodes, parse

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.xdist_group("source")  # one worker reads all files, once
PAGES = ("docs/architecture.md", "CONTRIBUTING.md", "tests/README.md")
MADE_OF_OTHERS = {
    "PrivateSearch": {"PrivateSelection"},
    "GroupQuantiles": {"Quantiles"},
    "GroupTopK": {"NoisyTopK", "SelectAndMeasure"},
}
"""Mechanisms that are made of others."""
STAY_SMALL = {
    "audit/broken/tables.py": "each broken mechanism has a file, and the gallery lists them",
    "chance/kernel.py": "distributions.py would pass 300 lines, and states laws without compiled code",
    "cli/completion.py": "it needs the library of commands, and only the Tab key needs it",
    "cli/grammar.py": "it rewrites the words of a person; commands.py makes commands of options, and reads no words",
    "data/files/duckdb.py": "each format of files has a file",
    "data/query/splitting.py": "each step before a RowPlan has a file: splitting, joining, people",
    "ledger/history.py": "accounts.py would pass 300 lines",
    "ledger/write_ahead_log.py": "holds.py would pass 300 lines, and docs/decisions.md sends readers here",
    "questions/grammar.py": "the parts of a question belong to no face: newcomers look for the grammar by its name",
    "questions/output_types.py": "shared_options.py is longer than 300 lines, and types have files of their own",
}
"""Files of under 60 lines that one other file imports, and why they do not join it."""


def imports(tree: ast.Module) -> Iterator[str]:
    """Everything that a file imports, at any depth, with its module: but for what only type checkers see."""
    hidden = {
        inner
        for node in nodes(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom | ast.Import) and node not in hidden:
            start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
            yield from (start + alias.name for alias in node.names)


def test_no_function_takes_more_than_six_parameters_by_their_place() -> None:
    """Beyond six nobody knows which is which: take a value object, or names. A command reads its options by name."""
    rooms = sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and path.name not in ("cli", "__pycache__"))
    odd = {
        f"{path}: {node.name}"
        for path, tree in modules(*rooms)
        for node in nodes(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and len([name for name in node.args.posonlyargs + node.args.args if name.arg not in ("self", "cls")]) > 6
    }
    assert odd == set()


def test_mechanisms_do_not_import_each_other() -> None:
    public = {
        name: kind
        for name in lb.__all__
        if isinstance(kind := getattr(lb, name), type) and issubclass(kind, Mechanism) and not kind.__abstractmethods__
    }
    assert len(public) > 10
    for name, kind in public.items():
        path = SOURCE.joinpath(*kind.__module__.split(".")[1:]).with_suffix(".py")
        names = {module.rpartition(".")[2] for module in imports(parse(path))}
        others = names & public.keys() - {name}
        assert others <= MADE_OF_OTHERS.get(name, set()), f"{name} imports {others}"
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for whole, parts in MADE_OF_OTHERS.items() for name in {whole, *parts})


def test_mechanisms_take_chance_from_a_draw_only() -> None:
    for path, tree in modules("mechanisms", "papers", "estimate"):
        assert not [name for name in imports(tree) if re.match(r"(random|secrets|numpy\.random|os)\b", name)], path
        calls = {ast.unparse(node) for node in nodes(tree) if isinstance(node, ast.Attribute)}
        assert not [name for name in calls if name.startswith(("np.random", "os.urandom"))], path


def test_the_methods_of_an_interpreter_are_those_that_the_page_names() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    sentence = re.search(r"A new interpreter implements (.+?)\.", page, re.DOTALL)
    assert sentence is not None
    assert {*re.findall(r"`(\w+)`", sentence[1])} == Draw.__abstractmethods__
    assert Mechanism.__abstractmethods__ == {"ready"}


@pytest.mark.parametrize("room", ["questions", "web"])
def test_only_the_command_knows_the_library_of_the_command_line(room: str) -> None:
    for path, tree in modules(room):
        assert not [name for name in imports(tree) if re.match(r"(typer|click)\b", name)], path


def test_the_command_and_the_page_build_no_mechanism_and_draw_nothing() -> None:
    for path, tree in modules("cli", "web"):
        assert not [name for name in imports(tree) if re.match(r"lastbit\.(mechanisms|chance|estimate)\b", name)], path


def test_one_encoder_and_one_decoder_of_options() -> None:
    """No face names an option's values: the two words of bounds are counted by their type."""
    for room in ("questions", "web", "cli", "ledger"):
        for path in (SOURCE / room).rglob("*.py"):
            assert '("bounds", "bin")' not in path.read_text(encoding="utf-8"), path


def test_only_privacy_tells_an_eta_from_an_epsilon() -> None:
    """`audit.hockey.odds_of` takes either from a user, and hands it to a cost."""
    asks = {
        path
        for path, tree in modules()
        for node in nodes(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "isinstance"
        and re.search(r"\bEta\b", ast.unparse(node))
    }
    assert {path for path in asks if not path.startswith("privacy/")} == {"audit/hockey.py"}


def test_only_mechanisms_and_their_estimates_look_at_a_rho_that_is_stated() -> None:
    readers = {
        path.split("/")[0]
        for path, tree in modules()
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("stated_rho", "in_rho")
    }
    assert readers == {"privacy", "mechanisms", "estimate"}


def test_only_exact_approximates_a_real_number() -> None:
    """Snapping is defined by a rounded logarithm; the papers' listings and their faults are copied."""
    users = {path for path, _ in modules() if "mpfr" in (SOURCE / path).read_text(encoding="utf-8")}
    allowed = re.compile(r"exact/|papers/|audit/broken/printed_|mechanisms/snapping\.py|estimate/tables/spread\.py")
    assert not [path for path in users if not allowed.match(path)]


def test_the_exceptions_of_the_library_are_in_one_file() -> None:
    for path, tree in modules():
        if path != "errors.py" and not path.startswith("web/"):
            kinds = [node for node in nodes(tree) if isinstance(node, ast.ClassDef) and node.name[0] != "_"]
            bases = {ast.unparse(base) for kind in kinds for base in kind.bases}
            assert not [base for base in bases if base.endswith(("Error", "Exception"))], path


def test_sql_is_quoted_in_one_file() -> None:
    quoting = re.compile(r"""\.replace\((?:"'", "''"|'"', '""')\)""")
    files = {path for path, _ in modules("data") if quoting.search((SOURCE / path).read_text(encoding="utf-8"))}
    assert files == {"data/sql.py"}


def test_every_engine_has_the_same_files() -> None:
    folders = [(SOURCE / "data" / engine).glob("[!_]*.py") for engine in ("duckdb", "memory", "spark")]
    shared = set.intersection(*({path.name for path in files} for files in folders))
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    sentence = re.search(r"engines have the same files: (.+?) `duckdb/", page, re.DOTALL)
    assert sentence is not None
    assert {*re.findall(r"`(\w+\.py)`", sentence[1])} - {"column_types.py"} == shared


def test_a_small_file_that_one_other_file_imports_is_a_part_of_that_file() -> None:
    """A file that each engine has is small in some of them. What users import counts as imported."""
    names = {".".join(("lastbit", *Path(path).with_suffix("").parts)): path for path, _ in modules()}
    public = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    importers: dict[str, set[str]] = {path: set() for path in names.values()}
    for importer, tree in [*modules(), ("__init__.pyi", public)]:
        for name in imports(tree):
            for imported in {names.get(name), names.get(name.rpartition(".")[0])} - {None, importer}:
                importers[str(imported)].add(importer)
    engines = ("duckdb", "memory", "spark")
    fragments = {
        path
        for path, users in importers.items()
        if len(users) == 1 and len((SOURCE / path).read_text(encoding="utf-8").splitlines()) < 60
        and not all((SOURCE / "data" / engine / Path(path).name).exists() for engine in engines)
    }  # fmt: skip
    assert fragments - STAY_SMALL.keys() == set()
    assert STAY_SMALL.keys() <= importers.keys(), "a file that is gone is no exception"


def test_the_families_of_mechanisms_are_those_that_the_page_names() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    families = {path.parent.name for path in (SOURCE / "mechanisms").glob("*/__init__.py")}
    sentence = re.search(r"families share files: (.+?)\.", page, re.DOTALL)
    assert sentence is not None
    assert {*re.findall(r"`(\w+)/`", sentence[1])} == families


def test_what_the_tests_compare_with_uses_nothing_of_what_they_test() -> None:
    for path, room in (("tests/oracle.py", "lastbit"), ("tests/stability/reference.py", "lastbit.data")):
        tree = parse(ROOT / path)
        assert not [name for name in imports(tree) if name == room or name.startswith(f"{room}.")], path


def test_no_test_compares_times() -> None:
    """A worker of the ledger's tests waits about as long as a charge takes, then kills one: nothing is compared."""
    clock = re.compile(r"\b(perf_counter|process_time|monotonic|monotonic_ns|timeit|time\.time)\b")
    files = [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]
    users = {path.relative_to(ROOT).as_posix() for path in files if clock.search(path.read_text(encoding="utf-8"))}
    times_of_day = {"tests/data/test_unlisted.py", "tests/data/test_sensitivity.py", "tests/data/test_hostile_rows.py"}
    times_of_day |= {
        "tests/stability/reference.py",
        "tests/stability/test_tables.py",
        "tests/stability/test_near_keys.py",
    }
    assert users - times_of_day == {"tests/clock.py", "tests/ledger/worker.py", "tests/mechanisms/test_tick.py"}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page: str) -> None:
    """A page may name the end of a path, as `top_k/selector.py`. CONTRIBUTING.md makes the files of one mechanism."""
    text = (ROOT / page).read_text(encoding="utf-8")
    folders = ("src", "tests", "tools", "docs", "examples", "benchmarks", "experiments", ".ci")
    files = {f"/{path.relative_to(ROOT).as_posix()}" for name in folders for path in (ROOT / name).rglob("*")}
    files |= {f"/{path.name}" for path in ROOT.iterdir()}
    ends = {"/".join(path.split("/")[-n:]) for path in files for n in range(1, 7)}
    names = {name.rstrip("/") for name in re.findall(r"`([\w./-]*\w(?:\.(?:py|pyx|md|toml)|/))`", text)}
    names |= {*re.findall(r"(?<![\w/.`])((?:src|tests|tools|docs)/[\w/-]+(?:\.\w+)?)", text)}
    assert len(names) > 4
    missing = {name for name in names if name.rstrip("/") not in ends and "randomized_response" not in name}
    assert not missing


def test_every_name_of_the_code_that_the_page_names_is_in_the_code() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    files = [path for path in SOURCE.rglob("*") if path.suffix in (".py", ".pyx", ".pxd", ".pyi")]
    code = {word for path in files for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    spans = [span for span in re.findall(r"`([^`\n]+)`", page) if "/" not in span and not span.startswith("make ")]
    words = {word for span in spans for word in re.findall(r"[A-Za-z_]\w*", re.sub(r"\w+\.(?:py|pyx|toml)$", "", span))}
    assert len(words) > 60
    assert words - code == set()


def test_every_test_that_the_page_of_tests_names_is_there() -> None:
    text = (ROOT / "tests/README.md").read_text(encoding="utf-8")
    stems = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert {*re.findall(r"\btest_[a-z_]+\b", text)} - {"test_"} <= stems
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for part in re.findall(r"`(…?\w+…?\w*…?)`", text):
        if "…" in part:
            pattern = part.strip("…").replace("…", r"\w*")
            assert re.search(rf"def test_\w*{pattern}", tests), part


def test_every_word_of_the_glossary_is_used() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    _, _, glossary = page.partition("## Words")
    entries = re.findall(r"^\| ([a-z][\w ,-]*) \|", glossary.partition("\n## ")[0], re.MULTILINE)
    words = [word for entry in entries if entry != "word" for word in entry.split(", ")]
    assert len(words) == len(set(words)) > 15
    code = "\n".join((SOURCE / path).read_text(encoding="utf-8") for path, _ in modules()).lower()
    assert [word for word in words if not re.search(rf"\b{word.replace(' ', '[ _]?')}", code)] == []
