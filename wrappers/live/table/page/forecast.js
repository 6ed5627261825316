/** What an action will pay, by the server's calculation with the game's own rules: a curve, and the sums at a number. */

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
  const title = el("b");
  const rows = lines.map(([words]) => ({ sum: el("b"), words: ` ${words || "for sure"}` }));
  const list = el("ul", {}, ...rows.map(({ sum, words }, i) => el("li", { class: `line-${i}` }, sum, words)));
  const show = () => {
    const wanted = exact === null ? 0 : Number(exact.value);
    const distances = numbers.map((one) => Math.abs(one - wanted));
    const at = distances.indexOf(Math.min(...distances));
    title.textContent = exact === null ? "It pays you" : `${number(numbers[at] ?? 0)} pays you`;
    rows.forEach(({ sum }, i) => {
      const paid = keys.length ? linear(lines[i]?.[1] ?? [], fields) : lines[i]?.[1][at];
      sum.textContent = paid == null ? "?" : number(paid);
    });
    const x = String(place(numbers, numbers[at] ?? 0));
    for (const name of ["x1", "x2"]) curve?.lastElementChild?.setAttribute(name, x);
  };
  const form = fields[0]?.form;
  form?.addEventListener("input", show);
  form?.addEventListener("click", show); // the buttons beside the slider
  show();
  return el("div", { class: "forecast" }, ...(curve === null ? [] : [curve]), el("div", {}, title, list));
}

/**
 * What several numbers pay; null while one is missing.
 * @param {(number | null)[]} terms a constant and a slope for each field
 * @param {HTMLInputElement[]} fields
 */
function linear([constant, ...slopes], fields) {
  if (fields.some((one) => one.value === "")) return null;
  return slopes.reduce((sum, slope, i) => (sum ?? 0) + (slope ?? 0) * Number(fields[i]?.value), constant ?? 0);
}

/**
 * Where a number is in the drawing.
 * @param {number[]} numbers
 * @param {number} value
 */
function place(numbers, value) {
  const [low = 0, high = 1] = [numbers[0], numbers.at(-1)];
  return (WIDTH * (value - low)) / (high - low || 1);
}

/**
 * @param {number[]} numbers
 * @param {(number | null)[][]} lines
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
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }, zero, ...curves, mark);
}
