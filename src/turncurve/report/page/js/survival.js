/** Time to the first error: when runs first go wrong, with the runs that ended before they did. */

const RULES = /** @type {Record<string, string>} */ ({
  rolling_quality: "Rolling quality falls below the threshold",
  low_quality: "First turn of low quality",
  failing_grade: "First failing grade",
  schema_violation: "First schema violation",
  rule_breach: "First rule breach",
  tool_error: "First tool error",
});

/** @param {string} rule */
function ruleTitle(rule) {
  return Object.hasOwn(RULES, rule) ? RULES[rule] : sentenceCase(words(rule));
}

/** Times by rule; the one in the report's own place first. */
function firstErrors() {
  const main = report.time_to_first_error;
  const rest = (report.time_to_first ?? []).filter(
    (/** @type {any} */ each) => each.rule !== main?.rule,
  );
  return main ? [main, ...rest] : rest;
}

function survivalSection() {
  const all = firstErrors();
  if (!all.length) return null;
  const drawn = all.filter(
    (/** @type {any} */ each) => each.survival?.turn?.length && each.n_events,
  );
  const holder = h("div", {});
  const show = (/** @type {any} */ each) => {
    holder.replaceChildren(survivalFigure(each));
    if (holder.isConnected) while (drawNext());
  };
  if (drawn.length) show(drawn[0]);
  return section(
    "first-error",
    "Time to the first error",
    h(
      "p",
      { class: "lead" },
      "The share of runs in which nothing has gone wrong yet. A run that ends before anything does is counted for as long as it lasted.",
    ),
    drawn.length > 1 ? rulePicker(drawn, show) : null,
    drawn.length
      ? holder
      : h(
          "p",
          { class: "absent" },
          "By no rule did any run go wrong, so there is no curve to draw.",
        ),
    quantileTable(all),
    all.map(falseAlarmNote),
  );
}

/** @param {any[]} all @param {(each: any) => void} show */
function rulePicker(all, show) {
  const select = h(
    "select",
    { onchange: () => show(all[select.selectedIndex]) },
    all.map((each) => h("option", {}, ruleTitle(each.rule))),
  );
  return h("label", { class: "pick" }, "What counts as wrong", select);
}

/** @param {any} each */
function survivalFigure(each) {
  const { turn, survival, low, high, n_at_risk: atRisk } = each.survival;
  /** @type {Point[]} */
  const points = turn.map((/** @type {number} */ x, /** @type {number} */ i) => ({
    x,
    from: x,
    to: x,
    value: survival[i],
    low: low?.[i] ?? null,
    high: high?.[i] ?? null,
    n_runs: atRisk?.[i] ?? 0,
    n_turns: 0,
    partial: false,
  }));
  if (points[0].x > 0)
    points.unshift({
      x: 0,
      from: 0,
      to: 0,
      value: 1,
      low: 1,
      high: 1,
      n_runs: each.n_runs,
      n_turns: 0,
      partial: false,
    });
  const end = Math.max(points[points.length - 1].x, report.summary?.max_turns ?? 0);
  const title = ruleTitle(each.rule);
  const written = columnFormat(
    points.flatMap((point) => [point.value, point.low, point.high]),
    "share",
  );
  return figure({
    title,
    caption: `${plural(each.n_events, "run")} of ${count(each.n_runs)} went wrong; ${count(each.n_censored)} ended first.${ruleDetail(each)}`,
    stops: points.slice(1).map((point) => ({
      x: point.x,
      turn: null,
      label: `by turn ${count(point.x)}`,
      text: `${percent(Number(point.value))} of runs without an error (${range(point.low, point.high, "share")}), ${plural(point.n_runs, "run")} at risk`,
    })),
    table: {
      head: ["Turn", "Without an error", "Low", "High", "At risk"],
      rows: points
        .slice(1)
        .map((p) => [
          count(p.x),
          written(p.value),
          written(p.low),
          written(p.high),
          count(p.n_runs),
        ]),
    },
    chart: () => ({
      points: toTheEnd(points, end),
      strip: toTheEnd(points, end),
      unit: "share",
      axis: "turn",
      xLabel: AXIS_LABELS.turn,
      domain: [0, end],
      yDomain: [0, 1],
      stepped: true,
      height: 280,
      alt: `${title}: ${count(each.n_events)} events in ${plural(each.n_runs, "run")}; ${quantileWords(each)}`,
    }),
  });
}

/** The last step drawn on to the longest run. @param {Point[]} points @param {number} end */
function toTheEnd(points, end) {
  const last = points[points.length - 1];
  return last.x < end ? [...points, { ...last, x: end, from: end, to: end }] : points;
}

/** @param {any} each */
function ruleDetail(each) {
  if (each.rule !== "rolling_quality") return "";
  return ` Mean of ${count(each.window)} graded turns against ${isNumber(each.threshold) ? trimmed(short(each.threshold)) : "the threshold"}.`;
}

/** @param {any} each */
function quantileWords(each) {
  const median = (each.quantiles ?? []).find((/** @type {any} */ q) => q.p === 0.5);
  return isNumber(median?.turn)
    ? `half of the runs have gone wrong by turn ${count(median.turn)}.`
    : "fewer than half of the runs go wrong.";
}

/** @param {any[]} all */
function quantileTable(all) {
  const shares = [
    ...new Set(all.flatMap((each) => (each.quantiles ?? []).map((/** @type {any} */ q) => q.p))),
  ].sort((a, b) => a - b);
  const cell = (/** @type {any} */ q) =>
    !q
      ? ABSENT
      : isNumber(q.turn)
        ? h(
            "span",
            {},
            count(q.turn),
            h("span", { class: "range" }, ` (${range(q.low, q.high, "turn")})`),
          )
        : h("span", { class: "absent" }, "not reached");
  return wideTable({
    caption: "Turn by which this share of the runs has gone wrong, with its interval",
    head: [
      "What counts as wrong",
      ...shares.map(roundPercent),
      "Runs",
      "Wrong",
      "Ended first",
      "Left out",
    ],
    rows: all.map((each) => [
      ruleTitle(each.rule),
      ...shares.map((p) => cell((each.quantiles ?? []).find((/** @type {any} */ q) => q.p === p))),
      count(each.n_runs),
      count(each.n_events),
      count(each.n_censored),
      excludedWords(each.n_excluded),
    ]),
  });
}

/** @param {Record<string, number> | undefined} excluded */
function excludedWords(excluded) {
  const parts = Object.entries(excluded ?? {})
    .filter(([, n]) => n > 0)
    .map(([reason, n]) => `${count(n)}: ${reason}`);
  return parts.join("; ") || "0";
}

/** @param {any} each */
function falseAlarmNote(each) {
  const alarm = each.false_alarm;
  if (!alarm || !isNumber(alarm.value)) return null;
  const interval = range(alarm.low, alarm.high, "share");
  const why = each.rule === "rolling_quality" && each.why ? ` ${sentenceCase(each.why)}.` : "";
  return h(
    "p",
    { class: "note" },
    `On a flat curve with this noise the rule \u201c${ruleTitle(each.rule).toLowerCase()}\u201d would fire in ` +
      `${percent(alarm.value)} of runs${interval ? ` (${interval})` : ""}. ${interval ? "The interval is of the simulation's error alone. " : ""}Read its alarms against that.${why}`,
  );
}
