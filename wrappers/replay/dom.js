// @ts-check
/** Elements, made without markup: whatever others wrote becomes text, never tags. */

/**
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] null, undefined and false: left out
 * @param {(Node | string)[]} children @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      node.setAttribute(name, value === true ? "" : String(value));
    }
  }
  node.append(...children);
  return node;
}

/**
 * An element of a drawing.
 * @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/**
 * Let a node have these children and no others. Where it has them already nothing is touched: not what has the focus,
 * nor what a finger holds.
 * @param {Element} node @param {Node[]} children
 */
export function fill(node, children) {
  children.forEach((one, i) => {
    const there = node.childNodes[i];
    if (there === undefined) node.append(one);
    else if (there !== one) there.replaceWith(one);
  });
  while (node.childNodes.length > children.length) node.lastChild?.remove();
}

/** @template {HTMLElement} Kind @param {string} id @param {new () => Kind} kind @returns {Kind} */
export function byId(id, kind) {
  const node = document.getElementById(id);
  if (!(node instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`);
  return node;
}

/** Elements of the page, by their ids. @template {string} Id @param {Id[]} ids @returns {Record<Id, HTMLElement>} */
export function parts(...ids) {
  return /** @type {any} */ (Object.fromEntries(ids.map((id) => [id, byId(id, HTMLElement)])));
}

/** A number as people write it, with at most two decimals. @param {number} value */
export function number(value) {
  return value.toLocaleString("en", { maximumFractionDigits: 2 }).replace("-", "−");
}

/** What short words in names of the protocol stand for; a game adds its own. */
export const MEANINGS = new Map(Object.entries({ min: "minimum", max: "maximum", contribs: "contributions" }));

/** A name of the protocol as people write it: "submit_quantity" is "Submit quantity". @param {string} name */
export function words(name) {
  const plain = name
    .split("_")
    .map((part) => MEANINGS.get(part) ?? part)
    .join(" ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** Whether a key goes into a field. @param {KeyboardEvent} event */
export function isWriting(event) {
  const fields = "input:not([type=range], [type=radio]), textarea, select";
  return event.target instanceof Element && event.target.matches(fields);
}

/** Texts and nodes with commas between them. @param {(Node | string)[][]} parts */
export function commas(parts, comma = ", ") {
  return parts.flatMap((one, i) => (i ? [comma, ...one] : one));
}

/**
 * A button, which a key presses, too.
 * @param {string | Node} label @param {string | undefined} key shown if it is one letter or digit
 * @param {() => void} [does] default: it submits its form @param {Record<string, string>} [attributes]
 */
export function button(label, key, does, attributes = {}) {
  const shown = key?.length === 1 ? [" ", el("kbd", { "aria-hidden": "true" }, key.toUpperCase())] : [];
  const node = el("button", { type: does ? "button" : "submit", "data-key": key, ...attributes }, label, ...shown);
  if (does) node.addEventListener("click", does);
  return node;
}

/** @typedef {string | (Node | string)[]} Cell */

/** Facts by name. @param {Cell[][]} rows */
export function facts(rows) {
  const cells = rows.flatMap((row) => row.map((one, i) => el(i ? "dd" : "dt", {}, ...[one].flat())));
  return el("dl", { class: "facts" }, ...cells);
}

/**
 * A table. The first cell of each row is its head.
 * @param {string} style @param {string} caption "": none @param {Cell[]} heads of the columns; none: there are no heads
 * @param {Cell[][]} rows
 */
export function table(style, caption, heads, rows) {
  const columns = heads.map((one) => (one.length ? el("th", { scope: "col" }, ...[one].flat()) : el("td")));
  const cells = (/** @type {Cell[]} */ row) =>
    row.map((one, i) => el(i ? "td" : "th", { scope: i ? null : "row" }, ...[one].flat()));
  return el(
    "table",
    { class: style },
    ...(caption ? [el("caption", {}, caption)] : []),
    ...(columns.length ? [el("thead", {}, el("tr", {}, ...columns))] : []),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row)))),
  );
}
