"""lastbit: differential privacy that holds to the last bit."""

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.draw import Draw, Sampler
from lastbit.errors import AuditError, BitsError, LastbitError, ParameterError, TapeEnded
from lastbit.exact import Eta, Rate
from lastbit.mechanisms.exponential import Choice, ExponentialMechanism, Ranking
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.reference import Reference
from lastbit.release import Release

__version__ = "0.1.0"

__all__ = [
    "AuditError",
    "Bits",
    "BitsError",
    "Choice",
    "DiscreteLaplace",
    "Draw",
    "Eta",
    "ExponentialMechanism",
    "LastbitError",
    "ParameterError",
    "Ranking",
    "Rate",
    "Reference",
    "Release",
    "Sampler",
    "SystemBits",
    "Tape",
    "TapeEnded",
    "audit",
]
