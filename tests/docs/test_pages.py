"""The pages that are notebooks in text form run, from the first cell to the last, and the site has every page."""

from __future__ import annotations

import ast
import csv
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.audit.broken.gallery import GALLERY
from lastbit.audit.target import all_mechanisms
from lastbit.questions.kinds import KINDS
from tests.machine import has_postgres
from tools.pages import answers, neighbours

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CELL = re.compile(r"```\{code-cell\}[^\n]*\n(.*?)```", re.DOTALL)
NOTEBOOKS = sorted(path for path in DOCS.rglob("*.md") if "file_format: mystnb" in path.read_text(encoding="utf-8"))
NEED_MORE = "spark", "team"  # Java, PostgreSQL


def run(page: Path) -> None:
    """Run the cells in one namespace, and show the last value of each as a notebook would."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in CELL.findall(page.read_text(encoding="utf-8")):
        tree = ast.parse(re.sub(r"\A:tags:[^\n]*\n", "", cell))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, str(page), "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(page), "eval"), names)
            shown = getattr(value, "_repr_html_", lambda value=value: repr(value))()
            assert isinstance(shown, str)


@pytest.mark.parametrize("page", [path for path in NOTEBOOKS if path.stem not in NEED_MORE], ids=lambda path: path.stem)
def test_a_page_runs(page: Path) -> None:
    run(page)


if has_postgres():

    def test_the_page_for_teams_runs(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LASTBIT_BOOKS", f"postgresql://lastbit@/postgres?host={server}")
        run(DOCS / "howto/team.md")


def test_every_page_is_in_the_contents() -> None:
    listed = set()
    for index in (*DOCS.rglob("index.md"), DOCS / "experiments.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", index.read_text(encoding="utf-8"), re.DOTALL):
            entries = [line for line in block.split("\n") if line and not line.startswith(":")]
            for entry in entries:
                pattern = f"{entry}.md"
                listed |= {path.resolve() for path in index.parent.glob(pattern)} if entry[0] != "/" else set()
    pages = {path.resolve() for path in DOCS.rglob("*.md") if path.name != "index.md"}
    missing = sorted(path.relative_to(DOCS).as_posix() for path in pages - listed)
    assert not missing, f"in no contents: {missing}. Add them to docs/index.md, or to the index.md of their folder."


def test_the_page_which_mechanism_has_every_mechanism_and_every_command() -> None:
    page = (DOCS / "learn/which-mechanism.md").read_text(encoding="utf-8")
    for name in (mechanism.__name__ for mechanism in all_mechanisms()):
        assert f"`{name}`" in page, name
    for command in (*KINDS, "watch"):
        assert re.search(rf"\| `lastbit [^|]*\b{command}\b", page), command


def test_the_gallery_is_as_long_as_the_pages_say() -> None:
    for page in (ROOT / "README.md", DOCS / "howto/auditing.md"):
        assert f"{len(GALLERY)} mechanisms that cost more" in page.read_text(encoding="utf-8")
    kinds = [case.kind for case in GALLERY]
    printed = sum(case.is_printed for case in GALLERY)
    others, controls = kinds.count("warned") + kinds.count("implementers"), kinds.count("control")
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"{printed} as papers print them, {others} that papers warn of" in readme
    assert f"and {controls} slips of our own" in readme


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them: lower case, no punctuation, hyphens for spaces."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
        for link, anchor in re.findall(r"\]\(([^)#\s:]*)#?([^)\s:]*)\)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve() if link else page
            if "reference" in target.parts:
                continue  # generated when the site is built, which looks at these links itself
            assert target.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(target), f"{page.name}: {link}#{anchor}"


def test_the_picture_of_two_neighbours_is_what_the_auditor_finds() -> None:
    assert (DOCS / "pictures/neighbours.svg").read_text(encoding="utf-8") == neighbours.picture() + "\n"


def test_the_pictures_of_answers_are_what_the_program_draws_and_the_page_shows_them() -> None:
    drawn = answers.pictures()
    page = (DOCS / "output.md").read_text(encoding="utf-8")
    for name, picture in drawn.items():
        assert (DOCS / "pictures" / name).read_text(encoding="utf-8") == picture, "python -m tools.pages.answers"
        assert f"](pictures/{name})" in page
        assert len(picture) < 20_000
    assert {path.name for path in (DOCS / "pictures").glob("answer-*")} == drawn.keys()


def test_the_versions_that_are_named_are_tested_and_built() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    workflow = (ROOT / ".github/workflows/check.yml").read_text(encoding="utf-8")
    listed = re.search(r"python: \[(.+)\]", workflow)
    assert listed is not None
    tested = re.findall(r"3\.\d+", listed[1])
    assert project["tool"]["cibuildwheel"]["build"] == [f"cp{version.replace('.', '')}-*" for version in tested]
    assert {*re.findall(r":: Python :: (3\.\d+)", "\n".join(project["project"]["classifiers"]))} <= {*tested}


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "lastbit.__version__"}
    assert f"\nversion: {lb.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+), (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest is not None
    assert newest[1] == lb.__version__


def test_all_has_every_optional_part_that_is_not_for_developers() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    tools = {"all", "dev", "docs", "dist", "bench", "experiments", "mutants"}
    assert set(re.findall(r"\w+", everything.partition("[")[2])) == extras.keys() - tools


def test_the_figures_about_sets_are_those_of_the_experiment() -> None:
    with (DOCS / "experiments/top_sets.csv").open(encoding="utf-8", newline="") as file:
        (row,) = (
            row for row in csv.DictReader(file) if (row["data"], row["k"], row["epsilon"]) == ("Kosarak", "100", "1")
        )
    page = " ".join((DOCS / "top-sets.md").read_text(encoding="utf-8").split())
    assert f"{float(row['both']):.1f} by both counts, where noise on each item finds {float(row['noise']):.1f}" in page
