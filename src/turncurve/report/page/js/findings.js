/** The drop, context, cost, completion, success by length, trends: one short section each. */

function dropSection() {
  const drop = report.drop;
  if (!drop) return null;
  const rows = (drop.facts ?? []).map((/** @type {[string, string]} */ [label, said]) => [
    h("dt", {}, sentenceCase(label)),
    h("dd", {}, sentenceCase(said)),
  ]);
  return section(
    "drop",
    "Is the drop real?",
    h("p", { class: rows.length ? "" : "absent" }, drop.sentence),
    rows.length ? h("dl", { class: "said" }, ...rows.flat()) : null,
  );
}

function contextSection() {
  const context = report.context;
  if (!context) return null;
  if (!isNumber(context.start_tokens) && context.why)
    return section(
      "context",
      "Context growth",
      h("p", { class: "absent" }, sentenceCase(context.why), "."),
    );
  const rows = (context.crossings ?? []).map((/** @type {any} */ each) => [
    `${tokens(each.tokens)} tokens`,
    isNumber(each.turn) ? `${count(each.turn)}` : ABSENT,
    range(each.low, each.high, "turn"),
    each.kind ?? "",
    `${count(each.n_crossed)} of ${count(each.n_runs)}`,
  ]);
  return section(
    "context",
    "Context growth",
    h(
      "p",
      {},
      `The context of the middle run grows from ${inUnit(context.start_tokens, "tokens")} to ${inUnit(context.end_tokens, "tokens")} tokens. ` +
        `The largest of any turn is ${inUnit(context.max_tokens, "tokens")}.`,
    ),
    h(
      "div",
      { class: "columns" },
      estimateTable("Growth in tokens a turn, median over runs", [
        isNumber(context.tokens_per_turn)
          ? [
              "Last size less the first, by the turns between",
              inUnit(context.tokens_per_turn, "tokens"),
              "",
              count(context.n_runs_measured),
              "",
            ]
          : null,
        estimateRow("Slope of a line through a run's turns", context.slope, "tokens"),
      ]),
      rows.length
        ? wideTable({
            caption: "When the context reaches a size",
            head: ["Size", "Turn", "Interval", "How known", "Runs seen to"],
            rows,
          })
        : null,
    ),
    spikeNote(context),
  );
}

/** @param {any} context */
function spikeNote(context) {
  const spikes = context.spikes ?? [];
  if (!context.n_spikes) return null;
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      `${plural(context.n_spikes, "turn")} added far more context than its run's turns usually do; the largest`,
    ),
    dataTable({
      head: ["Run", "Turn", "Tokens added"],
      rows: spikes.map((/** @type {any} */ spike) => [
        spike.run,
        turnLink("context_tokens", spike.turn, spike.run),
        count(spike.tokens_added),
      ]),
    }),
  );
}

function costSection() {
  const cost = report.cost;
  if (!cost) return null;
  if (!isNumber(cost.total_usd))
    return cost.why
      ? section("cost", "Cost", h("p", { class: "absent" }, sentenceCase(cost.why), "."))
      : null;
  const sources = /** @type {Record<string, string>} */ ({
    trace: "as the traces say",
    estimated: "estimated from kept prices",
    mixed: "partly as the traces say, partly estimated from kept prices",
  });
  const late = cost.late_turn ?? cost.late_to_turn_5?.late_turn;
  const partial = cost.n_runs_partial
    ? ` In ${plural(cost.n_runs_partial, "run")} some turns have no figure, so their cost is a lower bound.`
    : "";
  return section(
    "cost",
    "Cost",
    h(
      "p",
      {},
      `${dollars(cost.total_usd)} in all, ${sources[cost.source] ?? words(cost.source ?? "")}.${partial}`,
    ),
    estimateTable("Cost in US dollars", [
      estimateRow("A run", cost.per_run, "usd"),
      estimateRow("A successful run", cost.per_success, "usd", "all cost over all successes"),
      estimateRow(
        isNumber(late) ? `Turn ${count(late)} over turn 5` : "A late turn over turn 5",
        cost.late_to_turn_5,
        "ratio",
      ),
    ]),
  );
}

function completionSection() {
  const { completion, compactions } = report;
  const bins = (report.success_by_length ?? []).filter((/** @type {any} */ bin) => bin.n_runs);
  const quantiles = Array.isArray(completion?.turns)
    ? completion.turns
    : (completion?.turns?.quantiles ?? completion?.quantiles ?? []);
  const share = columnFormat(
    bins.map((/** @type {any} */ bin) => bin.value),
    "share",
  );
  return section(
    "completion",
    "Completion",
    completion && isNumber(completion.n_finished) ? h("p", {}, completionWords(completion)) : null,
    h(
      "div",
      { class: "columns" },
      quantiles.length
        ? wideTable({
            caption: "Turns to completion",
            head: ["Share of runs finished", "By turn", "Interval"],
            rows: quantiles.map((/** @type {any} */ q) => [
              roundPercent(q.p),
              isNumber(q.turn) ? count(q.turn) : "not reached",
              range(q.low, q.high, "turn"),
            ]),
          })
        : null,
      bins.length
        ? wideTable({
            caption: "Success by length of the run",
            head: ["Turns", "Succeeded", "Share", `${roundPercent(level)} interval`],
            rows: bins.map((/** @type {any} */ bin) => [
              `${count(bin.from)}${DASH}${count(bin.to)}`,
              `${count(bin.n_succeeded)} of ${count(bin.n_runs)}`,
              share(bin.value),
              range(bin.low, bin.high, "share"),
            ]),
          })
        : null,
    ),
    bins.length > 1
      ? h(
          "p",
          { class: "note" },
          "Hard tasks make long runs: that long runs succeed less often does not say that length is the cause.",
        )
      : null,
    exitTable(),
    compactionNote(compactions),
  );
}

