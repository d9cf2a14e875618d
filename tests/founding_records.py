"""The founding worked example: one run of 60 turns whose quality falls after turn 30."""

from __future__ import annotations

import random
from typing import Any

BUCKET_MEANS = (0.931, 0.943, 0.943, 0.829, 0.645, 0.440)


def founding_records() -> list[dict[str, Any]]:
    """The records, one a turn, as the founding document makes them."""
    draw = random.Random(7)
    records = []
    for turn in range(1, 61):
        base = 0.95 if turn <= 30 else max(0.30, 0.95 - 0.02 * (turn - 30))
        noisy = base + draw.uniform(-0.05, 0.05)
        records.append(
            {
                "turn": turn,
                "quality": round(min(1, max(0, noisy)), 3),
                "context_tokens": 3000 + 850 * turn,
                "action": f"search:q{turn % 12}",
            }
        )
    return records
