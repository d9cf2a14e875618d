/**
 * A table; cells that are numbers or start like one are set flush right.
 * @param {{head: Child[], rows: any[][], caption?: string}} spec
 */
function dataTable({ head, rows, caption }) {
  const numeric = head.map(
    (_, column) =>
      column > 0 &&
      rows.length > 0 &&
      rows.every((row) => /^([\u2212$]*\d[^a-z]*[kM]?|\u2014|)$/.test(cellText(row[column]))),
  );
  const cells = (/** @type {any[]} */ row) =>
    row.map((cell, column) =>
      column === 0
        ? h("th", { scope: "row" }, cell)
        : h("td", { class: numeric[column] ? "num" : isShort(cell) ? "whole" : null }, cell),
    );
  return h(
    "table",
    {},
    caption ? h("caption", {}, caption) : null,
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map((text, column) =>
          h("th", { scope: "col", class: numeric[column] ? "num" : null }, text),
        ),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map((row) => h("tr", {}, cells(row))),
    ),
  );
}

/** Whether a cell is an interval or a few words, which no line should break. @param {any} cell */
function isShort(cell) {
  return cellText(cell).length <= 22;
}

/** @param {any} cell */
function cellText(cell) {
  if (cell === null || cell === undefined) return "";
  return cell instanceof Node ? (cell.textContent ?? "") : String(cell);
}

/** A table that may be wider than the page. @param {Parameters<typeof dataTable>[0]} spec */
function wideTable(spec) {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": spec.caption ?? "Table" },
    dataTable(spec),
  );
}

/**
 * Rows of a curve as a table.
 * @param {Point[]} points
 * @param {string} unit
 * @param {string} axis
 */
function curveTable(points, unit, axis) {
  const written = columnFormat(
    points.flatMap((point) => [point.value, point.low, point.high]),
    unit,
  );
  return {
    head: [sentenceCase(axis === "turn" ? "turns" : axis), "Value", "Low", "High", "Runs", "Turns"],
    rows: points.map((point) => [
      rowLabel(point, axis),
      written(point.value),
      written(point.low),
      written(point.high),
      count(point.n_runs),
      count(point.n_turns),
    ]),
  };
}

/** @param {Point} point @param {string} axis */
function rowLabel(point, axis) {
  return (
    sentenceCase(place(point, axis)).replace(/^Turns? /, "") + (point.partial ? " (not whole)" : "")
  );
}

/**
 * One estimate as a row: what, value, interval, n, remarks; absent ones say why.
 * @param {string} label
 * @param {any} estimate
 * @param {string} [unit]
 * @param {string} [remark]
 * @returns {any[] | null}
 */
function estimateRow(label, estimate, unit = "", remark = "") {
  if (!estimate) return null;
  const notes = [remark, ...(estimate.warnings ?? [])];
  const absent = !isNumber(estimate.value);
  if (absent) notes.unshift(estimate.reason ?? "not known");
  return [
    label,
    inUnit(estimate.value, unit),
    range(estimate.low, estimate.high, unit),
    estimate.n_runs ? count(estimate.n_runs) : ABSENT,
    notes.filter(Boolean).join("; "),
  ];
}

/**
 * A table of estimates.
 * @param {string} caption
 * @param {(any[] | null)[]} rows
 */
function estimateTable(caption, rows) {
  const known = /** @type {any[][]} */ (rows.filter(Boolean));
  if (!known.length) return null;
  const remarks = known.some((row) => row[4]);
  return wideTable({
    caption,
    head: ["", "Value", `${roundPercent(level)} interval`, "Runs", ...(remarks ? ["Remarks"] : [])],
    rows: known.map((row) => (remarks ? row : row.slice(0, 4))),
  });
}
