/**
 * @typedef {object} Point One point of a curve.
 * @property {number} x Where it is drawn.
 * @property {number} from First turn (or token count, share, offset) that it covers.
 * @property {number} to Last one.
 * @property {number | null} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {number} n_runs
 * @property {number} n_turns
 * @property {boolean} partial
 */

/** A bucket with fewer runs is drawn hollow. */
const FEW_RUNS = 5;

/**
 * Rows of the report as points, in the order of the axis.
 * @param {any[] | undefined} rows
 * @param {string} signal
 * @returns {Point[]}
 */
function pointsOf(rows, signal) {
  return (rows ?? [])
    .filter((row) => row.signal === signal)
    .map((row) => ({
      x: (row.from + row.to) / 2,
      from: row.from,
      to: row.to,
      value: row.value,
      low: row.low,
      high: row.high,
      n_runs: row.n_runs,
      n_turns: row.n_turns,
      partial: Boolean(row.partial),
    }))
    .sort((a, b) => a.x - b.x);
}

/**
 * The curve of a signal turn by turn, or by few turns where runs are long.
 * @param {string} signal
 * @returns {Point[]}
 */
function turnPoints(signal) {
  const known = Object.hasOwn(report.by_turn ?? {}, signal) ? report.by_turn[signal] : null;
  if (!known) return [];
  const more = (known.every ?? 1) - 1;
  return known.turn.map((/** @type {number} */ turn, /** @type {number} */ i) => ({
    x: turn + more / 2,
    from: turn,
    to: turn + more,
    value: known.value[i],
    low: known.low?.[i] ?? null,
    high: known.high?.[i] ?? null,
    n_runs: known.n_runs[i],
    n_turns: known.n_turns?.[i] ?? 0,
    partial: false,
  }));
}

/**
 * Fewer points for drawing: of each pixel column the first, lowest, highest and last, so that no
 * peak is lost. What is drawn changes, the data do not.
 * @param {Point[]} points
 * @param {number} columns
 */
function thin(points, columns) {
  const known = points.filter((point) => isNumber(point.value));
  if (known.length <= 2 * columns) return known;
  const first = known[0].x;
  const width = (known[known.length - 1].x - first) / columns;
  /** @type {Map<number, Point[]>} */
  const bins = new Map();
  for (const point of known) {
    const bin = Math.min(columns - 1, Math.floor((point.x - first) / width));
    bins.get(bin)?.push(point) ?? bins.set(bin, [point]);
  }
  return [...bins.values()].flatMap((bin) => {
    const byValue = [...bin].sort((a, b) => Number(a.value) - Number(b.value));
    const kept = new Set([bin[0], byValue[0], byValue[byValue.length - 1], bin[bin.length - 1]]);
    return bin.filter((point) => kept.has(point));
  });
}

/** Turns without a value that a turn-by-turn line still bridges. */
const SHORT_GAP = 5;

/**
 * The points with a hole where nothing is known over more than `gap`, so that no line bridges it.
 * @param {Point[]} points
 * @param {number} gap
 */
function withGaps(points, gap) {
  return points.flatMap((point, i) => {
    const before = points[i - 1];
    return before && point.from - before.to > gap
      ? [{ ...before, value: NaN, low: NaN, high: NaN }, point]
      : [point];
  });
}

/**
 * The points where a step of the number of runs begins, for the n strip.
 * @param {Point[]} points
 */
function steps(points) {
  return points.filter(
    (point, i) => i === 0 || i === points.length - 1 || point.n_runs !== points[i - 1].n_runs,
  );
}

/** @param {Point} point @param {string} axis */
function place(point, axis) {
  if (axis === "turn") {
    return point.from === point.to
      ? `turn ${count(point.from)}`
      : `turns ${count(point.from)}${DASH}${count(point.to)}`;
  }
  if (axis === "tokens") {
    const width = point.to - point.from;
    return `${tokensApart(point.from, width)} to ${tokensApart(point.to, width)} tokens`;
  }
  if (axis === "progress") return `${percent(point.from)} to ${percent(point.to)} of the run`;
  return point.from === point.to
    ? `offset ${short(point.from)}`
    : `offset ${short(point.from)} to ${short(point.to)}`;
}

/** A point in words: value, interval, n. @param {Point} point @param {string} unit */
function inWords(point, unit) {
  if (!isNumber(point.value)) return "no value";
  const interval = range(point.low, point.high, unit);
  const bounds = interval ? ` (${interval})` : " (no interval)";
  return `${inUnit(point.value, unit)}${bounds}, ${plural(point.n_runs, "run")}`;
}

/**
 * What a curve shows, in one or two sentences: the text alternative of its chart.
 * @param {Point[]} points
 * @param {string} title
 * @param {string} unit
 * @param {string} axis
 */
function describe(points, title, unit, axis) {
  const known = points.filter((point) => isNumber(point.value));
  if (!known.length) return `${title}: no values.`;
  const first = known[0];
  const last = known[known.length - 1];
  const sorted = [...known].sort((a, b) => Number(a.value) - Number(b.value));
  const low = sorted[0];
  const high = sorted[sorted.length - 1];
  return (
    `${title}: ${inWords(first, unit)} at ${place(first, axis)}; ${inWords(last, unit)} at ${place(last, axis)}. ` +
    `Lowest ${inUnit(low.value, unit)} at ${place(low, axis)}, highest ${inUnit(high.value, unit)} at ${place(high, axis)}.`
  );
}
