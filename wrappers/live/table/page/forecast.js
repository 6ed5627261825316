/**
 * What an action will pay, by the server's calculation with the game's own rules: a curve, and the sums at a number.
 */

import { el, number, svg } from "./dom.js";

/** @import { Forecast } from "./types.d.ts" */

const WIDTH = 300;
const HEIGHT = 90;

/**
 * The forecast of an action. It follows the fields of its numbers.
 * @param {Forecast} forecast
 * @param {HTMLInputElement[]} fields those of `keys`, or the one of the number; none: the action has no number
 * @returns {HTMLElement}
 */
export function outlook({ numbers, payoffs, keys }, fields) {
  const lines = Object.entries(payoffs);
  const [exact = null] = keys.length ? [] : fields;
  const curve = exact === null || numbers.length < 2 ? null : drawn(numbers, lines.map(([, paid]) => paid));
  const loses = (/** @type {number} */ i) => lines.some(([, paid]) => (paid[i] ?? 0) < 0);
  if (exact !== null && curve !== null && loses(nearest(numbers, Number(exact.value)))) {
    const safe = numbers.filter((_, i) => !loses(i)); // what is chosen at first loses in no case, if something does not
    exact.value = String(safe[nearest(safe, Number(exact.value))] ?? exact.value);
    exact.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const title = el("b");
  const rows = lines.map(([words]) => ({ sum: el("b"), words: ` ${words || "for sure"}` }));
  const list = el("ul", {}, ...rows.map(({ sum, words }, i) => el("li", { class: `line-${i}` }, sum, words)));
  const show = () => {
    const at = nearest(numbers, exact === null ? 0 : Number(exact.value));
    title.textContent = exact === null ? "It pays you" : `${number(numbers[at] ?? 0)} pays you`;
    rows.forEach(({ sum }, i) => {
      const paid = keys.length ? linear(lines[i]?.[1] ?? [], fields) : lines[i]?.[1][at];
      sum.textContent = paid == null ? "?" : `${number(paid)}${paid < 0 ? ", a loss," : ""}`;
      sum.classList.toggle("loss", paid != null && paid < 0);
    });
    const x = String(place(numbers, numbers[at] ?? 0));
    for (const name of ["x1", "x2"]) curve?.querySelector(".at")?.setAttribute(name, x);
  };
  const form = fields[0]?.form;
  form?.addEventListener("input", show);
  form?.addEventListener("click", show); // the buttons beside the slider
  show();
  return el("div", { class: "forecast" }, ...(curve === null ? [] : [curve]), el("div", {}, title, list));
}

/**
 * What several numbers pay; null while one is missing.
 * @param {(number | null)[]} terms a constant and a slope for each field @param {HTMLInputElement[]} fields
 */
function linear([constant, ...slopes], fields) {
  if (fields.some((one) => one.value === "")) return null;
  return slopes.reduce((sum, slope, i) => (sum ?? 0) + (slope ?? 0) * Number(fields[i]?.value), constant ?? 0);
}

/** @param {number[]} numbers @param {number} wanted */
function nearest(numbers, wanted) {
  const distances = numbers.map((one) => Math.abs(one - wanted));
  return distances.indexOf(Math.min(...distances));
}

/** Where a number is in the drawing. @param {number[]} numbers @param {number} value */
function place(numbers, value) {
  const [low = 0, high = 1] = [numbers[0], numbers.at(-1)];
  return (WIDTH * (value - low)) / (high - low || 1);
}

/**
 * The curves with their axes: what is paid upwards, the numbers to the right.
 * @param {number[]} numbers @param {(number | null)[][]} lines
 */
function drawn(numbers, lines) {
  const paid = lines.flat().filter((one) => one !== null);
  const [low, high] = [Math.min(0, ...paid), Math.max(0, ...paid)];
  const height = (/** @type {number} */ one) => (HEIGHT - 6) * (1 - (one - low) / (high - low || 1)) + 3;
  const curves = lines.map((line, i) => {
    const points = line.flatMap((one, k) => (one === null ? [] : [`${place(numbers, numbers[k] ?? 0)},${height(one)}`]));
    return svg("polyline", { class: `line-${i}`, points: points.join(" ") });
  });
  const zero = svg("line", { class: "zero", x1: 0, x2: WIDTH, y1: height(0), y2: height(0) });
  const mark = svg("line", { class: "at", y1: 0, y2: HEIGHT });
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" }, zero, ...curves, mark);
  const ends = (/** @type {number[]} */ ...two) => el("span", {}, ...two.map((one) => el("small", {}, number(one))));
  return el("div", { class: "curve", "aria-hidden": "true" }, ends(high, low), drawing, ends(numbers[0] ?? 0, numbers.at(-1) ?? 0));
}
