"""lastbit: differential privacy that holds to the last bit."""

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.counts import Counts
from lastbit.draw import Draw, Sampler
from lastbit.errors import AuditError, BitsError, LastbitError, ParameterError, TapeEnded
from lastbit.exact import Eta, Rate
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.reference import Reference
from lastbit.release import Release

__version__ = "0.1.0"

__all__ = [
    "AuditError",
    "Bits",
    "BitsError",
    "Counts",
    "DiscreteLaplace",
    "Draw",
    "Eta",
    "LastbitError",
    "ParameterError",
    "Rate",
    "Reference",
    "Release",
    "Sampler",
    "SystemBits",
    "Tape",
    "TapeEnded",
    "audit",
]
