/**
 * @typedef {object} ChartSpec
 * @property {Point[]} points What is drawn as the curve, with its band.
 * @property {Point[]} [faint] A finer curve behind it.
 * @property {Point[]} strip Points whose `n_runs` make the n strip.
 * @property {{turn: number, n_runs: number}[]} [events]
 * @property {{y: number, label: string}[]} [levels] Horizontal lines.
 * @property {string} unit
 * @property {string} axis
 * @property {string} xLabel
 * @property {number[]} domain Of x.
 * @property {number[]} [yDomain]
 * @property {boolean} [stepped] Draw a survival curve: level until the next point.
 * @property {boolean} [compact]
 * @property {number} height
 * @property {string} alt
 */

const Plot = /** @type {any} */ (globalThis).Plot;
const MARGIN = { left: 54, right: 14 };

/**
 * The curve above its n strip, both on one x scale.
 * @param {ChartSpec} spec
 * @param {number} width
 * @returns {{node: HTMLElement, x: {apply: (x: number) => number, invert: (px: number) => number}, width: number}}
 */
function drawChart(spec, width) {
  const curve = Plot.plot({
    width,
    height: spec.height,
    marginLeft: MARGIN.left,
    marginRight: MARGIN.right,
    marginTop: 12,
    marginBottom: 6,
    x: { domain: spec.domain, axis: null },
    y: { domain: spec.yDomain ?? valueDomain(spec) },
    marks: curveMarks(spec, width),
    style: { background: "none", color: "var(--soft)", fontSize: "12px" },
    ariaLabel: spec.alt,
  });
  curve.setAttribute("role", "img");
  const node = h("div", {}, curve, drawStrip(spec, width));
  return { node, x: curve.scale("x"), width };
}

/** @param {ChartSpec} spec @param {number} width */
function curveMarks(spec, width) {
  const [low, high] = spec.yDomain ?? valueDomain(spec);
  const known = spec.points.filter((point) => isNumber(point.value));
  const curve = spec.stepped ? "step-after" : "linear";
  const format = (/** @type {number} */ y) => trimmed(inUnit(y, spec.unit));
  const columns = Math.max(60, Math.floor((width - MARGIN.left - MARGIN.right) / 1.5));
  const drawn = known.length > 2 * columns ? thin(known, columns) : known;
  const line = spec.stepped
    ? drawn
    : withGaps(drawn, 0.5 * Math.max(...drawn.map((point) => point.to - point.from), SHORT_GAP));
  const most = Math.max(1, ...(spec.events ?? []).map((event) => event.n_runs));
  return [
    Plot.gridY({ ticks: spec.compact ? 3 : 5, stroke: "var(--hair)", strokeOpacity: 1 }),
    Plot.axisY({
      ticks: spec.compact ? 3 : 5,
      tickSize: 0,
      tickFormat: format,
      label: null,
      fill: "var(--soft)",
    }),
    spec.axis === "event" ? Plot.ruleX([0], { stroke: "var(--event)", strokeOpacity: 0.6 }) : null,
    (spec.levels ?? []).map((line) => levelMarks(line, spec.domain)),
    spec.faint &&
      Plot.lineY(withGaps(thin(spec.faint, columns), SHORT_GAP), {
        x: "x",
        y: "value",
        stroke: "var(--ghost)",
        strokeWidth: 1,
        strokeOpacity: 0.55,
        clip: true,
      }),
    Plot.areaY(line, {
      x: "x",
      y1: (/** @type {Point} */ d) => bound(d.low, low, high),
      y2: (/** @type {Point} */ d) => bound(d.high, low, high),
      fill: "var(--band)",
      curve,
    }),
    Plot.ruleX(alone(known), {
      x: "x",
      y1: (/** @type {Point} */ d) => bound(d.low, low, high),
      y2: (/** @type {Point} */ d) => bound(d.high, low, high),
      stroke: "var(--accent)",
      strokeOpacity: 0.5,
    }),
    Plot.lineY(line, {
      x: "x",
      y: "value",
      stroke: "var(--accent)",
      strokeWidth: spec.compact ? 1.5 : 2,
      curve,
    }),
    dots(spec, known, columns),
    Plot.ruleX(spec.events ?? [], {
      x: "turn",
      y1: low,
      y2: (/** @type {any} */ d) => low + (high - low) * (0.025 + (0.055 * d.n_runs) / most),
      stroke: "var(--event)",
      strokeWidth: 1.25,
    }),
  ];
}

