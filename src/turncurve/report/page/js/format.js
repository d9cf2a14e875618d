/** How numbers are written: one place, so that a chart, a table and a sentence agree. */

const DASH = "\u2013";
const ABSENT = "\u2014";

/** From here on a number is written with an exponent. */
const HUGE = 1e15;

/** @param {any} value @returns {value is number} */
function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** @param {number} value @param {number} digits */
function fixed(value, digits) {
  return value
    .toFixed(digits)
    .replace(/^-(0\.?0*)$/, "$1")
    .replace("-", "\u2212");
}

/** A count with thousands apart. @param {any} value @returns {string} */
function count(value) {
  if (isNumber(value) && Math.abs(value) >= HUGE) return short(value);
  return isNumber(value)
    ? Math.round(value).toLocaleString("en-US").replace("-", "\u2212")
    : ABSENT;
}

/** @param {any} n @param {string} noun @param {string} [plural] */
function plural(n, noun, plural = `${noun}s`) {
  return `${count(n)} ${n === 1 ? noun : plural}`;
}

/** About three digits: 0.0123, 0.931, 12.3, 1,234. @param {number} value @returns {string} */
function short(value) {
  const size = Math.abs(value);
  if (size >= HUGE || (size > 0 && size < 1e-4))
    return value.toExponential(1).replace("e+", "e").replaceAll("-", "\u2212");
  if (size >= 1000) return count(value);
  if (size >= 100) return fixed(value, Number.isInteger(value) ? 0 : 1);
  if (size >= 10) return fixed(value, Number.isInteger(value) ? 0 : 1);
  if (size >= 1) return fixed(value, Number.isInteger(value) ? 0 : 2);
  return size === 0
    ? "0"
    : fixed(value, size >= 0.1 ? 3 : Math.min(8, 2 - Math.floor(Math.log10(size))));
}

/** @param {number} value */
function tokens(value) {
  const size = Math.abs(value);
  if (size >= HUGE) return short(value);
  if (size >= 999_950_000) return `${fixed(value / 1e9, 2)}B`;
  if (size >= 9_999_500) return `${fixed(value / 1e6, 1)}M`;
  if (size >= 999_500) return `${fixed(value / 1e6, 2)}M`;
  return size >= 10_000 ? `${trimmed(fixed(value / 1e3, 1))}k` : short(value);
}

/** A token count in so many digits that the ends of buckets of a width differ. @param {number} value @param {number} width */
function tokensApart(value, width) {
  const [size, letter] = value >= 1e6 ? [1e6, "M"] : [1e3, "k"];
  const digits = Math.max(0, Math.ceil(Math.log10(size / width)));
  if (value < size || !(digits <= 2)) return count(value);
  return `${trimmed(fixed(value / size, digits))}${letter}`;
}

/** A number's text without the zeros that end its fraction: for ticks. @param {string} text */
function trimmed(text) {
  return text.replace(/(\.\d*?)0+(?!\d)/, "$1").replace(/\.(?!\d)/, "");
}

/** @param {number} value */
function dollars(value) {
  const size = Math.abs(value);
  const digits = size === 0 || size >= 1 ? 2 : Math.min(6, 2 - Math.floor(Math.log10(size)));
  const text = size >= 1000 ? count(value) : fixed(value, digits);
  return `$${text}`.replace("$\u2212", "\u2212$");
}

/** One decimal, or two digits of what is below one percent. @param {number} value */
function percent(value) {
  const size = Math.abs(100 * value);
  if (size === 0 || size === 100) return `${fixed(100 * value, 0)}\u202f%`;
  const digits = size >= 0.95 ? 1 : Math.min(6, 1 - Math.floor(Math.log10(size)));
  return `${fixed(100 * value, digits)}\u202f%`;
}

/** A share that stands in a heading: 95 %, 2.5 %. @param {number} value */
function roundPercent(value) {
  return trimmed(percent(value));
}

/**
 * A value of a signal in its unit.
 * @param {any} value
 * @param {string} [unit] "share", "tokens", "usd", "count", "turn", or the rubric's own.
 */
function inUnit(value, unit = "") {
  if (!isNumber(value)) return ABSENT;
  if (unit === "share") return percent(value);
  if (unit === "tokens") return tokens(value);
  if (unit === "usd") return dollars(value);
  if (unit === "turn") return Number.isInteger(value) ? count(value) : short(value);
  return short(value);
}

/** Digits after the point that `short`, `percent` or `dollars` would give. @param {string} text */
function decimals(text) {
  return /\.(\d+)/.exec(text)?.[1].length ?? 0;
}

/**
 * A way to write the values of one column, all with the same number of decimals.
 *
 * The smallest value says how many, up to two more than the largest has.
 * @param {any[]} values @param {string} [unit]
 * @returns {(value: any) => string}
 */
function columnFormat(values, unit = "") {
  const known = values.filter((value) => isNumber(value) && value !== 0);
  if (!known.length) return (value) => inUnit(value, unit);
  const sizes = known.map(Math.abs);
  const [most, least] = [Math.max(...sizes), Math.min(...sizes)];
  const [scale, before, after] = columnUnit(unit, most, least);
  const whole = known.every(Number.isInteger);
  const digits =
    unit === "tokens" && scale > 1 ? 1 : columnDigits(unit, most / scale, least / scale, whole);
  return (value) =>
    isNumber(value)
      ? `${before}${grouped(value / scale, digits)}${after}`.replace("$\u2212", "\u2212$")
      : ABSENT;
}

/** @param {string} unit @param {number} most @param {number} least @param {boolean} whole */
function columnDigits(unit, most, least, whole) {
  if (unit === "share")
    return Math.max(decimals(percent(most / 100)), decimals(percent(least / 100)), 1);
  if (unit === "tokens" && !whole) return least < 100 ? 1 : 0;
  const write = unit === "usd" ? dollars : short;
  const [few, many] = [decimals(write(most)), decimals(write(least))];
  return whole && unit !== "usd" ? 0 : Math.min(Math.max(few, many), few + 2);
}

/** By what values are divided, and what stands before and after them. @param {string} unit @param {number} most @param {number} least @returns {[number, string, string]} */
function columnUnit(unit, most, least) {
  if (unit === "share") return [0.01, "", "\u202f%"];
  if (unit === "usd") return [1, "$", ""];
  if (unit === "tokens" && least >= 999_500) return [1e6, "", "M"];
  if (unit === "tokens" && most >= 10_000) return [1e3, "", "k"];
  return [1, "", ""];
}

/** Thousands apart, with so many decimals. @param {number} value @param {number} digits */
function grouped(value, digits) {
  if (Math.abs(value) >= HUGE) return short(value);
  const [whole, rest] = fixed(value, digits).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), rest]
    .filter((part) => part !== undefined)
    .join(".");
}

/** @param {any} low @param {any} high @param {string} [unit] */
function range(low, high, unit = "") {
  if (!isNumber(low) && !isNumber(high)) return "";
  if (!isNumber(high)) return `${inUnit(low, unit)} or more`;
  if (!isNumber(low)) return `${inUnit(high, unit)} or less`;
  return `${inUnit(low, unit)} to ${inUnit(high, unit)}`;
}

/** @param {string} name */
function words(name) {
  return String(name).replaceAll("_", " ");
}

/** @param {string} text */
function sentenceCase(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
