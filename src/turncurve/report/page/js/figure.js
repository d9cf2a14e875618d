/**
 * @typedef {object} FigureSpec
 * @property {string} title
 * @property {Child | Child[]} [caption]
 * @property {string} [signal] The signal whose worst runs a click shows; none if left out.
 * @property {() => ChartSpec} chart
 * @property {Stop[]} stops
 * @property {{head: string[], rows: any[][]}} table
 * @property {"h3" | "h4"} [heading]
 */

/** @type {(() => void)[]} */
const pending = [];

/**
 * A chart with its title, its readout and its numbers as a table.
 *
 * It is drawn at the width that it has, and drawn again when that changes.
 * @param {FigureSpec} spec
 * @returns {HTMLElement}
 */
function figure(spec) {
  const plot = h("div", { class: "plot" });
  const readout = h("output", { class: "readout", "aria-live": "polite" });
  const holder = h("div", {});
  /** @type {any} */
  let chart = null;
  plot.append(holder);

  function draw() {
    const width = Math.floor(plot.clientWidth);
    if (!width || chart?.width === width) return;
    chart = drawChart(spec.chart(), width);
    holder.replaceChildren(chart.node);
  }

  const signal = spec.signal;
  const opens = signal !== undefined && spec.stops.some((stop) => stop.turn !== null);
  if (spec.stops.length) {
    walkable({ plot, readout, stops: spec.stops, title: spec.title, chart: () => chart,
      open: opens ? (turn) => openSheet(/** @type {string} */ (signal), turn) : null });
  }
  if (!opens) plot.classList.add("still");
  new ResizeObserver(() => chart && draw()).observe(plot);
  pending.push(draw);
  return h("figure", {},
    h("figcaption", {}, h(spec.heading ?? "h3", {}, spec.title), spec.caption ?? null),
    plot, readout, tableToggle(spec));
}

/** Draws the next figure that waits; false when none is left. */
function drawNext() {
  pending.shift()?.();
  return pending.length > 0;
}

/** @param {FigureSpec} spec */
function tableToggle(spec) {
  const body = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${spec.title}, numbers` });
  return h("details", { ontoggle: (/** @type {Event} */ event) => {
    const open = /** @type {HTMLDetailsElement} */ (event.currentTarget).open;
    if (open && !body.firstChild) body.append(dataTable(spec.table));
  } }, h("summary", {}, "Numbers", h("span", { class: "visually-hidden" }, ` of ${spec.title}`)), body);
}
