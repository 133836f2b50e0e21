"""The compiled modules; everything else about the package is in pyproject.toml."""

from Cython.Distutils import Extension
from setuptools import setup


def compiled(name: str) -> Extension:
    return Extension(
        name,
        [f"src/{name.replace('.', '/')}.pyx"],
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
setup(
    ext_modules=[compiled(name) for name in ("lastbit._kernel", "lastbit._outcomes", "lastbit.audit._tree")],
    options={"build_ext": {"force": True}},
)
