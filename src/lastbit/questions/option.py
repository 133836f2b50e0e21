"""A typed option: one object says how a value is read, checked, written and explained, for every face.

The command, the page, the service, `lb.ask`, a plan and the ledger take all that they know about an option from here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from lastbit.errors import ParameterError

Face = Literal["command", "python", "service", "page"]
FACES: Final[frozenset[Face]] = frozenset(("command", "python", "service", "page"))
OWNER: Final[frozenset[Face]] = frozenset(("command", "python"))
"""The faces of a person who holds the table. Whoever asks a server cannot choose what these options say."""

COMMAND: Final[frozenset[Face]] = frozenset(("command",))

Part = Literal["table", "question", "cost", "account", "output"]
"""What an option is about. The identity of a question is made of its parts `table` and `question`."""


class _Required:
    """Stands in the place of a default where the option must be given."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED: Final = _Required()


class ValueType(Protocol):
    """The values that an option takes."""

    @property
    def metavar(self) -> str:
        """How the help writes a value."""
        ...

    @property
    def words(self) -> int:
        """How many words of a command line one value takes: 0 for a flag."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether the option may be given several times."""
        ...

    def parse(self, value: Any, flag: str, face: Face) -> Any:
        """Return the value in its one normal form, or raise a ParameterError that says what to write."""
        ...

    def arguments(self, value: Any) -> list[list[str]]:
        """Return the words behind the flag, once for each time that the flag is given."""
        ...

    def plain(self, value: Any) -> Any:
        """Return the value as JSON and Python literals write it. `parse` reads it back."""
        ...

    def fact(self, value: Any) -> Any:
        """Return what the identity of a question keeps of the value: equal for two spellings of one value."""
        ...

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the values."""
        ...


@dataclass(frozen=True)
class Option:
    """One option of a question."""

    name: str
    type: ValueType
    help: str
    default: Any = None
    part: Part = "question"
    faces: frozenset[Face] = FACES
    spelling: str = ""
    """The flag, where it is not the name with hyphens."""
    positional: bool = False
    """Whether a command takes the value without a flag."""
    server_help: str = ""
    """The help for whoever asks a server, where that differs: they cannot name files."""
    labels: tuple[str, ...] = ()
    """What stands above its inputs on the page, where that is not what its name has elsewhere."""

    @property
    def usage(self) -> str:
        """How a command line gives the option.

        >>> from lastbit.questions.shared_options import OF, SOURCE
        >>> OF.usage, SOURCE.usage
        ('--of COLUMN', 'FILE...')
        """
        return self.type.metavar if self.positional else f"{self.flag} {self.type.metavar}".strip()

    @cached_property
    def flag(self) -> str:
        """How a command line spells the option.

        >>> from lastbit.questions.value_types import Text
        >>> Option("most_items", Text(), "").flag, Option("k", Text(), "").flag
        ('--most-items', '-k')
        """
        if self.spelling or self.positional:
            return self.spelling or self.type.metavar
        return f"-{self.name}" if len(self.name) == 1 else f"--{self.name.replace('_', '-')}"

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is REQUIRED

    def parse(self, value: Any, face: Face) -> Any:
        """Return the value in its normal form; None and an option that is not given have the default."""
        if value is None or value is self.default:
            return self.default
        return self.type.parse(value, self.flag, face)

    def arguments(self, value: Any) -> list[str]:
        """Return the words of a command line that give this value.

        >>> from lastbit.questions.list_types import Pair, TextList
        >>> Option("by", TextList(), "").arguments(("ward", "sex"))
        ['--by', 'ward', '--by', 'sex']
        >>> Option("bounds", Pair(), "").arguments(("0", "10"))
        ['--bounds', '0', '10']
        """
        return [word for words in self.type.arguments(value) for word in (self.flag, *words)]


def parse_options(
    options: Sequence[Option],
    values: Mapping[str, Any],
    face: Face,
    kind: str,
    fixed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return all options of a kind of question in their normal form, or refuse the first that is wrong.

    `fixed` are the values that the owner of the table sets, whatever the face is: nobody who asks can change them.
    """
    fixed = fixed or {}
    known = {option.name: option for option in options}
    for name in values:
        option = known.get(name)
        if option is not None and option.faces == COMMAND and face == "python" and values[name] is not None:
            raise ParameterError(f"{name} is for the command: ask returns the release. Leave it out.")
        if option is None or (face not in option.faces and values[name] is not None):
            open_here = ", ".join(option.name for option in options if face in option.faces)
            raise ParameterError(f"there is no option {str(name)[:40]!r} for {kind} here. Use some of {open_here}.")
    parsed = {}
    for name, option in known.items():
        parsed[name] = option.parse(fixed[name], "python") if name in fixed else option.parse(values.get(name), face)
        if option.required and (parsed[name] is REQUIRED or parsed[name] == ()):
            raise ParameterError(f"{kind} needs {option.usage}. {option.help} Nothing was read.")
    return parsed
