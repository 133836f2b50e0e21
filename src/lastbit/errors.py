"""Every exception lastbit raises, in one tree.

A message says what was expected, what came, and what to do. Parameters may be shown; private values never.
"""


class LastbitError(Exception):
    """The root: `except lastbit.LastbitError` catches all of ours and nothing else."""


class ParameterError(LastbitError, ValueError):
    """A public parameter cannot be used. Nothing was drawn and nothing was charged."""


class TapeEnded(LastbitError):
    """A `Tape` has no more words. It ends the test that built the tape too short, nothing else."""


class BitsError(LastbitError):
    """A source of random words broke its contract: `words(n)` must give n unsigned 64-bit integers."""


class AuditError(LastbitError):
    """A program cannot be audited: it does not depend on its draws alone, or asks for raw words."""


class RunExhausted(LastbitError):
    """A run has spent its budget and answers no more. Nothing was drawn."""


class RunBound(LastbitError, TypeError):
    """A run holds secret noise, so it stays where it began: no copy, no pickle, no use in a forked process."""
