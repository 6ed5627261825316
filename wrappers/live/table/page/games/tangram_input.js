/** How pieces are moved: by mouse, pen, finger and keys. */

import { isWriting } from "../dom.js";
import { NAMES, within } from "./tangram_pieces.js";

/** @import { Held } from "./tangram_pieces.js" */

/** What a pointer does: where it took hold of a piece, or that it turns the piece.
 * @typedef {{ pointer: number, turns: boolean, dx: number, dy: number, from: { x: number, y: number }, moved: boolean, was: Held }} Drag */
/**
 * What the table gives: its drawing, the piece that the person holds, and what can be done with it.
 * @typedef {{
 *   svg: SVGSVGElement, handle: Element, free: boolean, held: Held | null, drag: Drag | null,
 *   choose: (name: string) => void, rotate: (by: number) => void, shift: (x: number, y: number) => void,
 *   play: () => void, letGo: () => void, show: () => void,
 * }} PieceTable
 */

export const STEP = 45; // degrees

/** Let a person move the pieces of a table. @param {PieceTable} table */
export function listen(table) {
  table.svg.addEventListener("pointerdown", (event) => take(table, event));
  table.svg.addEventListener("pointermove", (event) => move(table, event));
  table.svg.addEventListener("pointerup", (event) => drop(table, event));
  table.svg.addEventListener("pointercancel", () => cancel(table));
  // A finger that holds a piece does not scroll; one beside the pieces does.
  table.svg.addEventListener("touchstart", (event) => table.drag !== null && event.preventDefault(), {
    passive: false,
  });
  table.svg.addEventListener("wheel", (event) => wheel(table, event), { passive: false });
  document.addEventListener("keydown", (event) => press(table, event));
}

/** @param {PieceTable} table @param {PointerEvent} event */
function boardPoint(table, event) {
  const to = table.svg.getScreenCTM()?.inverse();
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(to);
  return { x, y: 100 - y };
}

/** @param {PieceTable} table @param {PointerEvent} event */
function take(table, event) {
  if (!table.free || table.drag !== null || event.button !== 0 || !(event.target instanceof Element)) return;
  const at = boardPoint(table, event);
  const name = event.target.closest("[data-piece]")?.getAttribute("data-piece");
  if (event.target === table.handle && table.held !== null) {
    table.drag = {
      pointer: event.pointerId,
      turns: true,
      dx: 0,
      dy: 0,
      from: at,
      moved: false,
      was: { ...table.held },
    };
  } else if (name) {
    table.choose(name);
    const own = /** @type {Held} */ (table.held);
    const grip = own.out ? { dx: own.x - at.x, dy: own.y - at.y } : { dx: 0, dy: 0 };
    table.drag = { pointer: event.pointerId, turns: false, ...grip, from: at, moved: false, was: { ...own } };
  } else return;
  event.preventDefault();
  table.svg.setPointerCapture(event.pointerId);
}

/** @param {PieceTable} table @param {PointerEvent} event */
function move(table, event) {
  const { drag, held: own } = table;
  if (drag === null || own === null || event.pointerId !== drag.pointer) return;
  const at = boardPoint(table, event);
  drag.moved ||= Math.hypot(at.x - drag.from.x, at.y - drag.from.y) > 1;
  if (!drag.moved) return;
  if (drag.turns) {
    const angle = (Math.atan2(at.x - own.x, at.y - own.y) * 180) / Math.PI;
    const step = Math.round(angle / STEP) * STEP;
    own.rotation = Math.abs(angle - step) < 6 ? step : Math.round(angle);
  } else Object.assign(own, { x: at.x + drag.dx, y: at.y + drag.dy, out: true });
  own.pending = true;
  table.show();
}

/** @param {PieceTable} table @param {PointerEvent} event */
function drop(table, event) {
  const { drag, held: own } = table;
  if (drag === null || own === null || event.pointerId !== drag.pointer) return;
  table.drag = null;
  const there = (/** @type {number} */ one) => one > -3 && one < 103;
  if (!drag.moved) table.show();
  else if (!drag.turns && !(there(own.x) && there(own.y))) {
    table.held = { ...drag.was };
    table.show();
  } else {
    Object.assign(own, { x: within(own.x), y: within(own.y) });
    table.play();
  }
}

/** @param {PieceTable} table */
function cancel(table) {
  if (table.drag === null) return;
  table.held = { ...table.drag.was };
  table.drag = null;
  table.show();
}

/** @param {PieceTable} table @param {WheelEvent} event */
function wheel(table, event) {
  const over = event.target instanceof Element ? event.target.closest("[data-piece]") : null;
  if (!table.free || (table.drag === null && over?.getAttribute("data-piece") !== table.held?.name)) return;
  event.preventDefault();
  table.rotate(event.deltaY > 0 ? STEP : -STEP);
}

/** @param {PieceTable} table @param {KeyboardEvent} event */
function press(table, event) {
  if (isWriting(event) || event.ctrlKey || event.metaKey || event.altKey || !table.free) return;
  const far = event.shiftKey ? 0.25 : 2;
  /** @type {Record<string, () => void>} */
  const does = {
    ArrowLeft: () => table.shift(-far, 0),
    ArrowRight: () => table.shift(far, 0),
    ArrowUp: () => table.shift(0, far),
    ArrowDown: () => table.shift(0, -far),
    Escape: () => table.letGo(),
  };
  const name = NAMES[Number(event.key) - 1];
  const found = name === undefined ? does[event.key] : () => table.choose(name);
  if (found === undefined || (table.held === null && name === undefined)) return;
  event.preventDefault();
  found();
}
