/** The seven pieces: their shapes, where they lie in the drawer, and how they are drawn. */

import { svg } from "../dom.js";

/** @import { Point, Pose } from "../polygons.js" */

const H = Math.SQRT1_2;
/** Corners around the centre, in units of which a small triangle has one square.
 * @type {Record<string, Point[]>} */
// prettier-ignore
export const SHAPES = {
  Red: [[0, 1], [-2, -1], [2, -1]],
  Cream: [[0, 1], [-2, -1], [2, -1]],
  Purple: [[H, H], [-H, H], [-H, -H], [H, -H]],
  Brown: [[1.5, 0.5], [-0.5, 0.5], [-1.5, -0.5], [0.5, -0.5]],
  Blue: [[H, 2 * H], [-H, 0], [H, -2 * H]],
  Yellow: [[0, 5 / 8], [-1, -3 / 8], [1, -3 / 8]],
  Green: [[0, 1 / 2], [-1, -1 / 2], [1, -1 / 2]],
};
export const NAMES = Object.keys(SHAPES);
export const narrow = window.matchMedia("(max-width: 760px)");

/**
 * A piece that the person holds: its pose, whether it is over the board, and whether that is yet to be played.
 * @typedef {Pose & { name: string, out: boolean, pending: boolean }} Held
 */

/**
 * A piece that lies on the board, as it is taken.
 * @param {string} name
 * @param {any} lies
 * @returns {Held}
 */
export function held(name, lies) {
  return { name, ...point(lies.position), rotation: lies.rotation, out: true, pending: false };
}

/** @param {Point} position */
export function point([x, y]) {
  return { x, y };
}

/** @param {number} value */
export function within(value) {
  return Math.min(100, Math.max(0, value));
}

/** @param {Point[]} ring */
export function path(ring) {
  return `M${ring.map(([x, y]) => `${x},${100 - y}`).join(" ")}z`;
}

/** The place of a piece in the drawer: beside the board, or below it on a narrow screen. @param {string} name */
export function slot(name) {
  const i = NAMES.indexOf(name);
  if (!narrow.matches) return { x: 112 + 21 * (i % 2), y: 88 - 25 * Math.floor(i / 2) };
  return i < 4 ? { x: 12.5 + 25 * i, y: -10 } : { x: 25 + 25 * (i - 4), y: -27 };
}

/** @param {string} name @param {number} i @param {boolean} small */
export function spot(name, i, small) {
  const { x, y } = slot(name);
  const [wide, tall] = small ? [24, 16] : [20, 24];
  const box = svg("rect", { x: x - wide / 2, y: 100 - y - tall / 2, width: wide, height: tall, rx: 1.5 });
  return svg("g", {}, box, svg("text", { x: x - wide / 2 + 1.2, y: 100 - y - tall / 2 + 3.6 }, String(i + 1)));
}
