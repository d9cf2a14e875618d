/**
 * @typedef {object} Stop One place on the x axis that a reader can stand on.
 * @property {number} x
 * @property {number | null} turn The turn to open; null where the axis isn't turns.
 * @property {string} label
 * @property {string} text
 */

/**
 * Lets a reader walk along a chart by mouse, touch or keyboard; Enter or a click opens the turn.
 *
 * The chart is a slider: its value is the turn, arrow keys move it by one, Page keys by ten.
 * @param {object} options
 * @param {HTMLElement} options.walker
 * @param {HTMLElement} options.readout
 * @param {Stop[]} options.stops In rising order of x.
 * @param {string} options.title
 * @param {string} options.hint
 * @param {() => any} options.chart The chart as it is drawn now.
 * @param {((turn: number) => void) | null} options.open
 */
function walkable({ walker, readout, stops, title, hint, chart, open }) {
  const line = h("div", { class: "cursor" });
  let at = -1;

  /** @param {number} next */
  function stand(next) {
    at = Math.max(0, Math.min(stops.length - 1, next));
    const { x, width } = chart();
    line.style.left = `${(100 * x.apply(stops[at].x)) / width}%`;
    line.classList.add("shown");
    walker.setAttribute("aria-valuenow", String(at + 1));
    walker.setAttribute("aria-valuetext", stops[at].label);
    readout.replaceChildren(h("strong", {}, sentenceCase(stops[at].label)), ` ${stops[at].text}`);
  }

  function leave() {
    line.classList.remove("shown");
    readout.replaceChildren(h("span", { class: "hint" }, hint));
  }

  /** @param {MouseEvent} event */
  function stopUnder(event) {
    const box = walker.getBoundingClientRect();
    const { x, width } = chart();
    return nearest(stops, x.invert(((event.clientX - box.left) * width) / box.width));
  }

  function openHere() {
    const turn = stops[at]?.turn;
    if (open && isNumber(turn)) open(turn);
  }

  const moves = /** @type {Record<string, (at: number) => number>} */ ({
    ArrowRight: (i) => i + 1,
    ArrowUp: (i) => i + 1,
    ArrowLeft: (i) => i - 1,
    ArrowDown: (i) => i - 1,
    PageUp: (i) => i + 10,
    PageDown: (i) => i - 10,
    Home: () => 0,
    End: () => stops.length - 1,
  });

  fill(
    walker,
    {
      role: "slider",
      tabindex: 0,
      "aria-label": `${title}, position along the runs`,
      "aria-valuemin": 1,
      "aria-valuemax": stops.length,
      "aria-valuenow": 1,
      "aria-valuetext": stops[0].label,
      onpointermove: (/** @type {PointerEvent} */ event) => stand(stopUnder(event)),
      onpointerleave: () => document.activeElement !== walker && leave(),
      onclick: (/** @type {MouseEvent} */ event) => {
        stand(stopUnder(event));
        openHere();
      },
      onfocus: () => walker.matches(":focus-visible") && stand(Math.max(at, 0)),
      onblur: leave,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" || event.key === " ") openHere();
        else if (Object.hasOwn(moves, event.key)) stand(moves[event.key](at));
        else return;
        event.preventDefault();
      },
    },
    [line],
  );
  leave();
}

/**
 * Position of the stop nearest to x, by bisection.
 * @param {Stop[]} stops
 * @param {number} x
 */
function nearest(stops, x) {
  let low = 0;
  let high = stops.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (stops[middle].x > x) high = middle;
    else low = middle;
  }
  return Math.abs(stops[high].x - x) < Math.abs(stops[low].x - x) ? high : low;
}
