"""Compile modules of setup.py inside the tree of the current folder, next to their sources.

`python tools/compiled.py [--of FILE] [--bounds] [flags of the C compiler …]`: `--of` takes only the modules made of
that .pyx or .pxd file, and `--bounds` checks every index, also where setup.py switches the checks off.
"""

import argparse
import sys

import setuptools


def compile_modules(of: str | None, bounds: bool, flags: list[str]) -> list[str]:
    """The names of the compiled modules."""
    # The distutils that setuptools brings: Python's own is gone, or an older one.
    setup = setuptools.distutils.core.run_setup(
        "setup.py", ["-q", "build_ext", "--inplace", "--force"], stop_after="commandline"
    )
    chosen = [module for module in setup.ext_modules if of is None or of in [*module.sources, *module.depends]]
    for module in chosen:
        module.extra_compile_args = [*module.extra_compile_args, *flags]
        module.extra_link_args = [*module.extra_link_args, *(flag for flag in flags if flag.startswith("-fsanitize"))]
        if bounds:
            module.cython_directives = module.cython_directives | {"boundscheck": True, "initializedcheck": True}
    setup.ext_modules = chosen
    setup.run_commands()
    return [module.name for module in chosen]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--of")
    parser.add_argument("--bounds", action="store_true")
    asked, flags = parser.parse_known_args()
    sys.argv = ["setup.py"]
    if not compile_modules(asked.of, asked.bounds, flags):
        sys.exit(f"setup.py makes no module of {asked.of}")
