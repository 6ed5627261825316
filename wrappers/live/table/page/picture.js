/** The table's picture: SVG that the server draws, with the renderer of the replays. */

import { keepLegible } from "./legible.js";

const ROOM = 10; // characters of a name
const SMALL = 8; // in the sign of an agent

let drawn = "";
/** @type {Node[]} */
let shown = [];

/**
 * The picture as nodes of the page; the same nodes as before for the same picture, none before the first.
 * @param {string} source @param {Record<string, string>} names what to write in place of an agent's id
 * @returns {Node[]}
 */
export function picture(source, names) {
  const wanted = JSON.stringify([source, names]);
  if (wanted === drawn) return shown;
  drawn = wanted;
  const root = source && new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  const drawing = root ? document.importNode(named(root, names), true) : undefined;
  keepLegible(drawing);
  shown = drawing ? [drawing] : [];
  return shown;
}

/**
 * Write names in place of ids, in a picture and its title.
 * @param {Element} root @param {Record<string, string>} names
 */
function named(root, names) {
  for (const node of root.querySelectorAll("text, title")) {
    const room = node.closest("[data-agent]") === null ? ROOM : SMALL;
    const before = node.textContent ?? "";
    const after = before.replace(/\w+/g, (word) => (word in names ? short(names[word] ?? "", room) : word));
    if (after === before) continue;
    node.textContent = after;
    const size = Number(node.getAttribute("font-size"));
    if (room === SMALL) node.setAttribute("font-size", String(Math.min(size, (5.5 * size) / after.length)));
  }
  return root;
}

/** @param {string} name @param {number} room */
function short(name, room) {
  return name.length > room ? `${name.slice(0, room - 1)}…` : name;
}
