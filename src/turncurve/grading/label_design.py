"""Which turns a person labels: drawn by a stated design, each with a known chance."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

from turncurve.errors import GradeError

Design: TypeAlias = Literal["runs", "strata"]
N_STRATA = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A turn to label.

    Args:
        run: Id of its run.
        turn: Its number.
        probability: Chance that the design drew it.
    """

    run: str
    turn: int
    probability: float


def draw(turns: Mapping[str, Sequence[int]], design: Design, n: int, seed: int) -> list[Drawn]:
    """Draw turns to label.

    Args:
        turns: The turns of each run that can be labelled.
        design: "runs" draws whole runs, each as likely as any other, so that what is worked out
            over runs needs no weights. "strata" draws turns, as many early as middle and late ones
            (thirds of all turns by their number), so that late turns are seen in a set of short
            runs too.
        n: Runs, or turns, to draw.
        seed: Of the draw.

    Returns:
        Runs in random order, the turns of each in their own.

    Raises:
        GradeError: There are fewer than `n`.
    """
    rng = random.Random(seed)
    return _runs(turns, n, rng) if design == "runs" else _strata(turns, n, rng)


def _runs(turns: Mapping[str, Sequence[int]], n: int, rng: random.Random) -> list[Drawn]:
    if n > len(turns):
        raise GradeError(f"wanted {n:,} runs to label, and there are {len(turns):,}")
    chance = n / len(turns)
    return [
        Drawn(run=run, turn=turn, probability=chance)
        for run in rng.sample(sorted(turns), n)
        for turn in turns[run]
    ]


def _strata(turns: Mapping[str, Sequence[int]], n: int, rng: random.Random) -> list[Drawn]:
    every = sorted(((turn, run) for run, of in turns.items() for turn in of))
    if n > len(every):
        raise GradeError(f"wanted {n:,} turns to label, and there are {len(every):,}")
    size = len(every)
    edges = [round(size * part / N_STRATA) for part in range(N_STRATA + 1)]
    chosen: list[Drawn] = []
    for number, (start, end) in enumerate(pairwise(edges)):
        wanted = min(end - start, n // N_STRATA + (number < n % N_STRATA))
        chosen += [
            Drawn(run=run, turn=turn, probability=wanted / (end - start))
            for turn, run in rng.sample(every[start:end], wanted)
        ]
    order = {run: place for place, run in enumerate(rng.sample(sorted(turns), len(turns)))}
    return sorted(chosen, key=lambda one: (order[one.run], one.turn))
