/**
 * @typedef {object} FigureSpec
 * @property {string} title
 * @property {Child | Child[]} [caption]
 * @property {string} [signal] The signal whose worst runs a click shows; none if left out.
 * @property {() => ChartSpec} chart
 * @property {Stop[]} stops
 * @property {{head: string[], rows: any[][]}} table
 * @property {string} [hint] What the readout says while nobody stands on the curve.
 */

/** @type {(() => void)[]} */
const pending = [];
/** How to draw each figure for the screen and for paper. @type {{screen: () => void, paper: () => void}[]} */
const figures = [];
/** Pixels across an A4 page between its margins, and across half of it. */
const PRINTED = { whole: 672, half: 324 };

/**
 * A chart with its title, its readout and its numbers as a table.
 *
 * It is drawn at the width that it has, and drawn again when that changes.
 * @param {FigureSpec} spec
 * @returns {HTMLElement}
 */
function figure(spec) {
  const holder = h("div", {});
  const walker = h("div", { class: "walker" });
  const plot = h("div", { class: "plot" }, holder, walker);
  const readout = h("output", { class: "readout", "aria-live": "polite" });
  /** @type {any} */
  let chart = null;

  function draw(width = Math.floor(plot.clientWidth), flatten = 1) {
    if (!width || chart?.width === width) return;
    const asked = spec.chart();
    chart = drawChart({ ...asked, height: Math.round(asked.height * flatten) }, width);
    holder.replaceChildren(chart.node);
  }

  const signal = spec.signal;
  const opens = signal !== undefined && spec.stops.some((stop) => stop.turn !== null);
  if (spec.stops.length) {
    walkable({
      walker,
      readout,
      stops: spec.stops,
      title: spec.title,
      hint: spec.hint ?? "",
      chart: () => chart,
      open: opens ? (turn) => openSheet(/** @type {string} */ (signal), turn) : null,
    });
  }
  if (!opens) plot.classList.add("still");
  new ResizeObserver(() => chart && draw()).observe(plot);
  pending.push(draw);
  figures.push({
    screen: () => draw(),
    paper: () => draw(plot.closest(".pair, .multiples") ? PRINTED.half : PRINTED.whole, 0.72),
  });
  const { button, numbers } = tableToggle(spec);
  return h(
    "figure",
    {},
    h("figcaption", {}, h("h3", {}, spec.title), spec.caption ?? null),
    plot,
    h("div", { class: "under" }, readout, button),
    numbers,
  );
}

/** Draws the next figure that waits; false when none is left. */
function drawNext() {
  pending.shift()?.();
  return pending.length > 0;
}

/** Draws every figure for paper, so that its letters keep their size. */
function drawForPaper() {
  while (drawNext());
  for (const each of figures) each.paper();
}

function drawForScreen() {
  for (const each of figures) each.screen();
}

/** @param {FigureSpec} spec */
function tableToggle(spec) {
  const numbers = h("div", {
    class: "scroll numbers",
    hidden: true,
    tabindex: 0,
    role: "region",
    "aria-label": `${spec.title}, numbers`,
  });
  const button = h(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-expanded": "false",
      onclick: () => {
        if (!numbers.firstChild) numbers.append(dataTable(spec.table));
        numbers.hidden = !numbers.hidden;
        button.setAttribute("aria-expanded", String(!numbers.hidden));
      },
    },
    "Numbers",
    h("span", { class: "visually-hidden" }, ` of ${spec.title}`),
  );
  return { button, numbers };
}
