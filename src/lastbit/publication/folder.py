"""The folder of a publication: answers as files, the report, and the certificate. Files are replaced as a whole."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.publication.certificate import SCHEMA, build_certificate, canonical_bytes
from lastbit.publication.report import build_report
from lastbit.publication.study import FORMATS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lastbit.publication.run import PublishedAnswers
    from lastbit.questions.rendering import AnswerView

CERTIFICATE: Final = "release.json"
REPORT: Final = "report.html"
ANSWERS: Final = "answers"


@dataclass(frozen=True)
class Written:
    """What a run has written."""

    folder: Path
    answers: PublishedAnswers
    files: Sequence[str]
    fingerprint: str
    """That of the key which signed; "" where nobody did."""

    def __getitem__(self, name: str) -> AnswerView:
        return self.answers.views[name]

    def __repr__(self) -> str:
        return f"<Publication in {self.folder}: {len(self.answers.parts)} answers, {len(self.files)} files>"


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds something else than a publication."""
    try:
        if not folder.exists():
            return
        if folder.is_dir() and (not any(folder.iterdir()) or _is_publication(folder)):
            return
    except OSError as error:
        raise ParameterError(f"the folder {folder} cannot be used: {error.strerror}. Nothing was charged.") from None
    raise ParameterError(
        f"the folder {folder} holds something else than a publication, and nothing of it is overwritten. Name a new "
        "folder. Nothing was charged."
    )


def _is_publication(folder: Path) -> bool:
    try:
        with (folder / CERTIFICATE).open("rb") as file:
            return bool(json.load(file).get("schema") == SCHEMA)
    except (OSError, ValueError, AttributeError):
        return False


def write_folder(answers: PublishedAnswers, folder: Path, key: Ed25519PrivateKey | None = None) -> Written:
    """Write all files beside the folder, and put them in its place in one step."""
    from lastbit.publication.signature import fingerprint, public_bytes

    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        building.chmod(0o777 & ~_umask())
        (building / ANSWERS).mkdir()
        formats = answers.publication.study.output.get("formats", list(FORMATS))
        for name, view in answers.views.items():
            write_answer(building / ANSWERS / name, view, formats)
        if "html" in formats:
            html = build_report(answers)
            (building / REPORT).write_text(html, "utf-8", "backslashreplace")
        certificate = build_certificate(answers, digest_files(building), key)
        (building / CERTIFICATE).write_bytes(canonical_bytes(certificate))
        _replace_folder(building, folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    return Written(folder, answers, names, "" if key is None else fingerprint(public_bytes(key.public_key())))


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _replace_folder(building: Path, folder: Path) -> None:
    if not folder.exists():
        building.rename(folder)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{folder.name}-old-", dir=folder.parent))
    folder.rename(old / "folder")
    building.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def write_answer(stem: Path, view: AnswerView, formats: Sequence[str]) -> None:
    """Write one answer in all formats that the study asks for."""
    columns = answer_columns(view)
    if "csv" in formats:
        stem.with_name(f"{stem.name}.csv").write_bytes(csv_bytes(columns))
    if "parquet" in formats:
        _write_parquet(stem.with_name(f"{stem.name}.parquet"), columns)
    svg = view.chart
    if "svg" in formats and svg:
        stem.with_name(f"{stem.name}.svg").write_text(svg, "utf-8", "backslashreplace")
    if "png" in formats and svg:
        try:
            figure = view.plot()
        except LastbitError:  # there is no matplotlib, or nothing that it draws
            return
        figure.savefig(stem.with_name(f"{stem.name}.png"), dpi=300, metadata={"Software": "lastbit"})


def answer_columns(view: AnswerView) -> dict[str, list[Any]]:
    """Return the answer as columns of whole numbers, floats and text: those of `to_frame`."""
    table: Mapping[str, Sequence[Any]] = view.report.frame or view.published.columns()
    return {name: [_plain(cell) for cell in column] for name, column in table.items()}


def _plain(cell: Any) -> Any:
    if isinstance(cell, Fraction):
        return int(cell) if cell.denominator == 1 and abs(cell) < 1 << 53 else float(cell)
    if cell is None or isinstance(cell, bool | int | float | str):
        return None if isinstance(cell, float) and cell != cell else cell
    item = getattr(cell, "item", None)  # a number of NumPy
    return item() if callable(item) else str(cell)


def csv_bytes(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as a CSV file: the same bytes for the same answer.

    >>> csv_bytes({"month": ["2024-01"], "value": [3], "high": [None]})
    b'month,value,high\\n2024-01,3,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue().encode("utf-8", "backslashreplace")


def _write_parquet(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {}
    for name, column in columns.items():
        if all(cell is None or isinstance(cell, int | float) for cell in column):
            kind = pa.float64() if any(isinstance(cell, float) or cell is None for cell in column) else None
            arrays[name] = pa.array(column, kind)
        else:
            arrays[name] = pa.array(
                [None if cell is None else str(cell).encode("utf-8", "backslashreplace").decode() for cell in column],
                pa.string(),
            )
    pq.write_table(pa.table(arrays), path)


def digest_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder but the certificate, by its path in the folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).as_posix() != CERTIFICATE
    }
