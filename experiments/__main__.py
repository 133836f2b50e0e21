"""Run every experiment, or those named on the command line, then write the page."""

import argparse
import sys
import tempfile
from pathlib import Path

from experiments import harness, page
from experiments.datasets import load, read_unpublished

TINY_ITEMS = 60


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"page, or any of: {', '.join(harness.EXPERIMENTS)}")
    parser.add_argument("--data", type=Path, help="a folder of item,count files; without it, generated Zipf counts")
    parser.add_argument("--workers", type=int, default=2, help="processes for experiments that are not timed")
    parser.add_argument("--tiny", action="store_true", help="a quick look, written to a folder of its own")
    given = parser.parse_args(arguments)
    if unknown := set(given.names) - {*harness.EXPERIMENTS, "page"}:
        parser.error(f"no experiment named {', '.join(sorted(unknown))}. There are: {', '.join(harness.EXPERIMENTS)}.")
    if given.data is not None and not given.data.is_dir():
        parser.error(f"--data must be a folder of item,count files: {given.data} is none.")
    folder = harness.FIGURES
    if given.tiny:
        folder = Path(tempfile.mkdtemp(prefix="experiments-")) / "experiments"
    limit = TINY_ITEMS if given.tiny else None
    others = () if given.data is None else read_unpublished(given.data, limit)
    setting = harness.Setting(load(given.data, limit), given.tiny, given.workers, others)
    for name in [name for name in harness.EXPERIMENTS if name in (given.names or harness.EXPERIMENTS)]:
        print(f"{name}: {harness.module_of(name).TITLE}", file=sys.stderr)
        harness.record(name, setting, folder)
    for name in harness.EXPERIMENTS:
        if (folder / f"{name}.csv").exists():
            harness.draw(name, folder)
    page.write(folder)
    print(f"wrote {folder.with_suffix('.md')} and the pages in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
