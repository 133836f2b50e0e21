"""The compiled modules; everything else about the package is in pyproject.toml."""

import os
import runpy
import sys

from Cython.Distutils import Extension
from setuptools import setup

if {"build", "build_ext", "bdist_wheel", "editable_wheel"} & {*sys.argv}:
    # Before anything is copied or compiled, so that what is missing is the one line that pip shows.
    machine = runpy.run_path("tools/check_machine.py")
    lack = machine["missing_lock"]() or machine["missing_compiler"]()
    if lack:
        sys.exit(f"lastbit needs {lack}")


# Neither debug sections nor the folder of this build: two builds of one source give the same bytes.
SAME_BYTES = ["-g0", f"-ffile-prefix-map={os.getcwd()}=."]


def compiled(name: str, **directives: bool) -> Extension:
    return Extension(
        name,
        [f"src/{name.replace('.', '/')}.pyx"],
        depends=[f"src/lastbit/chance/{shared}.pxd" for shared in ("_words", "_cells", "_classes")],
        extra_compile_args=[] if os.name == "nt" else ["-O3", *SAME_BYTES],
        cython_directives={"language_level": 3, **directives},
    )


FAST = {"boundscheck": False, "wraparound": False, "cdivision": True, "initializedcheck": False}

modules = [
    compiled("lastbit.chance._cells", **FAST),
    compiled("lastbit.chance._draws", **FAST),
    compiled("lastbit.chance._powers", **FAST),
    compiled("lastbit.chance._curves", **FAST),
    compiled("lastbit.chance._classes", **FAST),
    compiled("lastbit.chance._scaled", **FAST),
    compiled("lastbit.values._floors", **FAST),
    compiled("lastbit.values._bins", **FAST),
    compiled("lastbit.values._parts", **FAST),
    compiled("lastbit.values._logarithms", **FAST),
    compiled("lastbit.mechanisms.top_k._ranks", **FAST),
    compiled("lastbit.mechanisms.quantiles._rank_errors", **FAST),
    compiled("lastbit._outcomes"),
    compiled("lastbit.audit._tree"),
    compiled("lastbit.data._lots", **FAST),
    compiled("lastbit.data._units", **FAST),
    compiled("lastbit.data._objects", **FAST),
    compiled("lastbit.data._fields", boundscheck=False, wraparound=False, initializedcheck=False),
]

# force: a change of directives here must reach the C file, whose age only follows the .pyx.
setup(ext_modules=modules, options={"build_ext": {"force": True}})
