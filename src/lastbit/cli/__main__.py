"""`python -m lastbit.cli` is the `lastbit` command."""

from lastbit.cli import main

main()