/** @param {any} completion */
function completionWords(completion) {
  const { n_finished: finished, n_censored: censored, n_unknown: unknown } = completion;
  const rest = censored
    ? `; ${count(censored)} did not, as far as is known, and ${censored === 1 ? "counts" : "count"} for as long as ${censored === 1 ? "it" : "they"} lasted`
    : "";
  return (
    `${plural(finished, "run")} finished${rest}.` +
    (unknown
      ? ` Of ${plural(unknown, "run")} the files do not say how ${unknown === 1 ? "it" : "they"} ended.`
      : "")
  );
}

function exitTable() {
  const types = Object.entries(report.summary?.exit_types ?? {}).filter(([, n]) => n);
  const texts = Object.entries(report.summary?.exits ?? {});
  if (!types.length) return null;
  return h(
    "div",
    { class: "columns" },
    wideTable({
      caption: "How runs ended, by kind",
      head: ["Exit", "Runs"],
      rows: types.map(([type, n]) => [sentenceCase(words(type)), count(n)]),
    }),
    texts.length
      ? wideTable({
          caption: cutCaption("In the traces' own words", leftOut.exits),
          head: ["Text", "Runs"],
          rows: texts.map(([text, n]) => [text, count(n)]),
        })
      : null,
  );
}

/** @param {any} compactions */
function compactionNote(compactions) {
  if (!compactions || !compactions.n_compactions) return null;
  const share = compactions.share?.value;
  const interval = range(compactions.share?.low, compactions.share?.high, "share");
  return h(
    "p",
    {},
    `${plural(compactions.n_compactions, "compaction")}` +
      (isNumber(share)
        ? `; ${percent(share)}${interval ? ` (${interval})` : ""} of ${plural(compactions.n_runs_known, "run")} had one or more.`
        : "."),
  );
}

function trendSection() {
  const trends = report.trends ?? [];
  const chance = columnFormat(trends.map((/** @type {any} */ each) => each.expected_by_chance));
  const rows = trends.map((/** @type {any} */ each) => [
    signalInfo(each.signal).title,
    inUnit(each.slope?.value, signalInfo(each.signal).unit),
    range(each.slope?.low, each.slope?.high, signalInfo(each.signal).unit),
    `${count(each.n_alarmed)} of ${count(each.n_runs)}`,
    isNumber(each.expected_by_chance)
      ? chance(each.expected_by_chance)
      : inUnit(each.false_alarm, "share"),
  ]);
  const again = report.regrounding;
  return section(
    "trends",
    "Trends within a run",
    rows.length
      ? h(
          "p",
          { class: "lead" },
          "Each run against its own first turns: the change a turn, and in how many runs a running sum of the differences raised an alarm.",
        )
      : null,
    rows.length
      ? wideTable({
          caption: "Trends by signal",
          head: [
            "Signal",
            "Change a turn",
            `${roundPercent(level)} interval`,
            "Runs alarmed",
            "Expected by chance",
          ],
          rows,
        })
      : null,
    repetitionTable(),
    again ? h("p", {}, regroundingWords(again)) : null,
    report.coverage?.sentence ? h("p", {}, report.coverage.sentence) : null,
  );
}

/** @param {any} again */
function regroundingWords(again) {
  const title = signalInfo(again.signal).title;
  const name =
    again.signal === "adherence" ? title : `No rule was checked. ${title}, taken in its place,`;
  if (isNumber(again.turn))
    return `${name} stays above ${short(again.target)} up to turn ${count(again.turn)}: ground the agent again by then.`;
  return `No re-grounding interval: ${again.why ?? "it is not known"}.`;
}

function repetitionTable() {
  const repetition = report.repetition ?? {};
  if (typeof repetition.rate !== "object" || !repetition.rate) return null;
  if (repetition.why) return h("p", { class: "absent" }, `Repeated actions: ${repetition.why}.`);
  return estimateTable("Repeated actions", [
    estimateRow(
      "Seen before in the run",
      repetition.rate,
      "share",
      "grows by itself with a run's length",
    ),
    estimateRow("Seen among the 10 before", repetition.window_rate, "share"),
    estimateRow("The same as the one just before", repetition.consecutive_rate, "share"),
    estimateRow("Seen before with the same result", repetition.result_rate, "share"),
  ]);
}
