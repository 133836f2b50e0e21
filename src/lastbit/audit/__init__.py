"""The auditor: the exact output law of a running program, and a verdict on its privacy."""

from lastbit.audit import hostile
from lastbit.audit.claims import ClaimMeasurement
from lastbit.audit.enumerator import Enumerator
from lastbit.audit.laws import Law, law
from lastbit.audit.losses import Loss, loss
from lastbit.audit.profile import Profile, profile
from lastbit.audit.stability import Stability, StabilityWitness, stability
from lastbit.audit.verdict import Verdict, Verdicts, check, check_all, compare, judge

__all__ = [
    "ClaimMeasurement",
    "Enumerator",
    "Law",
    "Loss",
    "Profile",
    "Stability",
    "StabilityWitness",
    "Verdict",
    "Verdicts",
    "check",
    "check_all",
    "compare",
    "hostile",
    "judge",
    "law",
    "loss",
    "profile",
    "stability",
]
