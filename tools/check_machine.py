"""Say in one line what this machine lacks to build lastbit. Runs on any Python 3.6 or newer."""

import importlib.util
import os
import shutil
import sys
import sysconfig
from pathlib import Path


def missing_compiler():
    """Return what compiling lacks, or None. On Windows setuptools looks for the compiler, and says so itself."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if os.name != "nt" and not shutil.which(compiler):
        return f"a C compiler: {compiler} was not found. Install gcc or clang, or set CC to yours."
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's C headers: install python3-dev (Debian, Ubuntu) or python3-devel (Fedora)."
    return None


def missing_lock():
    """Return what a Python without the global lock lacks, or None."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    return "a Python with the global lock: this one is free-threaded, and nothing was checked on such. Install another."


def missing():
    """Return what make lacks, or None when everything is there."""
    if sys.version_info < (3, 11):  # noqa: UP036
        found = ".".join(map(str, sys.version_info[:3]))
        return f"Python 3.11 or newer: this is {found}. Install one and run make PYTHON=python3.11."
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        return "Python's venv module: install python3-venv (Debian, Ubuntu) or a complete Python."
    return missing_lock() or missing_compiler()


if __name__ == "__main__":
    lack = missing()
    if lack:
        sys.exit(f"lastbit needs {lack}")
