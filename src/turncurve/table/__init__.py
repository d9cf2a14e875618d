"""The columnar form of runs, which everything above reads."""

from turncurve.table.columns import SignalInfo
from turncurve.table.turn_table import CallTable, EventTable, RunTable, TurnTable

__all__ = ["CallTable", "EventTable", "RunTable", "SignalInfo", "TurnTable"]
