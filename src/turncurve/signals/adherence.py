"""Instruction adherence: the share of the applicable rules that a turn keeps."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from turncurve.errors import RuleError
from turncurve.model import Run, Turn
from turncurve.signals.base import FloatArray, Signal, given, per_turn
from turncurve.table import SignalInfo

if TYPE_CHECKING:
    from turncurve.signals.rules import Rule

OnTrouble = Callable[[Turn, str], None]
"""Told of a rule that could not be checked on a turn, and why."""

TIMEOUTS = 3
"""After so many timeouts a rule is no longer checked."""


def adherence(run: Run) -> FloatArray:
    """Adherence that the file itself gives; NaN where it gives none.

    With a rule file it is worked out when runs are read: see `RuleBook`.
    """
    return given(run, "adherence")


def n_rules_applicable(run: Run) -> FloatArray:
    """Number of rules behind the adherence that the file itself gives; NaN where it gives none."""
    return given(run, "n_rules_applicable")


class RuleBook:
    """Checks rules on turns.

    A rule that cannot be checked on a turn (a regular expression out of time, a Python rule that
    raises) does not apply to it: it is neither kept nor broken. A rule that was out of time three
    times is not checked again.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._timeouts: Counter[str] = Counter()

    def observe(self, run: Run, on_trouble: OnTrouble) -> tuple[FloatArray, FloatArray]:
        """Adherence and number of applicable rules of each turn.

        Returns:
            Kept over applicable rules, NaN where none applies; and the number of applicable rules.
            Both of shape (n_turns,).
        """
        verdicts = [
            [v for rule in self._rules if (v := self._verdict(rule, turn, on_trouble)) is not None]
            for turn in run.turns
        ]
        return (
            per_turn(sum(kept) / len(kept) if kept else None for kept in verdicts),
            per_turn(len(kept) for kept in verdicts),
        )

    def _verdict(self, rule: Rule, turn: Turn, on_trouble: OnTrouble) -> bool | None:
        if self._timeouts[rule.id] >= TIMEOUTS:
            return None
        try:
            return _verdict(rule, turn)
        except RuleError:
            raise
        except TimeoutError:
            self._timeouts[rule.id] += 1
            last = self._timeouts[rule.id] == TIMEOUTS
            on_trouble(
                turn,
                f"rule {rule.id!r} took too long and counts as not applicable"
                + ("; it is not checked any more" if last else ""),
            )
        except Exception as problem:  # noqa: BLE001 - one rule on one turn fails as a whole
            on_trouble(turn, f"rule {rule.id!r} failed and counts as not applicable: {problem!r}")
        return None


def _verdict(rule: Rule, turn: Turn) -> bool | None:
    if rule.python is not None:
        verdict = rule.python(turn)
        if verdict is not None and not isinstance(verdict, bool):
            raise TypeError(f"wanted True, False or None, got {verdict!r}")
        return verdict
    check, when = rule.check, rule.when
    assert check is not None
    texts = [text for text in texts_of(turn, rule.applies_to) if when is None or when(text)]
    return all(check(text) for text in texts) if texts else None


def texts_of(turn: Turn, applies_to: str) -> list[str]:
    """The texts of a turn that a rule looks at.

    `text` is the turn's own, unless empty. `tool_calls` is every call's arguments as JSON, and any
    other word those of the calls of that tool.
    """
    if applies_to == "text":
        return [turn.text] if turn.text else []
    return [
        call.arguments
        if isinstance(call.arguments, str)
        else json.dumps(dict(call.arguments), ensure_ascii=False)
        for call in turn.tool_calls
        if applies_to in ("tool_calls", call.name)
    ]


ADHERENCE = Signal(
    info=SignalInfo(
        name="adherence",
        title="Instruction adherence",
        unit="share",
        better="high",
        denominator="rules that apply to the turn",
        weight="n_rules_applicable",
        low=0.0,
        high=1.0,
    ),
    observe=adherence,
)
N_RULES_APPLICABLE = Signal(
    info=SignalInfo(
        name="n_rules_applicable",
        title="Rules that apply",
        unit="count",
        denominator="turns that rules were checked on",
        low=0.0,
        curve=False,
    ),
    observe=n_rules_applicable,
)
