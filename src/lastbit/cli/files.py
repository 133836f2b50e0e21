"""The files that a command writes: checked before anything is spent, and never written over anything but a report."""

from __future__ import annotations

import errno
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.join_types import read_joined

if TYPE_CHECKING:
    from lastbit.questions.request import Request

_PICTURES: Final[dict[str, tuple[bytes, ...]]] = {
    "png": (b"\x89PNG\r\n",),
    "jpg": (b"\xff\xd8\xff",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF8",),
    "tif": (b"II*\0", b"MM\0*"),
    "tiff": (b"II*\0", b"MM\0*"),
    "webp": (b"RIFF",),
    "pdf": (b"%PDF-",),
    "ps": (b"%!PS",),
    "eps": (b"%!PS",),
    "svg": (b"<?xml", b"<svg"),
    "svgz": (b"\x1f\x8b",),
}
"""The kinds of pictures, and how a file of each kind begins."""
_DOCUMENTS: Final = {"--html": "report", "--csv": "answer", "--parquet": "answer", "--json": "answer"}
"""What the files of an option hold that draws no picture."""
_SUFFIXES: Final = ("", "-wal", "-shm", "-journal", ".wal")
"""What a database puts behind its own name to name the files beside it."""
_TAIL: Final = 1 << 16
"""So many bytes of the end of a file are looked at."""
_ADVICE: Final = "Name another file. Nothing was spent."


def check_outputs(outputs: dict[str, str | None], inputs: Iterable[str]) -> None:
    """Refuse files that cannot be written, or that hold something else. `outputs` are paths by their options."""
    paths = {option: path for option, path in outputs.items() if path is not None}
    if not paths:
        return
    input_identities = [_file_identity(f"{source}{ending}") for source in inputs for ending in _SUFFIXES]
    with suppress(AttributeError, OSError, ValueError):  # standard input may be closed, or be no file
        state = os.fstat(sys.stdin.fileno())
        input_identities += [(state.st_dev, state.st_ino)] if stat.S_ISREG(state.st_mode) else []
    options_by_file: dict[object, str] = {}
    for option, path in paths.items():
        if option not in _DOCUMENTS:
            _check_picture(option, path)
        _check_folder(option, path)
        identity = _file_identity(path)
        if identity in input_identities:
            raise ParameterError(f"{option} must be a file of its own: got {path}, which the command reads. {_ADVICE}")
        if identity in options_by_file:
            raise ParameterError(
                f"{option} and {options_by_file[identity]} must be two files: got {path} for both. {_ADVICE}"
            )
        options_by_file[identity] = option
        if _holds_other_content(option, path):
            raise ParameterError(
                f"{option} must be a new file, or an earlier {_kind_of_file(option)}: got {path}. {_ADVICE}"
            )


def inputs_of(request: Request) -> list[str]:
    """Return the files that a request reads or charges."""
    from lastbit.data.files.paths import expand_paths

    domains = [domain.text for domain in request.values.get("domain") or () if domain.text]
    sources = [name for name in request.values.get("source") or () if name != "-" and "://" not in name]
    ledger = (request.values.get("ledger") or "").removeprefix("sqlite:///")
    others = [request.values.get(name) for name in ("witness", "rate")]
    others += [path for joined in request.values.get("join") or () for path in read_joined(joined).paths]
    with suppress(LastbitError):  # a pattern without a file is refused where the table is read
        sources = [*sources, *expand_paths(sources)]
    return [*sources, *domains, *([ledger] if ledger and "://" not in ledger else []), *filter(None, others)]


@contextmanager
def replace_file(option: str, path: str) -> Iterator[str]:
    """Give the name of a file to write, which takes the place of `path` once it is whole.

    Where writing fails, `path` is as it was. A device or a pipe holds nothing, and is written itself.
    """
    before = _state(path)
    if before is not None and not stat.S_ISREG(before.st_mode):
        yield path
        return
    target = os.path.realpath(path)  # a link stays a link
    # Python picks a name that no file has. The ending says which kind of picture is drawn.
    handle, temporary = tempfile.mkstemp(Path(path).suffix, ".lastbit-", os.path.dirname(target))
    try:
        os.close(handle)
        yield temporary
        if _holds_other_content(option, path):  # somebody has written it since it was checked
            raise FileExistsError(errno.EEXIST, "it has become another file")
        os.chmod(temporary, _default_mode() if before is None else stat.S_IMODE(before.st_mode))
        with open(temporary, "r+b") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _default_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _kind_of_file(option: str) -> str:
    return _DOCUMENTS.get(option, "picture")


def _check_picture(option: str, path: str) -> None:
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError:
        raise ParameterError(f"{option} needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
    kinds = [kind for kind in FigureCanvasBase.get_supported_filetypes() if kind in _PICTURES]
    if _ending(path) not in kinds:
        raise ParameterError(f"{option} must be a picture such as out.png: got {path}. Use one of {', '.join(kinds)}.")


def _check_folder(option: str, path: str) -> None:
    # os.path says no where a name is too long for the system; a Path raises.
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder) or os.path.isdir(path):
        raise ParameterError(f"{option} must be a file in a folder that exists: got {path}. Make the folder first.")
    try:
        state = _state(path)
    except OSError as error:
        raise ParameterError(f"{option} must be a file that can be written: got {path}: {error.strerror}.") from None
    new = state is None or stat.S_ISREG(state.st_mode)
    if new and not os.access(folder, os.W_OK):
        raise ParameterError(f"{option} must be a file in a folder that you may write to: got {path}. {_ADVICE}")


def _state(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _file_identity(path: str) -> object:
    """Return what two names of one file share: its place on the disk, or the name where it is not there yet."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return os.path.realpath(path)
    return state.st_dev, state.st_ino


def _holds_other_content(option: str, path: str) -> bool:
    """Return whether there is a file that would be lost: neither empty, nor of the kind that the option writes."""
    from lastbit.output.data_files import is_answer_csv, is_answer_json, is_answer_parquet
    from lastbit.output.page import is_report

    try:
        state = _state(path)
        if state is None or stat.S_ISCHR(state.st_mode) or stat.S_ISFIFO(state.st_mode):
            return False
        if not stat.S_ISREG(state.st_mode):
            return True
        with open(path, "rb") as file:
            head = file.read(1024)
            file.seek(max(0, os.fstat(file.fileno()).st_size - _TAIL))
            tail = file.read()
    except OSError:  # nobody knows what it holds
        return True
    begins = _PICTURES.get(_ending(path), ())
    ours = {"--html": is_report, "--csv": is_answer_csv, "--parquet": is_answer_parquet, "--json": is_answer_json}
    known = ours.get(option)
    return bool(head) and not (head.startswith(begins) if known is None else known(head, tail))


def _ending(path: str) -> str:
    return Path(path).suffix.lower().removeprefix(".")
