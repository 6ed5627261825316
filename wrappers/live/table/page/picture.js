/** The table's picture: SVG that the server draws, with the renderer of the replays. */

const ROOM = 16; // characters of a name

let drawn = "";
/** @type {Node[]} */
let shown = [];

/**
 * The picture as nodes of the page; the same nodes as before for the same picture, none before the first.
 * @param {string} source
 * @param {Record<string, string>} names what to write in place of an agent's id
 * @returns {Node[]}
 */
export function picture(source, names) {
  const wanted = JSON.stringify([source, names]);
  if (wanted === drawn) return shown;
  drawn = wanted;
  const root = source && new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  shown = root ? [document.importNode(named(root, names), true)] : [];
  return shown;
}

/**
 * Write names in place of ids, in a picture and its title.
 * @param {Element} root
 * @param {Record<string, string>} names
 */
function named(root, names) {
  for (const node of root.querySelectorAll("text, title")) {
    node.textContent = (node.textContent ?? "").replace(/\w+/g, (word) => (word in names ? short(names[word] ?? "") : word));
  }
  return root;
}

/** @param {string} name */
function short(name) {
  return name.length > ROOM ? `${name.slice(0, ROOM - 1)}…` : name;
}
