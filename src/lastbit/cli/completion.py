"""`lastbit completion`: the Tab key completes commands and options. It loads only when a shell asks for words."""

from __future__ import annotations

import os
from typing import Annotated, Final

import typer

from lastbit.cli.plain_words import COMPLETION
from lastbit.errors import ParameterError

SHELLS: Final = ("bash", "zsh", "fish", "powershell")


def completion(
    shell: Annotated[str, typer.Argument(metavar="|".join(SHELLS), help="The shell that completes.")],
) -> None:
    """Print a script that makes the Tab key complete commands and options.

    For bash, add the line `eval "$(lastbit completion bash)"` to ~/.bashrc; for zsh the same with zsh, to ~/.zshrc,
    after compinit. For
    fish: lastbit completion fish > ~/.config/fish/completions/lastbit.fish
    """
    from typer._completion_shared import get_completion_script

    if shell not in SHELLS:
        raise ParameterError(f"the shell must be one of {', '.join(SHELLS)}: got {shell}.")
    print(get_completion_script(prog_name="lastbit", complete_var=COMPLETION, shell=shell))


def prepare_completion() -> None:
    """Get ready to answer when a shell asks for words."""
    if COMPLETION in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
