"""The folder of a publication: answers as files, the report, and the certificate. Files are replaced as a whole."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.output.data_files import csv_bytes, write_parquet
from lastbit.publication.certificate import (
    CERTIFICATE,
    SCHEMA,
    answer_columns,
    build_certificate,
    canonical_bytes,
    digest_certificate,
)
from lastbit.publication.registry import render_registry
from lastbit.publication.report import render_report
from lastbit.publication.signature import fingerprint, is_signed, sign
from lastbit.publication.study import FORMATS

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from lastbit.publication.run import PublishedAnswers
    from lastbit.questions.answer_view import AnswerView

REPORT: Final = "report.html"
REGISTRY: Final = "deployment.yaml"
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
        return self.answers.all_views[name]

    def __repr__(self) -> str:
        return f"<Publication in {self.folder}: {len(self.answers.parts)} answers, {len(self.files)} files>"


def check_folder(folder: Path, key: str | Path | None = None) -> None:
    """Refuse a folder that holds something else than a publication, and a private key that would be published."""
    try:
        if key is not None and folder.resolve() in Path(key).resolve().parents:
            raise ParameterError(
                f"the private key {key} lies in the folder that is published. Keep it elsewhere. Nothing was charged."
            )
        # Whether a disk takes files shows who tries: permissions say nothing of disks that may only be read.
        there = next(place for place in (folder.parent, *folder.parent.parents) if place.exists())
        Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=there)).rmdir()
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return
        foreign = _foreign_files(folder)
    except OSError as error:
        raise ParameterError(f"the folder {folder} cannot be used: {error.strerror}. Nothing was charged.") from None
    if foreign is None:
        raise ParameterError(
            f"the folder {folder} holds something else than a publication, and nothing of it is overwritten. Name a "
            "new folder. Nothing was charged."
        )
    if foreign:
        raise ParameterError(
            f"the folder {folder} holds a publication and other files, such as {foreign[0]}, and nothing of them is "
            "overwritten. Move them elsewhere, or name a new folder. Nothing was charged."
        )


def _foreign_files(folder: Path) -> list[str] | None:
    """Return the files of a folder that its certificate does not name; None where it has no certificate."""
    certificate = read_certificate(folder)
    if certificate is None:
        return None
    stated = certificate.get("files")
    known = {CERTIFICATE, *(stated if isinstance(stated, dict) else ())}
    names = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if not path.is_dir()]
    return [name for name in names if name not in known]


def read_certificate(folder: Path) -> dict[str, Any] | None:
    """Return the certificate of a folder; None where there is none."""
    try:
        document = json.loads((folder / CERTIFICATE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) and document.get("schema") == SCHEMA else None


def write_folder(answers: PublishedAnswers, folder: Path, key: Ed25519PrivateKey | None = None) -> Written:
    """Write all files beside the folder, and put them in its place in one step."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        building.chmod(0o777 & ~_umask())
        (building / ANSWERS).mkdir()
        formats = answers.publication.study.output.get("formats", list(FORMATS))
        for name, view in answers.all_views.items():
            write_answer(building / ANSWERS / name, view, formats)
        document = build_certificate(answers)
        pages = {REPORT: "html" in formats, REGISTRY: answers.publication.study.output.get("registry", False)}
        for name, is_wanted in pages.items():
            if is_wanted:
                (building / name).write_bytes(render_page(name, document, answers.all_views))
        document["files"] = digest_files(building)
        document["digest"] = digest_certificate(document)
        signature = _keep_signature(folder, document) if key is None else sign(key, canonical_bytes(document))
        (building / CERTIFICATE).write_bytes(canonical_bytes({**document, "signature": signature}))
        _replace_folder(building, folder)
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    signer = "" if signature is None else fingerprint(bytes.fromhex(signature["public_key"]))
    return Written(folder, answers, names, signer)


def _keep_signature(folder: Path, document: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the signature that the folder has, where it is one of this very document: to write it again loses none."""
    signature = (read_certificate(folder) or {}).get("signature")
    return signature if is_signed(signature, canonical_bytes(document)) else None


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
        write_parquet(stem.with_name(f"{stem.name}.parquet"), columns)
    svg = view.chart
    if "svg" in formats and svg:
        stem.with_name(f"{stem.name}.svg").write_bytes(text_bytes(svg))
    if "png" in formats and svg:
        try:
            figure = view.plot()
        except LastbitError:  # there is no matplotlib, or nothing that it draws
            return
        figure.savefig(stem.with_name(f"{stem.name}.png"), dpi=300, metadata={"Software": "lastbit"})


def render_page(name: str, certificate: Mapping[str, Any], views: Mapping[str, AnswerView]) -> bytes:
    """Return the file of this name as it is written."""
    return text_bytes({REPORT: render_report, REGISTRY: render_registry}[name](certificate, views))


def text_bytes(text: str) -> bytes:
    """Return a text as it is written: what no text can hold is written out."""
    return text.encode("utf-8", "backslashreplace")


def holds_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> bool:
    """Return whether a file of Parquet has these columns and values. What is missing may be null or not a number."""
    import pyarrow.parquet as pq

    table = pq.read_table(path).to_pydict()
    return list(table) == list(columns) and all(
        len(table[name]) == len(column) and all(map(_is_same, table[name], column)) for name, column in columns.items()
    )


def _is_same(read: Any, written: Any) -> bool:
    if written is None:
        return read is None or read != read
    return bool(read == written)


def digest_files(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file of a folder but the certificate, by its path in the folder.

    What is no file of its own, such as a link, has no digest: "".
    """
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
        for name, path in paths.items()
        if name != CERTIFICATE and (path.is_symlink() or not path.is_dir())
    }
