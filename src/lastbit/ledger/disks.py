"""Whether a file lies on a disk of this machine: only there may SQLite share memory between programs."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_MOUNTS: Final = Path("/proc/self/mountinfo")
_ESCAPED: Final = re.compile(r"\\([0-7]{3})")

_LOCAL: Final = frozenset(
    {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "bcachefs", "overlay", "tmpfs", "ramfs"}
)
"""File systems that only one machine has open. All others may be shared: NFS, SMB, folders of a virtual machine."""


def is_local(path: str | os.PathLike[str]) -> bool:
    """Whether only this machine can open the file; False where nobody can say.

    >>> is_local("/proc/self/mountinfo")
    False
    """
    place = os.path.realpath(path)
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return False  # no Linux
    found, kind = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), before.split(" ")[4])
        inside = point == "/" or place == point or place.startswith(f"{point}/")
        if inside and len(point) >= len(found):  # of two on one point, the later covers the earlier
            found, kind = point, after.split(" ")[0]
    return kind in _LOCAL
