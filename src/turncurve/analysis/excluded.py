"""What an analysis left out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


def excluded_counts(left_out: Mapping[str, int | NDArray[np.bool_]]) -> dict[str, int]:
    """Reason to count, without the reasons that left nothing out.

    Args:
        left_out: For each reason a count, or a mask of what it left out.
    """
    counts = {reason: int(np.sum(what)) for reason, what in left_out.items()}
    return {reason: n for reason, n in counts.items() if n}
