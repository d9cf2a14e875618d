/** A figure of one signal along the run: what is drawn, where a reader can stand, what is said. */

const AXIS_LABELS = /** @type {Record<string, string>} */ ({
  turn: "turn \u2192",
  tokens: "context tokens sent so far \u2192",
  progress: "share of the run \u2192",
  event: "turns from the event \u2192",
});

/** Bands may reach past what can be: a score keeps to its scale. @param {string} name */
function scaleOf(name) {
  const quality = report.quality_signal ?? {};
  const info = signalInfo(name);
  const low = name === quality.name ? (quality.low ?? info.low) : info.low;
  const high = name === quality.name ? (quality.high ?? info.high) : info.high;
  return isNumber(low) && isNumber(high) && info.unit !== "share" ? [low, high] : undefined;
}

/** What the rows of a signal run along. @param {any[]} rows @param {string} name */
function axisOf(rows, name) {
  return rows.find((row) => row.signal === name)?.axis ?? "turn";
}

/** @param {string} axis */
function byAxis(axis) {
  return axis === "turn" ? "by turn" : "along the run";
}

/** @param {Point[][]} many */
function domainOf(...many) {
  const points = many.flat();
  return [
    Math.min(...points.map((point) => point.from)),
    Math.max(...points.map((point) => point.to)),
  ];
}

function eventMarks() {
  /** @type {Map<number, number>} */
  const turns = new Map();
  for (const event of report.events ?? []) {
    if (event.kind === "compaction")
      turns.set(event.turn, (turns.get(event.turn) ?? 0) + event.n_runs);
  }
  return [...turns].map(([turn, n_runs]) => ({ turn, n_runs }));
}

/**
 * A figure of one signal's curve.
 * @param {string} name
 * @param {any[]} rows
 * @param {object} options
 * @param {string} [options.title]
 * @param {Child | Child[]} [options.caption]
 * @param {number} [options.height]
 * @param {string} [options.hint]
 * @param {boolean} [options.compact]
 * @param {boolean} [options.byTurn] Draw the finer curve behind, and let every turn be opened.
 * @param {number[]} [options.domain]
 * @param {number[]} [options.yDomain]
 * @param {{y: number, label: string}[]} [options.levels]
 */
function curveFigure(name, rows, options) {
  const info = signalInfo(name);
  const points = pointsOf(rows, name);
  const axis = axisOf(rows, name);
  const turns = axis === "turn" && options.byTurn ? turnPoints(name) : [];
  const title = options.title ?? info.title;
  const known = backedTurns(turns);
  return figure({
    title,
    caption: options.caption,
    signal: axis === "turn" ? name : undefined,
    hint: options.hint,
    stops: turns.length
      ? turns.map((point) => turnStop(point, options.compact ? [] : points, info.unit))
      : points.map((point) => bucketStop(point, info.unit, axis)),
    table: curveTable(points, info.unit, axis),
    chart: () => ({
      points,
      faint: known.length > points.length ? known : undefined,
      strip: turns.length ? turns : stripOf(points),
      events: axis === "turn" && options.byTurn ? eventMarks() : [],
      levels: options.levels,
      unit: info.unit,
      axis,
      xLabel: AXIS_LABELS[axis] ?? axis,
      domain: options.domain ?? domainOf(points, turns),
      yDomain: options.yDomain ?? scaleOf(name),
      compact: options.compact,
      height: options.height ?? 300,
      alt: describe(points, title, info.unit, axis),
    }),
  });
}

/**
 * Turns with enough runs for their mean to be more than one run's noise; all, if no turn has them.
 * @param {Point[]} turns
 */
function backedTurns(turns) {
  const enough = Math.min(FEW_RUNS, Math.max(...turns.map((point) => point.n_runs), 0));
  return turns.filter((point) => isNumber(point.value) && point.n_runs >= enough);
}

/** Buckets as steps: each from its first turn to its end, with 0 runs between them. @param {Point[]} points */
function stripOf(points) {
  return points.flatMap((point, i) => {
    const next = points[i + 1];
    const start = { ...point, x: point.from };
    return next && next.from - point.to <= Math.max(1, 0.5 * (point.to - point.from))
      ? [start]
      : [start, { ...point, x: point.to, n_runs: next ? 0 : point.n_runs }];
  });
}

/** @param {Point} point @param {Point[]} buckets @param {string} unit @returns {Stop} */
function turnStop(point, buckets, unit) {
  const bucket = buckets.find(
    (each) => each.from <= point.from && point.from <= each.to && each.from < each.to,
  );
  const around = bucket ? `; ${place(bucket, "turn")}: ${inWords(bucket, unit)}` : "";
  return {
    x: point.x,
    turn: point.from,
    label: place(point, "turn"),
    text: `${inWords(point, unit)}${around}`,
  };
}

/** @param {Point} point @param {string} unit @param {string} axis @returns {Stop} */
function bucketStop(point, unit, axis) {
  const turn = axis === "turn" ? Math.round(point.x) : null;
  return { x: point.x, turn, label: place(point, axis), text: inWords(point, unit) };
}

/** How fine the grey line is, in words. @param {Point[]} turns */
function finely(turns) {
  const width = turns[0].to - turns[0].from + 1;
  return width > 1 ? `every ${plural(width, "turn")}` : "turn by turn";
}

/** What the marks mean. @param {Point[]} turns The turn-by-turn curve, if it is drawn. */
function chartKey(turns) {
  const byTurn = turns.length > 0;
  const enough = backedTurns(turns).every((point) => point.n_runs >= FEW_RUNS);
  const events = byTurn ? eventMarks() : [];
  const n = events.reduce((sum, event) => sum + event.n_runs, 0);
  const swatch = (/** @type {Child[]} */ ...shapes) =>
    s("svg", { viewBox: "0 0 30 15", "aria-hidden": "true" }, ...shapes);
  const dot = (/** @type {string} */ colour) =>
    s("circle", {
      cx: 15,
      cy: 7.5,
      r: 4,
      fill: colour,
      stroke: "var(--accent)",
      "stroke-width": 1.75,
    });
  return h(
    "ul",
    { class: "key" },
    h(
      "li",
      {},
      swatch(
        s("rect", { width: 30, height: 15, fill: "var(--band)" }),
        s("path", { d: "M0 7.5H30", stroke: "var(--accent)", "stroke-width": 2 }),
        dot("var(--accent)"),
      ),
      `mean over runs, with its ${roundPercent(level)} interval`,
    ),
    h("li", {}, swatch(dot("var(--paper)")), `fewer than ${FEW_RUNS} runs`),
    byTurn
      ? h(
          "li",
          {},
          swatch(
            s("path", { d: "M0 10L8 5L15 9L22 4L30 8", fill: "none", stroke: "var(--ghost)" }),
          ),
          `${finely(turns)}${enough ? `, where ${FEW_RUNS} runs or more are` : ""}`,
        )
      : null,
    h(
      "li",
      {},
      swatch(
        s("path", {
          d: "M0 3H10V7H20V11H30V15H0Z",
          fill: "var(--ghost)",
          "fill-opacity": 0.3,
          stroke: "var(--ghost)",
        }),
      ),
      "runs behind each turn",
    ),
    n
      ? h(
          "li",
          {},
          swatch(
            s("path", {
              d: "M8 15V5M15 15V1M22 15V8",
              stroke: "var(--event)",
              "stroke-width": 1.5,
            }),
          ),
          plural(n, "compaction"),
        )
      : null,
  );
}
