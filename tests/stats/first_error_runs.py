"""24 simulated runs whose times to a first error R 4.2.2 (survival) was asked about."""

from __future__ import annotations

import numpy as np

TIME = [13, 5, 4, 9, 11, 15, 23, 4, 16, 12, 15, 5, 16, 5, 13, 14, 5, 12, 12, 1, 3, 8, 2, 4]
EVENT = np.ones(24, dtype=bool)
EVENT[[5, 6, 17, 18]] = False
MODEL = np.array(["A", "B"] * 12)
TASK = np.repeat(np.arange(8), 3)
