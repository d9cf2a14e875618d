"""Ratings whose coefficients are known from other programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

RATINGS = np.array(
    [
        *([1, 1, 1], [1, 1, 2], [2, 2, 2], [2, 1, 2], [0, 0, 0]),
        *([1, 1, 1], [2, 2, 2], [0, 0, 1], [1, 0, 1], [1, 1, 1]),
        *([2, 2, 2], [2, 2, 0], [0, 0, 0], [0, 1, 0], [1, 1, -1]),
    ]
)
"""15 items by three raters, one judgement missing: the answers below are for it.

From statsmodels 0.14, irrCAC 0.4.4, krippendorff 0.6 and scikit-learn.
"""

_MADE_UP = json.loads(
    (Path(__file__).parents[1] / "data/agreement/answers.json").read_text("utf-8")
)
MADE_UP = np.array(_MADE_UP["ratings"])
"""40 items by four raters in four categories, a fifth of the judgements missing."""
ANSWERS = _MADE_UP["answers"]
"""By coefficient and weights, from irrCAC (value and standard error) and krippendorff (value)."""
