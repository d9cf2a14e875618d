/** Curves along the run: quality, the same runs throughout, and every other signal. */

const AXIS_LABELS = /** @type {Record<string, string>} */ ({
  turn: "turn \u2192", tokens: "context tokens sent so far \u2192", progress: "share of the run \u2192", event: "turns from the event \u2192",
});

/** Bands may reach past what can be: a score keeps to its scale. @param {string} name */
function scaleOf(name) {
  const quality = report.quality_signal ?? {};
  const info = signalInfo(name);
  const low = name === quality.name ? quality.low ?? info.low : info.low;
  const high = name === quality.name ? quality.high ?? info.high : info.high;
  return isNumber(low) && isNumber(high) && info.unit !== "share" ? [low, high] : undefined;
}

/** @param {Point[][]} many */
function domainOf(...many) {
  const points = many.flat();
  return [Math.min(...points.map((point) => point.from)), Math.max(...points.map((point) => point.to))];
}

function eventMarks() {
  /** @type {Map<number, number>} */
  const turns = new Map();
  for (const event of report.events ?? []) {
    if (event.kind === "compaction") turns.set(event.turn, (turns.get(event.turn) ?? 0) + event.n_runs);
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
  const axis = rows.find((row) => row.signal === name)?.axis ?? "turn";
  const turns = axis === "turn" && options.byTurn ? turnPoints(name) : [];
  const title = options.title ?? info.title;
  const known = turns.filter((point) => isNumber(point.value));
  return figure({
    title,
    caption: options.caption,
    signal: axis === "turn" ? name : undefined,
    hint: options.hint,
    stops: turns.length ? turns.map((point) => turnStop(point, options.compact ? [] : points, info.unit)) : points.map((point) => bucketStop(point, info.unit, axis)),
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

/** Buckets as steps: each from its first turn, the last one to its end. @param {Point[]} points */
function stripOf(points) {
  const last = points[points.length - 1];
  return [...points.map((point) => ({ ...point, x: point.from })), { ...last, x: last.to }];
}

/** @param {Point} point @param {Point[]} buckets @param {string} unit @returns {Stop} */
function turnStop(point, buckets, unit) {
  const bucket = buckets.find((each) => each.from <= point.x && point.x <= each.to && each.from < each.to);
  const around = bucket ? `; ${place(bucket, "turn")}: ${inWords(bucket, unit)}` : "";
  return { x: point.x, turn: point.x, label: place(point, "turn"), text: `${inWords(point, unit)}${around}` };
}

/** @param {Point} point @param {string} unit @param {string} axis @returns {Stop} */
function bucketStop(point, unit, axis) {
  const turn = axis === "turn" ? Math.round(point.x) : null;
  return { x: point.x, turn, label: place(point, axis), text: inWords(point, unit) };
}

/** What the marks mean. @param {boolean} byTurn */
function chartKey(byTurn) {
  const events = byTurn ? eventMarks() : [];
  const n = events.reduce((sum, event) => sum + event.n_runs, 0);
  const swatch = (/** @type {Child[]} */ ...shapes) => s("svg", { viewBox: "0 0 30 15", "aria-hidden": "true" }, ...shapes);
  const dot = (/** @type {string} */ colour) => s("circle", { cx: 15, cy: 7.5, r: 4, fill: colour, stroke: "var(--accent)", "stroke-width": 1.75 });
  return h("ul", { class: "key" },
    h("li", {}, swatch(s("rect", { width: 30, height: 15, fill: "var(--band)" }), s("path", { d: "M0 7.5H30", stroke: "var(--accent)", "stroke-width": 2 }), dot("var(--accent)")),
      `mean over runs, with its ${percent(level)} interval`),
    h("li", {}, swatch(dot("var(--paper)")), `fewer than ${FEW_RUNS} runs`),
    byTurn ? h("li", {}, swatch(s("path", { d: "M0 10L8 5L15 9L22 4L30 8", fill: "none", stroke: "var(--ghost)" })), "turn by turn") : null,
    h("li", {}, swatch(s("path", { d: "M0 3H10V7H20V11H30V15H0Z", fill: "var(--ghost)", "fill-opacity": 0.3, stroke: "var(--ghost)" })), "runs behind each turn"),
    n ? h("li", {}, swatch(s("path", { d: "M8 15V5M15 15V1M22 15V8", stroke: "var(--event)", "stroke-width": 1.5 })), plural(n, "compaction")) : null);
}

function qualitySection() {
  const name = report.quality_signal?.name ?? curveSignals()[0];
  const rows = report.curves ?? [];
  if (!name || !pointsOf(rows, name).length) {
    return section("quality", "Quality by turn", h("p", { class: "absent" }, "There is no turn with a value to draw a curve of."));
  }
  const info = signalInfo(name);
  const better = info.better === "low" ? "Lower is better. " : info.better === "high" ? "Higher is better. " : "";
  const threshold = report.settings?.threshold;
  const levels = isNumber(threshold) && name === report.quality_signal?.name ? [{ y: threshold, label: `threshold ${trimmed(short(threshold))}` }] : [];
  const drawn = curveFigure(name, rows, { byTurn: true, height: 380, levels, hint: "Point at a turn, or use the arrow keys; click or press Enter to read the worst runs there.", title: `${info.title}, all runs still going`,
    caption: `${better}Each point is the mean over the runs that reach it, so later points rest on fewer runs.` });
  drawn.classList.add("hero");
  return section("quality", report.quality_signal?.name ? "Quality by turn" : `${info.title} by turn`, drawn, chartKey(true), byTurnFigure(name, rows));
}

/** The turn-by-turn curve, where the main one runs along another axis. @param {string} name @param {any[]} rows */
function byTurnFigure(name, rows) {
  const axis = rows.find((row) => row.signal === name)?.axis ?? "turn";
  const turns = turnPoints(name).map((point) => ({ ...point, signal: name, axis: "turn" }));
  if (axis === "turn" || !turns.length) return null;
  return curveFigure(name, turns, { byTurn: true, height: 240, title: `${signalInfo(name).title} by turn` });
}

function panelSection() {
  const name = report.quality_signal?.name ?? curveSignals()[0];
  const balanced = (report.panels ?? []).filter((/** @type {any} */ row) => (row.panel ?? "balanced") === "balanced" && row.signal === name);
  const simple = pointsOf(report.curves, name);
  if (!balanced.length || !simple.length) return null;
  const points = pointsOf(balanced, name);
  const domain = domainOf(simple, points);
  const yDomain = scaleOf(name) ?? sharedDomain([...simple, ...points], signalInfo(name).unit);
  const min = balanced[0].min_turns;
  const n = Math.max(...points.map((point) => point.n_runs));
  return section("panels", "Is it the runs, or who is left?",
    h("p", { class: "lead" }, "A curve over all runs can move only because short runs have left. The right one follows the same runs throughout; where the two agree, the change is in the runs."),
    h("div", { class: "pair" },
      curveFigure(name, report.curves, { title: "All runs still going", domain, yDomain, height: 220,
        caption: `From ${plural(simple[0].n_runs, "run")} down to ${count(simple[simple.length - 1].n_runs)}.` }),
      curveFigure(name, balanced, { title: `The same ${plural(n, "run")} throughout`, domain, yDomain, height: 220,
        caption: isNumber(min) ? `Runs of at least ${plural(min, "turn")}.` : null })),
    segmentFigures(name, domain, yDomain));
}

/** @param {Point[]} points @param {string} unit */
function sharedDomain(points, unit) {
  return valueDomain(/** @type {any} */ ({ points, unit }));
}

/** @param {string} name @param {number[]} domain @param {number[]} yDomain */
function segmentFigures(name, domain, yDomain) {
  const rows = (report.segments ?? []).filter((/** @type {any} */ row) => row.signal === name && isNumber(row.value));
  const names = [...new Set(rows.map((/** @type {any} */ row) => row.segment))];
  if (names.length < 2) return null;
  const titles = /** @type {Record<string, string>} */ ({ with_compaction: "After a compaction", without_compaction: "Before any compaction" });
  return h("div", { class: "pair" }, names.reverse().map((segment) =>
    curveFigure(name, rows.filter((/** @type {any} */ row) => row.segment === segment),
      { title: titles[/** @type {string} */ (segment)] ?? words(String(segment)), domain, yDomain, height: 180 })));
}

function signalsSection() {
  const names = curveSignals().slice(report.quality_signal?.name && curveSignals()[0] === report.quality_signal.name ? 1 : 0)
    .filter((name) => report.quality_signal?.name || name !== curveSignals()[0]);
  if (!names.length) return null;
  return section("signals", "Other signals by turn",
    h("div", { class: "multiples" }, names.map((name) => curveFigure(name, report.curves,
      { byTurn: true, compact: true, height: 130, caption: captionOf(name) }))));
}

/** @param {string} name */
function captionOf(name) {
  const info = signalInfo(name);
  const unit = info.unit === "share" && info.denominator ? `share of ${info.denominator}` : info.unit === "usd" ? "US dollars" : info.unit;
  return [unit, info.better ? `${info.better === "low" ? "lower" : "higher"} is better` : ""].filter(Boolean).join("; ");
}
