"""On which disk a file lies: SQLite shares memory between programs on disks of this machine only."""

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
    """Return whether only this machine can open the file; False where nobody can say.

    >>> is_local("/proc/self/mountinfo")
    False
    """
    return _mount_of(os.path.realpath(path))[1] in _LOCAL


def is_mount_point(path: str | os.PathLike[str]) -> bool:
    """Return whether something is mounted at this very path, as a file is into a container; False if nobody can say.

    >>> is_mount_point("/proc"), is_mount_point("/proc/self/mountinfo")
    (True, False)
    """
    place = os.path.realpath(path)
    return _mount_of(place)[0] == place


def _mount_of(place: str) -> tuple[str, str]:
    """Return where the disk of a real path is mounted, and the kind of its file system."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return "", ""  # no Linux
    mount = "", ""
    for line in lines:
        before, _, after = line.partition(" - ")
        point = _ESCAPED.sub(lambda octal: chr(int(octal[1], 8)), before.split(" ")[4])
        inside = point == "/" or place == point or place.startswith(f"{point}/")
        if inside and len(point) >= len(mount[0]):  # of two on one point, the later covers the earlier
            mount = point, after.split(" ")[0]
    return mount
