/** Curves along the run: quality, the same runs throughout, and every other signal. */

const TURN_HINT =
  "Point at a turn, or use the arrow keys; click or press Enter to read the worst runs there.";

function qualitySection() {
  const name = report.quality_signal?.name ?? curveSignals()[0];
  const rows = report.curves ?? [];
  if (!name || !pointsOf(rows, name).length) {
    return section(
      "quality",
      "Quality by turn",
      h("p", { class: "absent" }, "There is no turn with a value to draw a curve of."),
    );
  }
  const info = signalInfo(name);
  const better =
    info.better === "low"
      ? "Lower is better. "
      : info.better === "high"
        ? "Higher is better. "
        : "";
  const threshold = report.settings?.threshold;
  const levels =
    isNumber(threshold) && name === report.quality_signal?.name
      ? [{ y: threshold, label: `threshold ${trimmed(short(threshold))}` }]
      : [];
  const drawn = curveFigure(name, rows, {
    byTurn: true,
    height: 380,
    levels,
    hint: axisOf(rows, name) === "turn" ? TURN_HINT : "Point at the curve, or use the arrow keys.",
    title: `${info.title}, all runs still going`,
    caption: `${better}Each point is the mean over the runs that reach it, so later points rest on fewer runs.`,
  });
  drawn.classList.add("hero");
  return section(
    "quality",
    `${report.quality_signal?.name ? "Quality" : info.title} ${byAxis(axisOf(rows, name))}`,
    drawn,
    chartKey(axisOf(rows, name) === "turn" ? turnPoints(name) : []),
    byTurnFigure(name, rows),
  );
}

/** The turn-by-turn curve, where the main one runs along another axis. @param {string} name @param {any[]} rows */
function byTurnFigure(name, rows) {
  const axis = axisOf(rows, name);
  const turns = turnPoints(name).map((point) => ({ ...point, signal: name, axis: "turn" }));
  if (axis === "turn" || !turns.length) return null;
  return curveFigure(name, turns, {
    byTurn: true,
    height: 240,
    hint: TURN_HINT,
    title: `${signalInfo(name).title} by turn`,
  });
}

function panelSection() {
  const name = report.quality_signal?.name ?? curveSignals()[0];
  const balanced = (report.panels ?? []).filter(
    (/** @type {any} */ row) => (row.panel ?? "balanced") === "balanced" && row.signal === name,
  );
  const simple = pointsOf(report.curves, name);
  if (!balanced.length || !simple.length) return null;
  const points = pointsOf(balanced, name);
  const domain = domainOf(simple, points);
  const yDomain = scaleOf(name) ?? sharedDomain([...simple, ...points], signalInfo(name).unit);
  const min = balanced[0].min_turns;
  const n = Math.max(...points.map((point) => point.n_runs));
  return section(
    "panels",
    "Is it the runs, or who is left?",
    h(
      "p",
      { class: "lead" },
      "A curve over all runs can move only because short runs have left. The right one follows the same runs throughout; where the two agree, the change is in the runs.",
    ),
    h(
      "div",
      { class: "pair" },
      curveFigure(name, report.curves, {
        title: "All runs still going",
        domain,
        yDomain,
        height: 220,
        caption: `${plural(Math.max(...simple.map((point) => point.n_runs)), "run")} at most, ${count(simple[simple.length - 1].n_runs)} at the end.`,
      }),
      curveFigure(name, balanced, {
        title: `The same ${plural(n, "run")} throughout`,
        domain,
        yDomain,
        height: 220,
        caption: reachWords(min, axisOf(balanced, name)),
      }),
    ),
  );
}

/** How long the runs of the balanced panel are. @param {any} least @param {string} axis */
function reachWords(least, axis) {
  if (!isNumber(least)) return null;
  if (axis === "tokens") return `Runs that sent at least ${tokens(least)} tokens.`;
  return axis === "turn" ? `Runs of at least ${plural(least, "turn")}.` : null;
}

/** @param {Point[]} points @param {string} unit */
function sharedDomain(points, unit) {
  return valueDomain(/** @type {any} */ ({ points, unit }));
}

function segmentSection() {
  const name = report.quality_signal?.name;
  const rows = (report.segments ?? []).filter(
    (/** @type {any} */ row) => row.signal === name && isNumber(row.value),
  );
  const names = [...new Set(rows.map((/** @type {any} */ row) => row.segment))];
  if (names.length < 2) return null;
  const titles = /** @type {Record<string, string>} */ ({
    with_compaction: "After a compaction",
    without_compaction: "Before any compaction",
  });
  const points = pointsOf(rows, name);
  const domain = domainOf(points);
  const yDomain = scaleOf(name) ?? sharedDomain(points, signalInfo(name).unit);
  return section(
    "segments",
    "Before and after a compaction",
    h(
      "div",
      { class: "pair" },
      names
        .sort()
        .reverse()
        .map((segment) =>
          curveFigure(
            name,
            rows.filter((/** @type {any} */ row) => row.segment === segment),
            {
              title: titles[String(segment)] ?? sentenceCase(words(String(segment))),
              domain,
              yDomain,
              height: 180,
            },
          ),
        ),
    ),
  );
}

function signalsSection() {
  const names = curveSignals()
    .slice(report.quality_signal?.name && curveSignals()[0] === report.quality_signal.name ? 1 : 0)
    .filter((name) => report.quality_signal?.name || name !== curveSignals()[0]);
  if (!names.length) return null;
  return section(
    "signals",
    `Other signals ${byAxis(axisOf(report.curves, names[0]))}`,
    h(
      "div",
      { class: "multiples" },
      names.map((name) =>
        curveFigure(name, report.curves, {
          byTurn: true,
          compact: true,
          height: 130,
          caption: captionOf(name),
        }),
      ),
    ),
  );
}

/** @param {string} name */
function captionOf(name) {
  const info = signalInfo(name);
  const unit =
    info.unit === "share" && info.denominator
      ? `share of ${info.denominator}`
      : info.unit === "usd"
        ? "US dollars"
        : info.unit;
  return [unit, info.better ? `${info.better === "low" ? "lower" : "higher"} is better` : ""]
    .filter(Boolean)
    .join("; ");
}