/** @param {ChartSpec} spec @param {Point[]} known @param {number} columns */
function dots(spec, known, columns) {
  if (spec.stepped || known.length > columns / 10) return null;
  const few = (/** @type {Point} */ d) => d.n_runs < FEW_RUNS;
  return Plot.dot(known, {
    x: "x",
    y: "value",
    r: spec.compact ? 2.5 : 4,
    stroke: "var(--accent)",
    strokeWidth: 1.75,
    fill: (/** @type {Point} */ d) => (few(d) ? "var(--paper)" : "var(--accent)"),
  });
}

/** @param {{y: number, label: string}} line @param {number[]} domain */
function levelMarks(line, domain) {
  return [
    Plot.ruleY([line.y], { stroke: "var(--soft)", strokeDasharray: "2 3" }),
    Plot.text([line], {
      x: domain[1],
      y: "y",
      text: "label",
      textAnchor: "end",
      dy: -7,
      fill: "var(--soft)",
    }),
  ];
}

/** Points whose interval no neighbour's joins, so that a band would not show it. @param {Point[]} known */
function alone(known) {
  const banded = (/** @type {Point | undefined} */ point) =>
    point !== undefined && isNumber(point.low) && isNumber(point.high);
  return known.filter(
    (point, i) => banded(point) && !banded(known[i - 1]) && !banded(known[i + 1]),
  );
}

/** @param {ChartSpec} spec @param {number} width */
function drawStrip(spec, width) {
  const strip = steps(spec.strip);
  const most = Math.max(1, ...strip.map((point) => point.n_runs));
  const svg = Plot.plot({
    width,
    height: spec.compact ? 56 : 78,
    marginLeft: MARGIN.left,
    marginRight: MARGIN.right,
    marginTop: 8,
    marginBottom: spec.compact ? 22 : 38,
    x: { domain: spec.domain },
    y: { domain: [0, most] },
    marks: [
      Plot.areaY(strip, {
        x: "x",
        y: "n_runs",
        fill: "var(--ghost)",
        fillOpacity: 0.3,
        curve: "step-after",
      }),
      Plot.lineY(strip, {
        x: "x",
        y: "n_runs",
        stroke: "var(--ghost)",
        strokeWidth: 1,
        curve: "step-after",
      }),
      Plot.axisY([most], {
        tickSize: 0,
        label: null,
        fill: "var(--soft)",
        tickFormat: (/** @type {number} */ n) => `${n < 10_000 ? count(n) : tokens(n)} ${n === 1 ? "run" : "runs"}`,
        fontSize: 11,
      }),
      Plot.axisX({
        ticks: Math.max(4, Math.floor(width / 80)),
        tickSize: 4,
        label: null,
        stroke: "var(--ghost)",
        fill: "var(--soft)",
        tickFormat: (/** @type {number} */ x) => axisTick(x, spec.axis),
      }),
      Plot.ruleY([0], { stroke: "var(--ghost)" }),
      spec.compact
        ? null
        : Plot.text([spec.xLabel], {
            frameAnchor: "bottom-right",
            dy: 36,
            fill: "var(--soft)",
            lineAnchor: "bottom",
            text: (/** @type {string} */ label) => label,
          }),
    ],
    style: { background: "none", color: "var(--soft)", fontSize: "12px", overflow: "visible" },
  });
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

/** @param {number} x @param {string} axis */
function axisTick(x, axis) {
  if (axis === "tokens") return trimmed(tokens(x));
  return axis === "progress" ? roundPercent(x) : short(x);
}

/** @param {number | null} value @param {number} low @param {number} high */
function bound(value, low, high) {
  return isNumber(value) ? Math.min(high, Math.max(low, value)) : NaN;
}

/** Units of what cannot be below 0. */
const NEVER_NEGATIVE = new Set(["share", "tokens", "usd", "seconds", "count"]);

/**
 * The y domain: from 0 to just above the highest value. The band of every bucket with enough runs
 * lies in it whole; one of a few runs may reach out, so that it does not flatten the curve.
 * @param {ChartSpec} spec
 */
function valueDomain(spec) {
  const known = spec.points.filter((point) => isNumber(point.value));
  const backed = known.filter((point) => point.n_runs >= FEW_RUNS);
  const ends = (/** @type {Point[]} */ points) =>
    points.flatMap((point) => [point.value, point.low, point.high]).filter(isNumber);
  const values = known.map((point) => Number(point.value));
  const held = ends(backed.length ? backed : known);
  const top = Math.max(...values, 0);
  const high = Math.max(...held, top, Math.min(Math.max(...ends(known), 0), top * 1.6));
  const low = NEVER_NEGATIVE.has(spec.unit)
    ? Math.min(...values, 0)
    : Math.min(...values, ...held, 0);
  if (spec.unit === "share") return [0, Math.min(1, Math.max(0.05, high * 1.08))];
  return [low * 1.05, high > 0 ? high * 1.08 : low < 0 ? 0 : 1];
}
