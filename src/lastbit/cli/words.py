"""Options whose words stay text. Typer would load Pydantic, for a tenth of a second, to find that text is text."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class TextCommand(TyperCommand):
    """A command whose options read their words themselves."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, which pass on every word as it is."""
        return [_keep_text(parameter) for parameter in super().get_params(ctx)]


class GrammarCommand(TextCommand):
    """A command with options that Typer has no types for: of one word or two, or of one or none."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words, in the form that Typer has types for."""
        from lastbit.cli.grammar import spell_plainly

        names_json = any("--json" in option.opts and option.metavar for option in self.params)
        return super().parse_args(ctx, spell_plainly(args, names_json=names_json))


class TextGroup(TyperGroup):
    """A group of commands that has no options but flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options, of which a flag that is not given is not looked at."""
        return [_keep_text(parameter) for parameter in super().get_params(ctx)]


def _keep_text(parameter: Any) -> Any:
    """Return an option whose words are not converted. A flag with a task, such as --help, still does it."""
    if "process_value" not in vars(parameter):
        convert = parameter.process_value
        parameter.process_value = lambda ctx, value: convert(ctx, value) if parameter.callback and value else value
    return parameter
