/** The text of one run, a stretch of turns at a time, so that a run of 5,000 turns stays light. */

/** Turns shown before and after the one that was asked for. */
const AROUND = 8;

/**
 * Fills the reader with the turns around `turn` and scrolls there.
 * @param {HTMLElement} reader
 * @param {any} transcript
 * @param {number} turn
 * @param {boolean} focus Whether the turn's heading takes the focus.
 */
function showTranscript(reader, transcript, turn, focus) {
  const turns = transcript.turns;
  const found = turns.findIndex((/** @type {any} */ each) => each.turn >= turn);
  const at = found < 0 ? turns.length - 1 : found;
  let from = Math.max(0, at - AROUND);
  let to = Math.min(turns.length, at + AROUND + 1);
  const list = h("div", {});
  const earlier = h("button", {
    type: "button",
    onclick: () => {
      const next = Math.max(0, from - 2 * AROUND);
      const height = reader.scrollHeight;
      list.prepend(
        ...turns.slice(next, from).map((/** @type {any} */ each) => turnView(each, turn)),
      );
      from = next;
      refresh();
      reader.scrollTop += reader.scrollHeight - height;
    },
  });
  const later = h("button", {
    type: "button",
    onclick: () => {
      const next = Math.min(turns.length, to + 2 * AROUND);
      list.append(...turns.slice(to, next).map((/** @type {any} */ each) => turnView(each, turn)));
      to = next;
      refresh();
    },
  });
  function refresh() {
    earlier.hidden = from === 0;
    later.hidden = to === turns.length;
    earlier.textContent = `Earlier turns (${count(from)} more)`;
    later.textContent = `Later turns (${count(turns.length - to)} more)`;
  }
  refresh();
  list.append(...turns.slice(from, to).map((/** @type {any} */ each) => turnView(each, turn)));
  const capped = h("p", {}, `Every part is shown up to ${count(transcript.cap)} characters.`);
  reader.replaceChildren(readerHead(transcript.run), capped, earlier, list, later);
  const here = list.querySelector(".here");
  here?.scrollIntoView({ block: "start", behavior: "instant" });
  if (focus) here?.querySelector("h4")?.focus({ preventScroll: true });
}

/** The run's name, and on a narrow page the way back to the list above it. @param {string} run */
function readerHead(run) {
  const back = h(
    "button",
    { type: "button", class: "quiet narrow-only", onclick: backToList },
    "Back to the runs",
  );
  return h("div", { class: "reader-head" }, h("h3", {}, run), back);
}

function backToList() {
  const sheet = byId("sheet");
  const chosen =
    sheet.querySelector('[aria-pressed="true"]') ?? sheet.querySelector(".worst button");
  sheet.querySelector(".worst")?.scrollIntoView({ block: "start", behavior: "instant" });
  chosen?.focus({ preventScroll: true });
}

/** @param {any} each @param {number} here */
function turnView(each, here) {
  const values = Object.entries(each.values ?? {}).map(
    ([name, value]) => `${signalInfo(name).title} ${inUnit(value, signalInfo(name).unit)}`,
  );
  const calls = each.calls ?? [];
  const results = each.results ?? [];
  const ofCall = (/** @type {number} */ i) =>
    results.filter((/** @type {any[]} */ result) => result[2] === i).map(resultView);
  return h(
    "article",
    {
      class: each.turn === here ? "turn here" : "turn",
      "data-turn": each.turn,
      "aria-label": `Turn ${each.turn}`,
    },
    h(
      "h4",
      { tabindex: -1 },
      `Turn ${count(each.turn)}`,
      values.length ? h("span", {}, values.join(", ")) : null,
    ),
    (each.events ?? []).map((/** @type {string} */ kind) =>
      h("p", { class: "event-line" }, `${sentenceCase(words(kind))} before this turn`),
    ),
    (each.before ?? []).map((/** @type {any[]} */ [role, text]) =>
      partView(role === "system" ? "System" : "To the agent", text, ""),
    ),
    isEmpty(each.text) ? null : partView("Agent", each.text, "speech"),
    calls
      .map((/** @type {any[]} */ [name, text], /** @type {number} */ i) => [
        partView(`Calls ${name}`, text, ""),
        ...ofCall(i),
      ])
      .flat(),
    results.filter((/** @type {any[]} */ result) => result[2] === null).map(resultView),
  );
}

/** @param {any[]} result */
function resultView([text, error]) {
  return partView(
    error === true ? "Result, an error" : "Result",
    text,
    error === true ? "failed" : "",
  );
}

/** @param {any} text */
function isEmpty(text) {
  return text === undefined || text === "";
}

/**
 * One part of a turn; a part longer than the cap has a notice between its start and its end.
 * @param {string} who
 * @param {string | [string, number, string]} text
 * @param {string} kind
 */
function partView(who, text, kind) {
  const body = Array.isArray(text)
    ? h(
        "pre",
        {},
        text[0],
        h("span", { class: "left-out" }, `\n\u2026 ${plural(text[1], "more character")} \u2026\n`),
        text[2],
      )
    : h("pre", {}, text || "(empty)");
  return h("div", { class: `part ${kind}` }, h("p", { class: "who" }, who), body);
}
