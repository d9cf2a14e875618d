"""A label in the making: which question is next, and what a key answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from turncurve.readers.grade_lines import Value

Event: TypeAlias = Literal["answered", "done", "back", "quit", "up", "down", "unknown"]

KEYS: dict[str, dict[str, Value]] = {
    "validity": {"f": "fail", "n": "neutral", "p": "pass"},
    "complexity": {"l": "low", "m": "medium", "h": "high"},
    "dependency": {"i": "independent", "d": "dependent"},
    "severity": {"l": "low", "m": "medium", "h": "high"},
    "looping": {"y": True, "n": False},
    "repeats_turn": {},
}
"""Questions in the order in which they are asked, with the key of each answer."""
SKIP, BACK, QUIT = "s", "u", "q"
SCROLL: dict[str, Event] = {"up": "up", "k": "up", "down": "down", "j": "down"}
MOST_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A label in the making.

    Args:
        turn: The turn that is labelled.
        answer: What was answered.
        skipped: Questions that were passed over: a label may lack them.
        typed: Digits of the number of a turn.
        said: What was wrong with the last key.
    """

    turn: int
    answer: dict[str, Value] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    typed: str = ""
    said: str = ""


def question(label: Label) -> str | None:
    """The next question; None where there is none any more.

    Dependency and severity are of failing steps, the repeated turn of steps that loop, and a step
    that passes does not loop.
    """
    for name in KEYS:
        if name not in label.answer and name not in label.skipped:
            return name
    return None


def pressed(label: Label, key: str) -> tuple[Label, Event]:
    """The label after a key, and what the key did.

    Args:
        label: The label.
        key: A character, or "enter", "backspace", "up", "down".
    """
    label = replace(label, said="")
    if key == QUIT:
        return label, "quit"
    if key in SCROLL:
        return label, SCROLL[key]
    return _undone(label) if key == BACK else _answered(label, key)


def _answered(label: Label, key: str) -> tuple[Label, Event]:
    """The label after a key that answers the next question, or does not."""
    asked = question(label)
    if asked is None:
        return label, "done" if key == "enter" else "unknown"
    if asked == "repeats_turn" and (key.isdecimal() or key in {"enter", "backspace"}):
        return _typed(label, key)
    if key == SKIP and asked != "validity":
        return _settled(replace(label, skipped=(*label.skipped, asked), typed=""))
    if key not in KEYS[asked]:
        known = ", ".join(KEYS[asked]) or "a number and enter"
        return replace(label, said=f"{asked}: wanted {known}"), "unknown"
    return _settled(replace(label, answer={**label.answer, asked: KEYS[asked][key]}))


def _typed(label: Label, key: str) -> tuple[Label, Event]:
    if key == "backspace":
        return replace(label, typed=label.typed[:-1]), "answered"
    if key != "enter":
        return replace(label, typed=(label.typed + key)[:MOST_DIGITS]), "answered"
    turn = int(label.typed or "0")
    if not 1 <= turn < label.turn:
        wrong = f"repeats_turn: wanted an earlier turn, 1 to {label.turn - 1}"
        return replace(label, typed="", said=wrong), "unknown"
    return _settled(replace(label, answer={**label.answer, "repeats_turn": turn}, typed=""))


def _settled(label: Label) -> tuple[Label, Event]:
    """With the answers that follow from those that were given."""
    answer = dict(label.answer)
    validity = answer.get("validity")
    if validity in {"neutral", "pass"}:
        answer |= {"dependency": "n/a", "severity": None}
    if validity == "pass" or label.turn == 1:
        answer["looping"] = False
    if answer.get("looping") is False:
        answer["repeats_turn"] = None
    skipped = label.skipped
    if "looping" in skipped and "repeats_turn" not in skipped:
        skipped = (*skipped, "repeats_turn")
    settled = replace(label, answer=answer, skipped=skipped)
    return settled, "done" if question(settled) is None else "answered"


def _undone(label: Label) -> tuple[Label, Event]:
    """Without the last answer that a key gave; where there is none, back to the step before."""
    if not label.answer and not label.skipped:
        return label, "back"
    return Label(turn=label.turn), "answered"
