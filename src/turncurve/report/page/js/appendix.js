/** What is missing, what went wrong in reading, what was read, and how it was computed. */

function missingSection() {
  const rows = (report.missing ?? [])
    .filter((/** @type {any} */ each) => each.n_missing)
    .map((/** @type {any} */ each) => [
      signalInfo(each.signal).title,
      count(each.n_missing),
      each.n_turns ? percent(each.n_missing / each.n_turns) : ABSENT,
      Object.entries(each.reasons ?? {})
        .map(([reason, n]) => `${reason} (${count(n)})`)
        .join("; "),
    ]);
  if (!rows.length) return null;
  return section(
    "missing",
    "Missing values",
    h(
      "p",
      { class: "lead" },
      "A missing value is left out of every mean; it is never counted as 0.",
    ),
    wideTable({
      caption: "Turns without a value",
      head: ["Signal", "Turns", "Share", "Why"],
      rows,
    }),
  );
}

function problemsSection() {
  const problems = report.problems ?? [];
  if (!problems.length) return null;
  const n = report.n_problems ?? problems.length;
  const listed =
    n > problems.length ? ", of which the first of each kind in each file are listed" : "";
  return section(
    "problems",
    "Problems in reading",
    wideTable({
      caption: `${plural(n, "problem")}${listed}; all other records were read`,
      head: ["File", "Record", "What was wrong", "What would work", "Kept"],
      rows: problems.map((/** @type {any} */ each) => [
        each.path,
        each.record ?? ABSENT,
        each.reason,
        each.fix ?? ABSENT,
        each.kept ? "yes" : "no",
      ]),
    }),
    n > problems.length ? problemCounts() : null,
  );
}

function problemCounts() {
  const files = report.problems_by_file ?? [];
  const rest = (report.n_files_with_problems ?? files.length) - files.length;
  return wideTable({
    caption: `Problems by file${rest > 0 ? `; ${plural(rest, "more file")} left out` : ""}`,
    head: ["File", "Problems", "Listed"],
    rows: files.map((/** @type {any} */ each) => [
      each.path,
      count(each.n_problems),
      count(each.n_listed),
    ]),
  });
}

function inputsSection() {
  const inputs = report.inputs ?? [];
  const unread = report.unread ?? [];
  if (!inputs.length && !unread.length) return null;
  const n = inputs.length + (leftOut.inputs ?? 0);
  const nUnread = unread.length + (leftOut.unread ?? 0);
  const table = wideTable({
    caption: cutCaption(plural(n, "input"), leftOut.inputs),
    head: ["Path", "Format", "Runs"],
    rows: inputs.map((/** @type {any} */ each) => [each.path, each.format, count(each.n_runs)]),
  });
  return section(
    "inputs",
    "Inputs",
    inputs.length > 12
      ? h("details", {}, h("summary", {}, plural(n, "input")), table)
      : inputs.length
        ? table
        : null,
    conditionTable(),
    unread.length
      ? h(
          "p",
          { class: "note" },
          `No reader knows ${plural(nUnread, "file")}: ${unread.slice(0, 20).join(", ")}${nUnread > 20 ? ", \u2026" : ""}.`,
        )
      : null,
  );
}

/** A caption that says how many rows are not on the page. @param {string} caption @param {any} n */
function cutCaption(caption, n) {
  return n ? `${caption}; ${plural(n, "row")} left out to keep the page small` : caption;
}

function conditionTable() {
  const conditions = (report.conditions ?? []).filter(
    (/** @type {any} */ each) => each.condition !== null,
  );
  if (!conditions.length) return null;
  return wideTable({
    caption: cutCaption("Conditions", leftOut.conditions),
    head: ["Condition", "Runs", "Trials"],
    rows: conditions.map((/** @type {any} */ each) => [
      each.condition,
      count(each.n_runs),
      count(each.n_trials),
    ]),
  });
}

function methodSection() {
  const settings = Object.entries(report.settings ?? {}).map(([name, value]) => [
    sentenceCase(words(name)),
    value === null ? "chosen from the data" : String(value),
  ]);
  const signals = Object.keys(report.signals ?? {}).map((name) => {
    const info = signalInfo(name);
    const scale = isNumber(info.low) || isNumber(info.high) ? range(info.low, info.high) : ABSENT;
    return [info.title, name, info.unit || ABSENT, scale, info.denominator || ABSENT];
  });
  return section(
    "method",
    "How it was computed",
    h(
      "p",
      {},
      "A turn is one model call with the tool calls and results that it caused; turns count from 1. A curve's value is the mean over runs: each run counts once in a bucket, however many of its turns lie there. " +
        `Bands are ${roundPercent(level)} intervals over runs, since turns of one run are no independent sample. A point with one run has none.`,
    ),
    wideTable({ caption: "Settings", head: ["Setting", "Value"], rows: settings }),
    wideTable({
      caption: "Signals",
      head: ["Signal", "Name", "Unit", "Scale", "Over"],
      rows: signals,
    }),
    h(
      "p",
      { class: "note" },
      `Made by turncurve ${report.turncurve_version ?? ""}; data of schema version ${report.schema_version ?? ABSENT}.`,
      details.has_text ? "" : " The text of the runs was left out of this page.",
      curvesLeftOut("curves", "Curves"),
      curvesLeftOut("by_turn", "Curves turn by turn"),
    ),
    runsOnPage(),
  );
}

/** Of how many runs the page has the values, and the text: known once the page has loaded whole. */
function runsOnPage() {
  const note = h("p", { class: "note" });
  const all = details.runs.length + details.n_omitted;
  const fill = () => {
    const texts = JSON.parse(byId("transcript-index").textContent).runs.length;
    const missing = details.n_omitted || (details.has_text && texts < all);
    if (!missing) return;
    const text = details.has_text ? `, and the text of ${count(texts)}` : "";
    const name = report.quality_signal?.name;
    const order = name ? `, those with the worst mean ${signalInfo(name).title.toLowerCase()}` : "";
    note.textContent = `To stay small this page has the values of ${count(details.runs.length)}${text} of ${plural(all, "run")} with a turn${order}. Every curve and number above is over all runs.`;
  };
  if (byId("transcript-index")) fill();
  else document.addEventListener("DOMContentLoaded", fill);
  return note;
}

/** Which curves the page does without, in a sentence. @param {string} kind @param {string} what */
function curvesLeftOut(kind, what) {
  const names = (leftOut[kind] ?? []).map((/** @type {string} */ name) => signalInfo(name).title);
  return names.length
    ? ` ${what} left out to keep the page small: ${names.join(", ")}; --json has them.`
    : "";
}
