"""Signals: one number a turn. To add one, write a `Signal` and name it in SIGNALS."""

from __future__ import annotations

from turncurve.registry import Registry
from turncurve.signals.base import Derive, Observe, Signal

SIGNALS: Registry[Signal] = Registry("signal", {}, Signal)

__all__ = ["SIGNALS", "Derive", "Observe", "Signal"]
