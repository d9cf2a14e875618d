/** The data that the page carries. */

/** @type {Record<string, any>} */
const report = JSON.parse(byId("report").textContent);
/** @type {{runs: any[], signals: string[], n_omitted: number, has_text: boolean}} */
const details = JSON.parse(byId("details").textContent);
const level = report.settings?.level ?? 0.95;
/** What of the report the page does not carry: rows of a list by its name, or names of signals. */
const leftOut = report.left_out ?? {};

/** @type {Map<string, any>} */
const inflated = new Map();

/**
 * The JSON in a packed block, or null if the page has no such block. The last of each kind is kept,
 * so that reading many transcripts does not fill the memory.
 * @param {string} kind
 * @param {number} number
 */
async function unpack(kind, number) {
  const id = `${kind}-${number}`;
  if (inflated.get(kind)?.id === id) return inflated.get(kind).value;
  const block = byId(id);
  if (!block) return null;
  const packed = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const value = JSON.parse(await new Response(stream).text());
  inflated.set(kind, { id, value });
  return value;
}

/** Values by run of one signal, or null. @param {string} signal */
async function valuesOf(signal) {
  const number = details.signals.indexOf(signal);
  return number < 0 ? null : unpack("values", number);
}

/** The transcript of a run, or null if the page doesn't carry it. @param {string} run */
async function transcriptOf(run) {
  const index = byId("transcript-index");
  if (!index) return null;
  const number = JSON.parse(index.textContent).runs.indexOf(run);
  return number < 0 ? null : unpack("transcript", number);
}

/** What is known of a signal. @param {string} name */
function signalInfo(name) {
  const all = { ...report.known_signals, ...report.signals };
  const known = Object.hasOwn(all, name) ? all[name] : {};
  return {
    name,
    title: known.title || sentenceCase(words(name)),
    unit: known.unit || "",
    better: known.better ?? null,
    denominator: known.denominator || "",
    low: known.low ?? null,
    high: known.high ?? null,
  };
}

/** Names of the signals that have a curve, the quality signal first. */
function curveSignals() {
  const drawn = new Set(
    (report.curves ?? [])
      .filter((/** @type {any} */ row) => isNumber(row.value))
      .map((/** @type {any} */ row) => row.signal),
  );
  const first = report.quality_signal?.name;
  const names = Object.keys(report.signals ?? {}).filter(
    (name) => drawn.has(name) && name !== first,
  );
  return drawn.has(first) ? [first, ...names] : names;
}
