/** Which runs do worst on a signal at a turn. */

/**
 * @typedef {object} Ranked
 * @property {any} run
 * @property {number} value
 */

/** Position of a turn in a run's values; -1 if the run has no such turn. @param {any} run @param {number} turn */
function positionOf(run, turn) {
  if (run.turns) return run.turns.indexOf(turn);
  return turn <= run.n_turns ? turn - 1 : -1;
}

/**
 * The runs with a value at the turn, worst first; ties keep the order of the page, which is from
 * the worst run as a whole to the best. Where neither direction is good, the highest come first.
 * @param {string} signal
 * @param {number} turn
 * @returns {Promise<Ranked[] | null>} null if the page has no values of the signal.
 */
async function worstRuns(signal, turn) {
  const values = await valuesOf(signal);
  if (!values) return null;
  const sign = signalInfo(signal).better === "high" ? 1 : -1;
  return details.runs
    .map((run, i) => ({ run, value: values[i][positionOf(run, turn)] }))
    .filter((each) => isNumber(each.value))
    .sort((a, b) => sign * (a.value - b.value));
}

/** Turns that any listed run has: from 1 to the last. */
function lastTurn() {
  return Math.max(report.summary?.max_turns ?? 1, 1);
}

/** How a run ended, in words. @param {any} run */
function outcome(run) {
  const ended = run.exit_type && run.exit_type !== "unknown" ? words(run.exit_type) : null;
  const result =
    run.success === true ? "succeeded" : run.success === false ? "failed" : "outcome unknown";
  const known =
    ended === "success finish"
      ? "finished, succeeded"
      : ended === "fail finish"
        ? "finished, failed"
        : ended
          ? `${ended}, ${result}`
          : result;
  return `${known}; ${plural(run.n_turns, "turn")}`;
}

/** What tells the run from others beside its id. @param {any} run */
function aboutRun(run) {
  const parts = [
    run.scenario && !String(run.id).includes(run.scenario) ? run.scenario : null,
    isNumber(run.trial) && run.trial > 1 ? `trial ${run.trial}` : null,
    run.condition,
    run.model,
  ];
  return [...parts.filter(Boolean), outcome(run)].join(", ");
}
