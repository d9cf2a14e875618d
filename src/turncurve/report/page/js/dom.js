/** @typedef {Node | string | number | null | undefined | false} Child */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element. Strings only ever become text nodes, so nothing a trace says is read as markup.
 * @param {string} tag
 * @param {Record<string, any>} [attributes] Functions named `on...` become listeners; null and
 *   false leave an attribute out.
 * @param {...(Child | Child[])} children
 * @returns {any}
 */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children.flat());
}

/**
 * An SVG element, by the same rules.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {any}
 */
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * @param {Element} element
 * @param {Record<string, any>} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * @param {string} id
 * @returns {any}
 */
function byId(id) {
  return document.getElementById(id);
}

/**
 * A section of the page, with its heading; null where it has nothing to say.
 * @param {string} id
 * @param {string} title
 * @param {...(Child | Child[])} children
 */
function section(id, title, ...children) {
  const content = children.flat().filter(Boolean);
  if (!content.length) return null;
  return h(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    h("h2", { id: `${id}-title` }, title),
    content,
  );
}
