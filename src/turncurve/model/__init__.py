"""What happened: runs, turns, tool calls, usage, grades. Standard library only."""

from turncurve.model.grade import Construct, Grade, Validity
from turncurve.model.run import (
    Detector,
    Event,
    EventKind,
    ExitType,
    Message,
    Run,
    ToolCall,
    ToolResult,
    Totals,
    Turn,
)
from turncurve.model.usage import Usage, usage_with_cache_inside

__all__ = [
    "Construct",
    "Detector",
    "Event",
    "EventKind",
    "ExitType",
    "Grade",
    "Message",
    "Run",
    "ToolCall",
    "ToolResult",
    "Totals",
    "Turn",
    "Usage",
    "Validity",
    "usage_with_cache_inside",
]
