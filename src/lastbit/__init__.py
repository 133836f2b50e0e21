"""lastbit: differential privacy that holds to the last bit."""

from lastbit import audit
from lastbit.bits import Bits, SystemBits, Tape
from lastbit.draw import Draw, Sampler
from lastbit.errors import AuditError, BitsError, LastbitError, ParameterError, TapeEnded
from lastbit.exact import Eta, Rate
from lastbit.measurement import Measurement
from lastbit.mechanisms.laplace import DiscreteLaplace
from lastbit.mechanisms.snapping import Snapping
from lastbit.reference import Reference
from lastbit.release import Release
from lastbit.sums import Exact, exact_mean, exact_sum, exact_variance, histogram

__version__ = "0.1.0"

__all__ = [
    "AuditError",
    "Bits",
    "BitsError",
    "DiscreteLaplace",
    "Draw",
    "Eta",
    "Exact",
    "LastbitError",
    "Measurement",
    "ParameterError",
    "Rate",
    "Reference",
    "Release",
    "Sampler",
    "Snapping",
    "SystemBits",
    "Tape",
    "TapeEnded",
    "audit",
    "exact_mean",
    "exact_sum",
    "exact_variance",
    "histogram",
]
