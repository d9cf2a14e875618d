"""turncurve: does an AI agent get worse the longer it runs, where, how sure are we, and why?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from turncurve.analysis.alignment import align_on_event
    from turncurve.analysis.battery import BatterySettings, battery
    from turncurve.analysis.cliff import CliffSettings, cliff
    from turncurve.analysis.compare import Comparison, compare
    from turncurve.analysis.comparison.settings import CompareSettings
    from turncurve.analysis.drop_report import drop_report
    from turncurve.analysis.first_error_settings import FirstErrorSettings
    from turncurve.analysis.first_error_study import first_error_study
    from turncurve.analysis.founding import analyze_run
    from turncurve.analysis.horizon import horizons
    from turncurve.analysis.judgements import read_judgements
    from turncurve.analysis.reliability import reliability
    from turncurve.analysis.residual import residual
    from turncurve.analysis.residual_plan import ResidualSettings
    from turncurve.analysis.settings import Settings
    from turncurve.analysis.step_power import StepPowerSettings, step_power
    from turncurve.analysis.validate_grader import ValidationSettings, validate_grader
    from turncurve.errors import ReadError, TurncurveError
    from turncurve.ingest import import_files, read, read_table, stored_signals
    from turncurve.ingest.made_up import MadeUpSuite, made_up_suite
    from turncurve.model import (
        Event,
        ExitType,
        Grade,
        Run,
        ToolCall,
        ToolResult,
        Turn,
        Usage,
    )
    from turncurve.readers import READERS, Reader
    from turncurve.readers.stage_trials import read_stage_trials
    from turncurve.report.document import Report, build_report
    from turncurve.report.json import to_json
    from turncurve.report.text import to_text
    from turncurve.signals import SIGNALS, Signal
    from turncurve.stats.anytime import anytime_mean
    from turncurve.stats.estimate import Estimate
    from turncurve.stats.simulate import RECIPES, Recipe, Spreads, Truth
    from turncurve.table import SignalInfo, TurnTable

_HOMES = {
    "BatterySettings": "turncurve.analysis.battery",
    "CliffSettings": "turncurve.analysis.cliff",
    "CompareSettings": "turncurve.analysis.comparison.settings",
    "Comparison": "turncurve.analysis.compare",
    "Estimate": "turncurve.stats.estimate",
    "Event": "turncurve.model",
    "FirstErrorSettings": "turncurve.analysis.first_error_settings",
    "ExitType": "turncurve.model",
    "Grade": "turncurve.model",
    "MadeUpSuite": "turncurve.ingest.made_up",
    "READERS": "turncurve.readers",
    "RECIPES": "turncurve.stats.simulate",
    "ReadError": "turncurve.errors",
    "Reader": "turncurve.readers",
    "Recipe": "turncurve.stats.simulate",
    "Report": "turncurve.report.document",
    "ResidualSettings": "turncurve.analysis.residual_plan",
    "Run": "turncurve.model",
    "SIGNALS": "turncurve.signals",
    "Settings": "turncurve.analysis.settings",
    "Signal": "turncurve.signals",
    "SignalInfo": "turncurve.table",
    "Spreads": "turncurve.stats.simulate",
    "StepPowerSettings": "turncurve.analysis.step_power",
    "ToolCall": "turncurve.model",
    "ToolResult": "turncurve.model",
    "Truth": "turncurve.stats.simulate",
    "Turn": "turncurve.model",
    "TurnTable": "turncurve.table",
    "TurncurveError": "turncurve.errors",
    "Usage": "turncurve.model",
    "ValidationSettings": "turncurve.analysis.validate_grader",
    "align_on_event": "turncurve.analysis.alignment",
    "analyze_run": "turncurve.analysis.founding",
    "anytime_mean": "turncurve.stats.anytime",
    "battery": "turncurve.analysis.battery",
    "build_report": "turncurve.report.document",
    "cliff": "turncurve.analysis.cliff",
    "compare": "turncurve.analysis.compare",
    "drop_report": "turncurve.analysis.drop_report",
    "first_error_study": "turncurve.analysis.first_error_study",
    "horizons": "turncurve.analysis.horizon",
    "import_files": "turncurve.ingest",
    "made_up_suite": "turncurve.ingest.made_up",
    "read": "turncurve.ingest",
    "read_judgements": "turncurve.analysis.judgements",
    "read_stage_trials": "turncurve.readers.stage_trials",
    "read_table": "turncurve.ingest",
    "reliability": "turncurve.analysis.reliability",
    "residual": "turncurve.analysis.residual",
    "step_power": "turncurve.analysis.step_power",
    "stored_signals": "turncurve.ingest",
    "to_json": "turncurve.report.json",
    "to_text": "turncurve.report.text",
    "validate_grader": "turncurve.analysis.validate_grader",
}

__all__ = [
    "READERS",
    "RECIPES",
    "SIGNALS",
    "BatterySettings",
    "CliffSettings",
    "CompareSettings",
    "Comparison",
    "Estimate",
    "Event",
    "ExitType",
    "FirstErrorSettings",
    "Grade",
    "MadeUpSuite",
    "ReadError",
    "Reader",
    "Recipe",
    "Report",
    "ResidualSettings",
    "Run",
    "Settings",
    "Signal",
    "SignalInfo",
    "Spreads",
    "StepPowerSettings",
    "ToolCall",
    "ToolResult",
    "Truth",
    "Turn",
    "TurnTable",
    "TurncurveError",
    "Usage",
    "ValidationSettings",
    "align_on_event",
    "analyze_run",
    "anytime_mean",
    "battery",
    "build_report",
    "cliff",
    "compare",
    "drop_report",
    "first_error_study",
    "horizons",
    "import_files",
    "made_up_suite",
    "read",
    "read_judgements",
    "read_stage_trials",
    "read_table",
    "reliability",
    "residual",
    "step_power",
    "stored_signals",
    "to_json",
    "to_text",
    "validate_grader",
]


def __getattr__(name: str) -> object:
    """Import a name's home on first use, so that `import turncurve` stays light."""
    if name not in _HOMES:
        raise AttributeError(f"module 'turncurve' has no attribute {name!r}")
    value: object = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
