"""Runs and a turn table with made-up content, for tests and benchmarks of the report."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from turncurve.model import Event, ExitType, Message, Run, ToolCall, ToolResult, Turn, Usage
from turncurve.table import CallTable, EventTable, RunTable, SignalInfo, TurnTable

WORDS = """
the test fails because parser returns none when header is empty so we open module and read
function again then patch line run suite check output diff config path value error import
client request response timeout retry branch commit merge build cache index table column
"""

INFO = {
    info.name: info
    for info in (
        SignalInfo(name="quality", title="Quality", unit="score", better="high", low=0, high=1),
        SignalInfo(
            name="tool_error_rate",
            title="Tool errors",
            unit="share",
            better="low",
            denominator="tool results with a known status",
            low=0,
            high=1,
        ),
        SignalInfo(name="context_tokens", title="Context", unit="tokens", low=0),
        SignalInfo(name="output_tokens", title="Output", unit="tokens", low=0),
        SignalInfo(name="cost_usd", title="Cost", unit="usd", better="low", low=0),
        SignalInfo(
            name="repeated_action",
            title="Repeated actions",
            unit="share",
            better="low",
            denominator="actions of the turn",
            low=0,
            high=1,
        ),
    )
}


def synthetic_runs(
    n_runs: int = 80, max_turns: int = 97, *, words: int = 40, seed: int = 7, full: bool = False
) -> list[Run]:
    """Runs whose quality falls from turn 30 on; `full` gives each run all of `max_turns`."""
    rng = np.random.default_rng(seed)
    free = np.clip(rng.lognormal(3.65, 0.55, n_runs), 3, max_turns).astype(int)
    lengths = np.full(n_runs, max_turns) if full else free
    return [_run(k, int(length), max_turns, words, rng) for k, length in enumerate(lengths)]


def _prose(rng: np.random.Generator, n_words: int) -> str:
    known = WORDS.split()
    return " ".join(known[i] for i in rng.integers(0, len(known), n_words))


def _run(number: int, n_turns: int, max_turns: int, words: int, rng: np.random.Generator) -> Run:
    skill, context, turns, events = rng.normal(0, 0.05), 4000.0, [], []
    for turn in range(1, n_turns + 1):
        context += rng.uniform(600, 2400)
        if context > 90_000:
            context = 18_000.0
            events.append(Event(kind="compaction", turn=turn))
        turns.append(_turn(turn, skill, context, words, rng))
    success = bool(rng.random() < 0.75)
    budget = n_turns == max_turns
    exit_type = ExitType.SUCCESS_FINISH if success else ExitType.FAIL_FINISH
    return Run(
        id=f"astropy__astropy-{12_000 + number}/1",
        turns=tuple(turns),
        format="synthetic",
        path=f"traces/run-{number:03}.json",
        scenario=f"astropy__astropy-{12_000 + number}",
        trial=1,
        condition="baseline",
        model="example-model-1",
        exit_type=ExitType.BUDGET if budget else exit_type,
        exit_text="LimitsExceeded" if budget else "Submitted",
        success=False if budget else success,
        events=tuple(events),
    )


def _turn(turn: int, skill: float, context: float, words: int, rng: np.random.Generator) -> Turn:
    base = 0.95 if turn <= 30 else max(0.3, 0.95 - 0.012 * (turn - 30))
    failed = bool(rng.random() < 0.04 + 0.002 * turn)
    quality = float(np.clip(base + skill + rng.normal(0, 0.06), 0, 1))
    first = (Message(role="user", text="Fix the bug. " + _prose(rng, words)),) if turn == 1 else ()
    return Turn(
        index=turn,
        text="I will look at it. " + _prose(rng, words),
        before=first,
        tool_calls=(
            ToolCall(id=f"c{turn}", name="bash", arguments={"command": f"sed -n {turn}p a.py"}),
        ),
        tool_results=(
            ToolResult(
                call_id=f"c{turn}",
                text=("Error: " if failed else "") + _prose(rng, 2 * words),
                error=failed,
                detector="return_code",
            ),
        ),
        usage=Usage(
            input_uncached=int(context * 0.2),
            cache_read=int(context * 0.8),
            output=int(rng.lognormal(5.4, 0.6)),
        ),
        cost_usd=float(context * 4e-7 + rng.uniform(0.001, 0.004)),
        values={} if rng.random() < 0.02 else {"quality": round(quality, 3)},
    )


def _column(runs: list[Run], name: str, rng: np.random.Generator) -> NDArray[np.float64]:
    def value(turn: Turn) -> float:
        if name == "quality":
            return turn.values.get("quality", np.nan)
        if name == "tool_error_rate":
            return float(np.mean([bool(r.error) for r in turn.tool_results]))
        if name == "context_tokens":
            return float(turn.usage.context_tokens or 0) if turn.usage else np.nan
        if name == "output_tokens":
            return float(turn.usage.output or 0) if turn.usage else np.nan
        if name == "cost_usd":
            return turn.cost_usd if turn.cost_usd is not None else np.nan
        return float(rng.random() < min(0.8, turn.index / 90))

    return np.array([value(turn) for run in runs for turn in run.turns], dtype=float)


def table_of(runs: list[Run]) -> TurnTable:
    """The turn table of these runs, with the signals of `INFO`."""
    rng = np.random.default_rng(3)
    lengths = [len(run.turns) for run in runs]
    success = [np.nan if run.success is None else float(run.success) for run in runs]
    given = {"success": success, "n_turns": lengths, "trial": [run.trial or 1 for run in runs]}
    columns = {}
    for field in fields(RunTable):
        if field.name in given:
            kind = int if field.name in ("n_turns", "trial") else float
            columns[field.name] = np.array(given[field.name], dtype=kind)
        elif "float64" in str(field.type) or "Float" in str(field.type):
            columns[field.name] = np.full(len(runs), np.nan)
        else:
            objects = np.empty(len(runs), dtype=object)
            objects[:] = [getattr(run, field.name, None) for run in runs]
            columns[field.name] = objects
    columns["exit_type"] = np.array([str(run.exit_type.value) for run in runs], dtype=object)
    events = [(i, e.turn, e.kind) for i, run in enumerate(runs) for e in run.events]
    return TurnTable(
        runs=RunTable(**columns),
        run=np.repeat(np.arange(len(runs)), lengths),
        turn=np.array([turn.index for run in runs for turn in run.turns], dtype=int),
        columns={name: _column(runs, name, rng) for name in INFO},
        calls=CallTable(
            row=np.zeros(0, int),
            key=np.zeros(0, np.uint64),
            result_key=np.zeros(0, np.uint64),
            failed=np.zeros(0, np.int8),
            transient=np.zeros(0, bool),
        ),
        events=EventTable(
            run=np.array([e[0] for e in events], dtype=int),
            turn=np.array([e[1] for e in events], dtype=int),
            kind=np.array([e[2] for e in events], dtype=object),
        ),
        info=INFO,
    )
