"""Does a comparison pass what was asked of it?"""

from __future__ import annotations

from typing import Literal, TypeAlias

from turncurve.analysis.compare import Comparison

FailOn: TypeAlias = Literal["worse", "not-shown"]
Outcome: TypeAlias = Literal["passed", "failed", "not judged"]


def gate(result: Comparison, fail_on: FailOn) -> Outcome:
    """Whether the comparison passes; "not judged" where the two could not be compared.

    Args:
        result: The comparison.
        fail_on: "worse" fails where b is surely worse somewhere, be it better elsewhere.
            "not-shown" fails unless b is shown to be no worse than the margin at every turn.
    """
    if result.judged.verdict in ("too few", "not comparable") or result.difference is None:
        return "not judged"
    if fail_on == "worse":
        return "failed" if result.judged.verdict in ("worse", "mixed") else "passed"
    margin = result.difference.noninferiority
    if margin is None:
        return "not judged"
    return "passed" if margin.shown else "failed"
