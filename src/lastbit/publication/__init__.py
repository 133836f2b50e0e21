"""Publications: every question of a study and its budget in one file, the report of the answers, and its proof."""

from __future__ import annotations

from lastbit.publication.publication import Publication as Publication
from lastbit.publication.verify import verify as verify
