/** The head of the page: what was read, and the few numbers to know first. */

function fillMasthead() {
  const summary = report.summary ?? {};
  const bits = [plural(summary.n_runs, "run"), plural(summary.n_turns, "turn")];
  if (isNumber(summary.n_scenarios) && summary.n_scenarios > 0)
    bits.push(plural(summary.n_scenarios, "scenario"));
  const why = String(report.quality_signal?.why ?? "the files hold no quality signal");
  byId("basis").append(`${bits.join(", ")}. ${why.charAt(0).toUpperCase()}${why.slice(1)}.`);
  byId("figures").append(...summaryFigures(summary).filter(Boolean));
}

/** @param {any} summary */
function summaryFigures(summary) {
  const known = (summary.n_succeeded ?? 0) + (summary.n_failed ?? 0);
  const results = summary.n_tool_results;
  return [
    figureOf(
      "Longest run",
      count(summary.max_turns),
      `median ${short(summary.median_turns ?? NaN)} turns`,
      "turns",
    ),
    known
      ? figureOf(
          "Succeeded",
          count(summary.n_succeeded),
          `of ${plural(known, "run")} with a known outcome`,
        )
      : null,
    firstBadFigure(),
    isNumber(summary.error_rate)
      ? figureOf("Failing turns", percent(summary.error_rate), missingGrades(summary))
      : null,
    isNumber(summary.n_tool_errors)
      ? figureOf(
          "Tool errors",
          count(summary.n_tool_errors),
          results ? `of ${plural(results, "tool result")}` : "",
        )
      : null,
    isNumber(summary.max_context_tokens)
      ? figureOf("Largest context", tokens(summary.max_context_tokens), compactionsAside(summary))
      : null,
    isNumber(summary.cost_usd)
      ? figureOf("Cost", dollars(summary.cost_usd), tokensAside(summary))
      : isNumber(summary.input_tokens)
        ? figureOf("Tokens in", tokens(summary.input_tokens), outputAside(summary))
        : null,
  ];
}

/** @param {string} label @param {string} number @param {string} aside */
function figureOf(label, number, aside, unit = "") {
  return h(
    "div",
    {},
    h("dt", {}, label),
    h(
      "dd",
      {},
      h("span", { class: "number" }, number, unit ? ` ${unit}` : ""),
      aside ? h("span", { class: "aside" }, aside) : null,
    ),
  );
}

function firstBadFigure() {
  const first = report.time_to_first_error;
  if (!first || first.rule !== "rolling_quality") return null;
  const of = `${plural(first.n_events, "alarm")} in ${plural(first.n_runs, "run")}`;
  return figureOf(
    "First bad turn",
    isNumber(report.first_bad_turn) ? count(report.first_bad_turn) : "none",
    of,
  );
}

/** @param {any} summary */
function missingGrades(summary) {
  return summary.n_missing_grades
    ? `of graded turns; ${plural(summary.n_missing_grades, "grade")} missing`
    : "of graded turns";
}

/** @param {any} summary */
function compactionsAside(summary) {
  return isNumber(summary.n_compactions)
    ? `tokens; ${plural(summary.n_compactions, "compaction")}`
    : "tokens";
}

/** @param {any} summary */
function tokensAside(summary) {
  const cached =
    isNumber(summary.cached_input_tokens) && summary.input_tokens
      ? ` (${percent(summary.cached_input_tokens / summary.input_tokens)} cached)`
      : "";
  const known = isNumber(summary.input_tokens);
  const input = known ? `${tokens(summary.input_tokens)} tokens in${cached}` : "";
  return [input, outputAside(summary)].filter(Boolean).join(", ");
}

/** @param {any} summary */
function outputAside(summary) {
  return isNumber(summary.output_tokens) ? `${tokens(summary.output_tokens)} out` : "";
}

/** Links to the sections that the page has. @param {HTMLElement[]} sections */
function fillContents(sections) {
  byId("contents").append(
    ...sections.flatMap((part) => [
      h("a", { href: `#${part.id}` }, part.querySelector("h2")?.textContent ?? ""),
      " ",
    ]),
  );
}
