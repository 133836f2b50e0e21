"""`python -m lastbit` is the `lastbit` command."""

from lastbit.cli import main

if __name__ == "__main__":
    main()
