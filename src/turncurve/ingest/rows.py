"""Runs to rows of a turn table as their files name them, and what is settled over all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from turncurve.errors import InvariantError, ReadError, RuleError
from turncurve.ingest.build import TableBuilder
from turncurve.ingest.checks import no_rules, no_schema, rule_check, schema_check
from turncurve.ingest.identity import Identities, check_words
from turncurve.ingest.measure import Addition, Measure
from turncurve.ingest.options import Problems, ReadOptions
from turncurve.ingest.plain import table_of_plain
from turncurve.ingest.prices import Prices, no_prices
from turncurve.model import Run
from turncurve.signals import compute_derived
from turncurve.table import RunTable, SignalInfo, TurnTable
from turncurve.table.concat import concat
from turncurve.table.plain import PlainRuns


class Rows:
    """Collects runs into a turn table with every observed signal.

    Args:
        options: Rules, schema and prices that fill columns.
        problems: Told of each run that does not fit into a table, and of each signal that fails.

    Raises:
        RuleError: The rule or schema file does not say what it should.
        BrokenPluginError: An installed signal plugin does not load.
    """

    def __init__(self, options: ReadOptions, problems: Problems) -> None:
        self._problems = problems
        self._measure = Measure(problems.report, _additions(options))
        self._builder = TableBuilder(self._measure)
        self._done: list[TurnTable] = []
        self._takes_plain = options.rules is None and options.output_schema is None

    @property
    def takes_plain(self) -> bool:
        """Whether runs may come as columns: rules and schemas need their text."""
        return self._takes_plain

    @property
    def n_runs(self) -> int:
        """Runs collected so far."""
        return self._builder.n_runs + sum(table.n_runs for table in self._done)

    @property
    def n_turns(self) -> int:
        """Rows collected so far."""
        return self._builder.n_turns + sum(len(table.turn) for table in self._done)

    def add(self, run: Run) -> None:
        """Add a run; one that does not fit into a table is a problem, and the others go on."""
        try:
            check_words(run)
            self._builder.add(run)
        except Exception as problem:
            if problem is self._problems.stop or isinstance(problem, RuleError):
                raise
            reason = f"run {run.id!r} does not fit into a table: {problem!r}"
            if isinstance(problem, InvariantError):
                reason = str(problem)
            self._problems.report(ReadError(run.path, reason, record=run.record))

    def add_plain(self, plain: PlainRuns) -> bool:
        """Add runs that are columns already; False, and nothing added, where that can't be done."""
        sample = TableBuilder(self._measure)
        sample.add(plain.sample)
        table = table_of_plain(plain, sample.table())
        if table is None:
            return False
        self._close()
        self._done.append(table)
        return True

    def table(self) -> TurnTable:
        """The rows collected so far, with the ids that their files give; then none are left."""
        self._close()
        done, self._done = self._done, []
        return concat(done) if done else self._builder.table()

    def _close(self) -> None:
        """Keep what the builder holds, in its place among what came as columns."""
        if self._builder.n_runs:
            self._done.append(self._builder.table())
            self._builder = TableBuilder(self._measure)


def settled(table: TurnTable, identities: Identities) -> TurnTable:
    """The table with what only all runs together can tell, and every derived signal.

    Ids, trials and conditions are settled, and `quality` gets the scale that all its runs state.
    """
    runs = identities.place_rows(table.runs)
    quality = table.info.get("quality")
    info = {} if quality is None else {"quality": _scaled(quality, runs)}
    return compute_derived(replace(table, runs=runs, info={**table.info, **info}))


def _additions(options: ReadOptions) -> Sequence[Addition]:
    return [
        rule_check(options.rules) if options.rules else no_rules,
        schema_check(options.output_schema) if options.output_schema else no_schema,
        Prices() if options.prices else no_prices,
    ]


def _scaled(info: SignalInfo, runs: RunTable) -> SignalInfo:
    """The quality signal with its scale, where all runs that state one agree on it."""
    scales = {
        (low, high)
        for low, high in zip(runs.quality_low.tolist(), runs.quality_high.tolist(), strict=True)
        if not (math.isnan(low) or math.isnan(high))
    }
    if len(scales) != 1:
        return info
    low, high = scales.pop()
    return replace(info, low=low, high=high)
