"""Build the site into build/site/html: `python -m tools.site`, or `make docs`.

Sphinx builds a copy of the pages, so that the generated reference lies beside them and nothing of it is in docs/. Pages
that need PostgreSQL or Java are executed where there is one; otherwise the end of the build says that they were not.
"""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from tests.machine import has_java, has_postgres
from tests.postgres_server import postgres_server
from tools.pages import reference

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build/site"
BESIDES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "tests/README.md", "tests/laws/test_quantile.py")
FIRST = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=docs/index.html">\n'


def copy_pages(source: Path) -> None:
    """Copy the pages as they lie in the repository, and write the reference beside them."""
    shutil.rmtree(SITE, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source / "docs")
    for name in BESIDES:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, source / name)
    shutil.move(source / "docs/conf.py", source / "conf.py")
    reference.write(source / "docs/reference")


def main() -> int:
    """Build, and say what could not be executed here."""
    copy_pages(SITE / "source")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    left_out = []
    with ExitStack() as stack:
        if has_postgres():
            folder = stack.enter_context(postgres_server())
            os.environ["LASTBIT_BOOKS"] = f"postgresql://lastbit@/postgres?host={folder}"
        else:
            left_out.append("*/howto/team.md")
        if not has_java():
            left_out.append("*/howto/spark.md")
        os.environ["LASTBIT_NOT_EXECUTED"] = " ".join(left_out)
        code = sphinx(["-W", "--keep-going", "-q", "-b", "html", str(SITE / "source"), str(SITE / "html")])
    (SITE / "html/index.html").write_text(FIRST, encoding="utf-8")
    for page in left_out:
        print(f"NOT EXECUTED HERE: {page[2:]}. Install PostgreSQL and Java 17 or newer to execute every page.")
    if not code:
        print("build/site/html/docs/index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
