"""What is known of the columns that graders give by rubrics other than that of steps."""

from __future__ import annotations

from turncurve.table import SignalInfo

JUDGED = {
    "adherence_judged": SignalInfo(
        name="adherence_judged",
        title="Instruction adherence (judged)",
        unit="share",
        better="high",
        denominator="rules that apply to the turn",
        weight="n_rules_judged",
        low=0.0,
        high=1.0,
    ),
    "n_rules_judged": SignalInfo(
        name="n_rules_judged", title="Judged rules that apply", unit="count", low=0.0, curve=False
    ),
    "goal_fidelity": SignalInfo(
        name="goal_fidelity",
        title="Goal fidelity",
        unit="between floor and ceiling",
        better="high",
        denominator="turns that restate their goal",
    ),
    "goal_fidelity_raw": SignalInfo(
        name="goal_fidelity_raw",
        title="Goal fidelity (as judged)",
        unit="share",
        better="high",
        denominator="turns that restate their goal",
        low=0.0,
        high=1.0,
    ),
}
"""Columns that only graders give."""
