"""Build the sdist and the wheel, and try both where nothing else is: `python -m tools.dist`, or `make dist`.

The wheel is built from the sdist, so an sdist that lacks a file builds none. Two builds give the
same bytes. Each goes into an empty environment
without a compiler on the path. There the wheel must work, and the sdist must say in one line that it needs a compiler.
"""

from __future__ import annotations

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from lastbit import __version__

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"


def run(*command: str | Path, **more: object) -> None:
    subprocess.run([*map(str, command)], check=True, **more)  # type: ignore[call-overload]


def build(folder: Path = DIST) -> tuple[Path, Path]:
    """Build a folder anew, and return its one sdist and its one wheel. Their dates are that of the last commit."""
    shutil.rmtree(folder, ignore_errors=True)
    last = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True, capture_output=True, text=True)
    settings = os.environ | {"SOURCE_DATE_EPOCH": last.stdout.strip()}
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT, stdout=subprocess.DEVNULL, env=settings)
    (source,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    repack(source, int(last.stdout))
    return source, wheel


def repack(source: Path, seconds: int) -> None:
    """Write an sdist again with one date, owner and order of its files: setuptools takes those of the machine."""
    contents: list[tuple[tarfile.TarInfo, bytes]] = []
    with tarfile.open(source) as packed:
        for member in sorted(packed.getmembers(), key=lambda member: member.name):
            file = packed.extractfile(member)
            plain = tarfile.TarInfo(member.name)
            plain.type, plain.size, plain.mtime = member.type, member.size, seconds
            plain.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            contents.append((plain, file.read() if file else b""))
    with (
        source.open("wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=seconds) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as packed,
    ):
        for member, data in contents:
            packed.addfile(member, io.BytesIO(data))


def check_same_bytes(files: tuple[Path, Path], folder: Path) -> None:
    """Check that another build, in other folders, gives the same bytes."""
    for one, other in zip(files, build(folder), strict=True):
        assert one.read_bytes() == other.read_bytes(), f"two builds of {one.name} differ"


def check_contents(source: Path, wheel: Path) -> None:
    """Check that the sdist has every file that git knows, and the wheel the package, compiled, and nothing else."""
    known = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    expected = {name for name in known if name and not name.startswith(".")}
    with tarfile.open(source) as packed:
        there = {name.partition("/")[2] for name in packed.getnames()}
    assert expected <= there, f"the sdist lacks {sorted(expected - there)}: add them to MANIFEST.in"
    odd = {name for name in there - expected if re.search(r"\.(so|pyd|c|pyc|db)$", name)}
    assert not odd, f"the sdist has built files: {sorted(odd)}"

    package = {name.removeprefix("src/") for name in expected if name.startswith("src/")}
    sources = {name for name in package if re.search(r"\.(pyx|pxd)$", name)}
    there = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    compiled = {name for name in there if re.search(r"\.(so|pyd)$", name)}
    assert {name.partition(".")[0] for name in compiled} == {name[:-4] for name in sources if name.endswith(".pyx")}
    assert there - compiled == package - sources, sorted((there - compiled) ^ (package - sources))


def check_metadata(source: Path, wheel: Path) -> None:
    """Check that the page of the package can be shown, and that every Python that was tested is named."""
    run(sys.executable, "-m", "twine", "--no-color", "check", "--strict", source, wheel, stdout=subprocess.DEVNULL)
    packed = zipfile.ZipFile(wheel)
    (name,) = (name for name in packed.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = packed.read(name).decode()
    for line in (f"Version: {__version__}", "Requires-Python: >=3.11", "Provides-Extra: all"):
        assert f"\n{line}\n" in metadata, line
    for licence in ("LICENSE", "src/lastbit/web/static/htmx.LICENSE"):
        assert name.replace("METADATA", f"licenses/{licence}") in packed.namelist(), licence


class Empty:
    """An environment with pip and nothing else, whose path has no program but its own."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.programs = folder / ("Scripts" if os.name == "nt" else "bin")
        variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self.compiling = variables | {"PATH": f"{self.programs}{os.pathsep}{variables['PATH']}"}
        self.alone = variables | {"PATH": str(self.programs), "CC": "cc"}

    def install(self, what: str, compiler: bool = False) -> subprocess.CompletedProcess[str]:
        command = [self.programs / "python", "-m", "pip", "--disable-pip-version-check", "install", "-q", what]
        settings = self.compiling if compiler else self.alone
        return subprocess.run(command, env=settings, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def smoke(self, *arguments: str) -> None:
        run(self.programs / "python", "-P", ROOT / "tools/smoke.py", *arguments, env=self.alone, cwd=self.programs)


def check_wheel(wheel: Path, folder: Path) -> None:
    """Try the wheel without a compiler: the library alone, then with what the command needs."""
    empty = Empty(folder)
    for extra, arguments in (("", []), ("[cli]", ["command"])):
        done = empty.install(f"{wheel}{extra}")
        assert done.returncode == 0, done.stdout
        empty.smoke(*arguments)


def check_source(source: Path, folder: Path) -> None:
    """Try the sdist: without a compiler it says so in one line, and with one it works."""
    empty = Empty(folder)
    refused = empty.install(str(source))
    assert refused.returncode != 0, "the sdist was installed without a compiler"
    assert re.search(r"\[1 lines? of output\]\s+lastbit needs a C compiler: cc was not found\.", refused.stdout), (
        refused.stdout
    )
    done = empty.install(str(source), compiler=True)
    assert done.returncode == 0, done.stdout
    empty.smoke()


if __name__ == "__main__":
    print("== building", flush=True)
    files = build()
    print("== checking contents and metadata", flush=True)
    check_contents(*files)
    check_metadata(*files)
    with tempfile.TemporaryDirectory() as folder:
        print("== building again, for the same bytes", flush=True)
        check_same_bytes(files, Path(folder, "again"))
        print("== trying the wheel, without a compiler", flush=True)
        check_wheel(files[1], Path(folder, "wheel"))
        print("== trying the sdist, without a compiler and with one", flush=True)
        check_source(files[0], Path(folder, "source"))
    for file in files:
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size:,} bytes")
