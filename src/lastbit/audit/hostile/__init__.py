"""Hostile values, rows and lines that one person may bring to a table."""

from lastbit.audit.hostile.kinds import FORMS, KINDS, values
from lastbit.audit.hostile.near_keys import NEAR
from lastbit.audit.hostile.tables import rows
from lastbit.audit.hostile.text_files import lines

__all__ = ["FORMS", "KINDS", "NEAR", "lines", "rows", "values"]
