/** The sheet that opens at a turn: its worst runs on the left, what they said on the right. */

/** Runs listed before the reader asks for more. */
const LISTED = 20;

/** A button in running text that opens a turn. @param {string} signal @param {number} turn @param {string} [run] */
function turnLink(signal, turn, run) {
  return h(
    "button",
    { type: "button", class: "quiet", onclick: () => openSheet(signal, turn, run) },
    count(turn),
  );
}

/** The run that the sheet shows, kept while the reader steps from turn to turn. @type {string | null} */
let reading = null;

/**
 * Opens the sheet at a turn. On a wide page the worst run is shown at once.
 * @param {string} signal
 * @param {number} turn
 * @param {string | null} [run] The run to read.
 * @param {string} [focus] Label of the button that keeps the focus; the title has it otherwise.
 */
async function openSheet(signal, turn, run = null, focus = "") {
  const sheet = byId("sheet");
  const list = h("div", { class: "worst" });
  const reader = h("div", {
    class: "reader",
    tabindex: 0,
    role: "region",
    "aria-label": "Transcript",
  });
  sheet.replaceChildren(
    h(
      "div",
      { class: "sheet" },
      sheetHead(signal, turn),
      h("div", { class: "sheet-body" }, list, reader),
    ),
  );
  if (!sheet.open) sheet.showModal();
  const kept = [...sheet.querySelectorAll("button")].find(
    (button) => button.textContent === focus && !button.disabled,
  );
  (kept ?? sheet.querySelector("h2")).focus();
  reading = run;
  reader.append(
    h(
      "p",
      {},
      details.has_text
        ? "Choose a run to read it at this turn."
        : "The text of the runs was left out of this page (--no-text).",
    ),
  );
  const ranked = await worstRuns(signal, turn);
  if (!list.isConnected) return;
  listRuns(list, reader, ranked, signal, turn);
  const wide = matchMedia("(min-width: 46rem)").matches;
  const chosen = run ?? (wide ? ranked?.[0]?.run.id : null);
  if (chosen && details.has_text) await readRun(reader, chosen, turn, false);
}

/** @param {string} signal @param {number} turn */
function sheetHead(signal, turn) {
  const info = signalInfo(signal);
  const point = turnPoints(signal).find((each) => each.from <= turn && turn <= each.to);
  const over = point && point.from < point.to ? `, mean over ${place(point, "turn")}` : "";
  const step = (/** @type {number} */ to, /** @type {string} */ label) =>
    h(
      "button",
      {
        type: "button",
        disabled: to < 1 || to > lastTurn(),
        onclick: () => openSheet(signal, to, reading, label),
      },
      label,
    );
  return h(
    "header",
    { class: "sheet-head" },
    h("h2", { id: "sheet-title", tabindex: -1 }, `Turn ${count(turn)}`),
    h("p", {}, `${info.title}${over}: ${point ? inWords(point, info.unit) : "no value"}`),
    h(
      "div",
      { class: "buttons" },
      step(turn - 1, "Turn before"),
      step(turn + 1, "Turn after"),
      h("button", { type: "button", onclick: () => byId("sheet").close() }, "Back to the chart"),
    ),
  );
}

/**
 * @param {HTMLElement} list
 * @param {HTMLElement} reader
 * @param {Ranked[] | null} ranked
 * @param {string} signal
 * @param {number} turn
 */
function listRuns(list, reader, ranked, signal, turn) {
  const info = signalInfo(signal);
  const order = info.better === null ? "highest first" : "worst first";
  list.append(h("h3", {}, `Runs at this turn, ${order}`));
  if (!ranked)
    return list.append(h("p", {}, "This page carries no values by run for this signal."));
  if (!ranked.length) return list.append(h("p", {}, "No run has a value at this turn."));
  const items = h("ol", {});
  const more = h("button", { type: "button" });
  let shown = 0;
  const runs = ranked;
  function showMore() {
    items.append(
      ...runs
        .slice(shown, shown + LISTED)
        .map((each) => h("li", {}, runButton(each, reader, info.unit, turn))),
    );
    shown = Math.min(runs.length, shown + LISTED);
    more.hidden = shown === runs.length;
    more.textContent = `Show more (${count(runs.length - shown)})`;
  }
  more.addEventListener("click", showMore);
  showMore();
  list.append(items, more);
  if (details.n_omitted)
    list.append(
      h(
        "p",
        {},
        `${plural(details.n_omitted, "run")} with better means are left out to keep the page small.`,
      ),
    );
}

/** @param {Ranked} each @param {HTMLElement} reader @param {string} unit @param {number} turn */
function runButton(each, reader, unit, turn) {
  return h(
    "button",
    {
      type: "button",
      "aria-pressed": "false",
      "data-run": each.run.id,
      onclick: () => readRun(reader, each.run.id, turn, true),
    },
    h("span", { class: "name" }, each.run.id),
    h("span", { class: "value" }, inUnit(each.value, unit)),
    h("span", { class: "about" }, aboutRun(each.run)),
  );
}

/**
 * @param {HTMLElement} reader
 * @param {string} run
 * @param {number} turn
 * @param {boolean} focus Whether the turn's heading takes the focus.
 */
async function readRun(reader, run, turn, focus) {
  reading = run;
  for (const button of byId("sheet").querySelectorAll("[data-run]")) {
    button.setAttribute("aria-pressed", String(button.dataset.run === run));
  }
  if (!details.has_text) return;
  const transcript = await transcriptOf(run);
  if (reading !== run || !reader.isConnected) return;
  if (transcript?.turns.length) {
    showTranscript(reader, transcript, turn, focus);
    return;
  }
  const loading = document.readyState === "loading";
  reader.replaceChildren(
    readerHead(run),
    h(
      "p",
      {},
      loading
        ? "The page is still loading; try again in a moment."
        : "The text of this run was left out to keep the page small.",
    ),
  );
}
