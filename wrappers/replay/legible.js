// @ts-check
/** Text of a drawing that can be read at the size that the drawing has: of replays, and of the browser's tables. */

const LEAST = 12; // pixels
const AIR = 0.15; // the part of a line's box that is free above and below its letters

const sized = new ResizeObserver(([one]) => legible(/** @type {SVGSVGElement} */ (one?.target)));

/**
 * Keep the text of the drawing that is shown legible at every size that it gets.
 * @param {Element | null | undefined} drawing in place of the one before; nothing is shown without one
 */
export function keepLegible(drawing) {
  sized.disconnect();
  if (!drawing) return;
  legible(/** @type {SVGSVGElement} */ (drawing)); // now: the observer tells of its size a frame later
  sized.observe(drawing);
}

/**
 * Make text that would be too small larger where there is room for it; cut names, and leave out what has none. Larger
 * text has the right of way. A group whose text is all left out goes with it.
 * @param {SVGSVGElement} drawing
 */
function legible(drawing) {
  for (const part of drawing.querySelectorAll("g, text")) part.removeAttribute("style");
  for (const text of drawing.querySelectorAll("text[data-whole]")) {
    text.textContent = text.getAttribute("data-whole");
    text.removeAttribute("data-whole");
  }
  const whole = drawing.getBoundingClientRect();
  const scale = drawing.getScreenCTM()?.a ?? 0;
  if (whole.width === 0 || scale === 0) return; // it is not shown
  const texts = [...drawing.querySelectorAll("text")]
    .map((text) => ({ text, size: Number(text.getAttribute("font-size")), before: text.getBoundingClientRect() }))
    .sort((one, other) => other.size - one.size);
  if (texts.every(({ size }) => size * scale >= LEAST)) return;
  const shapes = [...drawing.querySelectorAll("rect, circle")].map((shape) => shape.getBoundingClientRect());
  for (const { text, size } of texts) if (size * scale < LEAST) text.style.fontSize = `${LEAST / scale}px`;
  /** @type {DOMRect[]} */
  const placed = [];
  const out = texts.filter(({ text, size, before }) => {
    const room = around(shapes, letters(before)) ?? whole;
    const fits = () => size * scale >= LEAST || inside(letters(text.getBoundingClientRect()), room);
    const words = text.textContent ?? "";
    for (let most = words.length - 1; most > 5 && !fits() && !/\d/.test(words); most -= 1) {
      text.setAttribute("data-whole", words); // a name is cut, a number is not
      text.textContent = `${words.slice(0, most - 1)}…`;
    }
    const box = letters(text.getBoundingClientRect());
    if (fits() && !placed.some((other) => overlap(box, other))) return void placed.push(box);
    return true;
  });
  for (const { text } of out) text.style.display = "none";
  for (const { text } of out) {
    const group = text.closest("g");
    if (group && [...group.querySelectorAll("text")].every((one) => one.style.display)) group.style.display = "none";
  }
}

/** The smallest shape that a text stands on. @param {DOMRect[]} shapes @param {DOMRect} text */
function around(shapes, text) {
  return shapes
    .filter((shape) => inside(text, shape))
    .sort((one, other) => one.width * one.height - other.width * other.height)[0];
}

/** @param {DOMRect} line */
function letters({ x, y, width, height }) {
  return new DOMRect(x, y + AIR * height, width, (1 - 2 * AIR) * height);
}

/** @param {DOMRect} one @param {DOMRect} other */
function inside(one, other) {
  return one.left > other.left - 2 && one.right < other.right + 2 && one.top > other.top - 2 && one.bottom < other.bottom + 2;
}

/** @param {DOMRect} one @param {DOMRect} other */
function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
