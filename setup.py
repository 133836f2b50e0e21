"""The compiled kernel; everything else about the package is in pyproject.toml."""

from Cython.Distutils import Extension
from setuptools import setup

kernel = Extension(
    "lastbit._kernel",
    ["src/lastbit/_kernel.pyx"],
    extra_compile_args=["-O3"],
    cython_directives={
        "language_level": 3,
        "boundscheck": False,
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
    },
)

# force: a change of directives here must reach the C file, whose age only follows the .pyx.
setup(ext_modules=[kernel], options={"build_ext": {"force": True}})
