"""Inspect AI extension: scorers, metrics, a hook and a Scout scanner. Needs the extra `inspect`.

Inspect finds the parts by name (`turncurve/signals_scorer`) through the entry point in
pyproject.toml; a task may also import them from here. What takes long to import (numpy, scipy) is
imported when a sample is scored.
"""

from turncurve.inspect_ext.degradation_scorer import degradation_scorer
from turncurve.inspect_ext.metrics import (
    error_rate,
    error_rate_slope,
    loop_rate,
    median_time_to_first_error,
    missing_rate,
    neutral_rate,
    productive_rate,
    rubric_mean,
    rubric_slope,
)
from turncurve.inspect_ext.signals_scorer import signals_scorer

__all__ = [
    "degradation_scorer",
    "error_rate",
    "error_rate_slope",
    "loop_rate",
    "median_time_to_first_error",
    "missing_rate",
    "neutral_rate",
    "productive_rate",
    "rubric_mean",
    "rubric_slope",
    "signals_scorer",
]
