/** A tangram, built together: pieces are dragged, turned and put. */

import { button, el, fill, isWriting, number, svg } from "../dom.js";
import { nameTag, outcome } from "../names.js";

/** @import { Act, View } from "../types.d.ts" */
/** @typedef {[number, number]} Point */
/** A centre, and a turn clockwise in degrees. @typedef {{ x: number, y: number, rotation: number }} Pose */
/**
 * A piece that the person holds: whether it is over the board, and whether its pose is yet to be played.
 * @typedef {Pose & { name: string, out: boolean, pending: boolean }} Held
 *
 * What a pointer does: where it took hold of a piece, or that it turns the piece.
 * @typedef {{ pointer: number, turns: boolean, dx: number, dy: number, from: DOMPoint, moved: boolean, was: Held }} Drag
 */

const H = Math.SQRT1_2;
/** Corners around the centre, in units of which a small triangle has one square. @type {Record<string, Point[]>} */
const SHAPES = {
  Red: [[0, 1], [-2, -1], [2, -1]],
  Cream: [[0, 1], [-2, -1], [2, -1]],
  Purple: [[H, H], [-H, H], [-H, -H], [H, -H]],
  Brown: [[1.5, 0.5], [-0.5, 0.5], [-1.5, -0.5], [0.5, -0.5]],
  Blue: [[H, 2 * H], [-H, 0], [H, -2 * H]],
  Yellow: [[0, 5 / 8], [-1, -3 / 8], [1, -3 / 8]],
  Green: [[0, 1 / 2], [-1, -1 / 2], [1, -1 / 2]],
};
const NAMES = Object.keys(SHAPES);
const STEP = 45; // degrees
const NEAR = 4; // board units within which a piece snaps
const TOLERANCE = 0.009; // deeper than this, and two pieces overlap
const SMALL = 0.6; // how large pieces are in the drawer
const ARM = 17; // from a piece's centre to its handle
const narrow = window.matchMedia("(max-width: 760px)");
const pencil = document.createElement("canvas").getContext("2d"); // knows what lies in a path
const touch = window.matchMedia("(hover: none)").matches;

class Table {
  constructor() {
    /** @type {View | null} */
    this.view = null;
    /** @type {Act} */
    this.act = () => {};
    /** @type {Held | null} */
    this.held = null;
    /** @type {Drag | null} */
    this.drag = null;
    this.ending = false; // the turn ends once what was put lies well
    this.turn = "";
    /** As they are drawn: a piece never turns the long way round. @type {Map<string, number>} */
    this.angles = new Map();

    this.figure = svg("path", { class: "figure" });
    this.slots = svg("g", { class: "slots" });
    this.before = svg("polygon", { class: "before" });
    this.pieces = new Map(NAMES.map((name) => [name, this.piece(name)]));
    this.arm = svg("line", { class: "arm" });
    this.handle = svg("circle", { class: "handle", r: 3.2 });
    this.pile = svg("g", {}, ...this.pieces.values());
    this.svg = svg(
      "svg",
      { class: "tangram", role: "group", "aria-label": "Board and drawer" },
      svg("rect", { class: "ground", x: 0, y: 0, width: 100, height: 100, rx: 1.5 }),
      ...[this.figure, this.slots, this.before, this.pile, this.arm, this.handle],
    );
    this.facts = el("div", { class: "build" });
    this.word = el("p", { class: "word", role: "status" });
    this.end = el("div");
    this.put = button("Put it here", "p", () => this.play(), { class: "main" });

    this.svg.addEventListener("pointerdown", (event) => this.take(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", (event) => this.drop(event));
    this.svg.addEventListener("pointercancel", () => this.drag !== null && this.putBack());
    // A finger that holds a piece does not scroll; one beside the pieces does.
    this.svg.addEventListener("touchstart", (event) => this.drag !== null && event.preventDefault(), { passive: false });
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    document.addEventListener("keydown", (event) => this.press(event));
    narrow.addEventListener("change", () => this.show());
  }

  /** @param {string} name */
  piece(name) {
    const points = (SHAPES[name] ?? []).map(([x, y]) => `${x},${-y}`).join(" ");
    const node = svg("g", { class: `piece ${name.toLowerCase()}`, role: "button" }, svg("polygon", { points }));
    node.dataset["piece"] = name;
    node.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      if (this.held?.name === name && this.held.pending) this.play();
      else this.choose(name);
    });
    return node;
  }

  // What the server sends.

  get game() {
    return this.view?.state?.game_state;
  }

  get mine() {
    const { view } = this;
    return view !== null && view.you !== null && view.status === "running" && (view.state?.is_my_turn ?? false);
  }

  /** @param {View} view @param {Act} act */
  update(view, act) {
    this.view = view;
    this.act = act;
    if (view.turn !== this.turn) {
      this.turn = view.turn;
      this.drag = null;
      const lies = this.held === null ? undefined : this.game.on_board[this.held.name];
      this.held = this.mine && this.held !== null && lies ? lying(this.held.name, lies) : null;
      const moved = this.game.moved?.shape;
      const well = moved !== undefined && this.game.on_board[moved].collisions.length === 0;
      if (this.ending && this.mine && well) this.act({ action_type: "finish", payload: {} });
      this.ending = false;
    }
    this.show();
  }

  /** Board units for one of the shapes' units, across and up: they may differ a little. @returns {Point} */
  get scale() {
    const [name = "", one] = Object.entries({ ...this.game.off_board, ...this.game.on_board })[0] ?? [];
    const flat = placed(SHAPES[name] ?? [], { x: 0, y: 0, rotation: one.rotation }, [1, 1]);
    const ratio = (/** @type {0 | 1} */ axis) => {
      const sizes = flat.map((point) => Math.abs(point[axis]));
      const far = sizes.indexOf(Math.max(...sizes));
      return (one.vertices[far][axis] - (one.position?.[axis] ?? 0)) / (flat[far]?.[axis] ?? 1);
    };
    return [ratio(0), ratio(1)];
  }

  /** Where a piece is drawn, and how large. @param {string} name @returns {Pose & { size: number, out: boolean }} */
  pose(name) {
    if (this.held?.name === name && this.held.out) return { ...this.held, size: 1 };
    const lies = this.game.on_board[name];
    if (lies !== undefined) return { ...lying(name, lies), size: 1 };
    return { ...slot(name), rotation: this.held?.name === name ? this.held.rotation : 0, size: SMALL, out: false };
  }

  /** Where the piece that was moved in this turn came from, if from the board. @returns {Point[]} */
  get origin() {
    const { shape, from } = this.game.moved ?? {};
    return from ? placed(SHAPES[shape] ?? [], lying(shape, from), this.scale) : [];
  }

  // What is seen.

  show() {
    if (this.view?.state == null) return;
    const { game, held: own } = this;
    this.svg.setAttribute("viewBox", narrow.matches ? "-1 -1 102 138" : "-1 -1 145 102");
    this.figure.setAttribute("d", game.silhouette.map(path).join(""));
    fill(this.slots, NAMES.map(spot));
    const scale = this.scale;
    for (const [name, node] of this.pieces) this.draw(name, node, scale);
    this.before.setAttribute("points", this.origin.map(([x, y]) => `${x},${100 - y}`).join(" "));
    const { x, y, rotation } = own ?? { x: 0, y: 0, rotation: 0 };
    const [cx, cy] = [x + ARM * Math.sin(radians(rotation)), 100 - y - ARM * Math.cos(radians(rotation))];
    for (const node of [this.arm, this.handle]) node.classList.toggle("gone", !this.mine || !own?.out);
    for (const [name, value] of Object.entries({ x1: x, y1: 100 - y, x2: cx, y2: cy, cx, cy })) {
      (name.startsWith("c") ? this.handle : this.arm).setAttribute(name, String(value));
    }
    this.svg.classList.toggle("mine", this.mine);
    this.put.hidden = !(own?.out && own.pending) || this.drag !== null || this.view.busy;
    const advice = this.advice();
    if (this.word.textContent !== advice) this.word.textContent = advice;
    fill(this.facts, this.progress());
    fill(this.end, outcome(this.view));
  }

  /** @param {string} name @param {SVGGElement} node @param {Point} scale */
  draw(name, node, scale) {
    const { x, y, rotation, size, out } = this.pose(name);
    const shown = this.angles.get(name) ?? rotation;
    const angle = rotation + 360 * Math.round((shown - rotation) / 360);
    this.angles.set(name, angle);
    const [right, up] = [size * scale[0], size * scale[1]];
    node.style.transform = `translate(${x}px, ${100 - y}px) scale(${right}, ${up}) rotate(${angle}deg)`;
    const own = this.held?.name === name ? this.held : null;
    const hits = own?.pending ? [] : (this.game.on_board[name]?.collisions ?? []);
    const is = { held: own, pending: own?.pending && own.out, dragged: own && this.drag, wrong: hits.length };
    for (const [style, on] of Object.entries(is)) node.classList.toggle(style, Boolean(on));
    const where = out ? `at ${number(x)}, ${number(y)}, turned by ${number(rotation)} degrees` : "in the drawer";
    node.setAttribute("aria-label", `${name}, ${where}${hits.length ? `, overlaps ${called(hits)}` : ""}`);
    node.setAttribute("tabindex", this.mine ? "0" : "-1");
    if (own !== null && this.pile.lastChild !== node && document.activeElement !== node) this.pile.append(node);
  }

  progress() {
    const { game } = this;
    const meter = el("meter", { value: game.iou, "aria-label": "overlap with the figure" });
    return [
      el("h2", {}, game.objective.charAt(0).toUpperCase() + game.objective.slice(1)),
      el("span", {}, `Turn ${game.turn_number} of ${game.turns}`),
      el("span", {}, `${Math.round(100 * game.iou)} % built `, meter),
      ...(this.mine ? [el("span", {}, `${game.plays_left} moves left in this turn`)] : []),
    ];
  }

  /** What the person had best know now. */
  advice() {
    const { game, held: own, view } = this;
    const moved = game.moved?.shape;
    if (view?.status !== "running" || !this.mine) return "";
    if (view.busy) return "…";
    if (own !== null && moved !== undefined && moved !== own.name) {
      return `One piece moves in a turn: ${moved} goes back when you put ${own.name}.`;
    }
    if (own?.pending && own.out && this.drag === null) return `Put ${own.name} here, or move it on.`;
    if (moved === undefined) {
      if (own === null) return "Drag a piece onto the grey figure; it snaps to what is near. One piece a turn.";
      return `${own.name}: drag it onto the figure; turn it with the buttons${touch ? "" : ", the wheel or R"}.`;
    }
    const { collisions, vertices } = game.on_board[moved];
    if (collisions.length) return `${moved} overlaps ${called(collisions)}. Move it: if your turn ends so, it goes back.`;
    if (!this.inFigure(vertices)) return `${moved} lies outside the figure, at least in part. Move it, or end your turn.`;
    return `${moved} lies well. Adjust it, or end your turn.`;
  }

  /** Whether points of a polygon lie in the figure, but for a little at its border. @param {Point[]} polygon */
  inFigure(polygon) {
    const figure = new Path2D(this.figure.getAttribute("d") ?? "");
    const [x = 0, y = 0] = [0, 1].map((axis) => polygon.reduce((sum, one) => sum + (one[axis] ?? 0) / polygon.length, 0));
    return sides(polygon).every(([[ax, ay], [bx, by]]) =>
      [0, 1, 2, 3, 4, 5, 6, 7].every((eighth) =>
        [0.96, 0.6, 0.3].every((share) => {
          const [dx, dy] = [ax + ((bx - ax) * eighth) / 8 - x, ay + ((by - ay) * eighth) / 8 - y];
          return pencil?.isPointInPath(figure, x + share * dx, 100 - (y + share * dy), "evenodd");
        }),
      ),
    );
  }

  controls() {
    return [
      button("⟲ Turn left", "e", () => this.rotate(-STEP)),
      button("⟳ Turn right", "r", () => this.rotate(STEP)),
      this.put,
      button("End my turn", "f", () => this.finish(), { "data-action": "finish" }),
      el(
        "small",
        { class: "keys" },
        "Keys: 1 to 7 choose a piece, arrows move it (with Shift a little), E and R turn it, P puts it, F ends the turn.",
      ),
    ];
  }

  // What the person does.

  get free() {
    return this.mine && !this.view?.busy;
  }

  /** @param {string} name */
  choose(name) {
    if (!this.free || this.held?.name === name) return;
    const lies = this.game.on_board[name];
    this.held = lies ? lying(name, lies) : { name, ...slot(name), rotation: 0, out: false, pending: false };
    this.show();
  }

  /** @param {number} by degrees, clockwise */
  rotate(by) {
    if (!this.free || this.held === null) return;
    const to = Math.round((this.held.rotation + by) / STEP) * STEP; // a free angle goes to the next step
    this.held.rotation = to === this.held.rotation ? to + by : to;
    this.held.pending = this.held.out;
    this.show();
  }

  /** @param {number} x @param {number} y */
  shift(x, y) {
    if (!this.free || this.held === null) return;
    const from = this.held.out ? this.held : { x: 50, y: 50 };
    Object.assign(this.held, { x: within(from.x + x), y: within(from.y + y), out: true, pending: true });
    this.show();
  }

  play() {
    const { held: own } = this;
    if (!this.free || own === null || !own.out) return;
    this.ending = false;
    Object.assign(own, this.snapped(own), { pending: true });
    const rotation = ((own.rotation % 360) + 360) % 360;
    this.act({ action_type: "play", payload: { shape: own.name, position: [own.x, own.y], rotation } });
  }

  finish() {
    if (!this.free) return;
    const first = Boolean(this.held?.pending && this.held.out);
    if (first) this.play();
    else this.act({ action_type: "finish", payload: {} });
    this.ending = first;
  }

  /** The pose that fits, near this one: corner to corner if possible, and over no other piece. @param {Held} own */
  snapped(own) {
    const { on_board: there, moved } = this.game;
    const polygon = placed(SHAPES[own.name] ?? [], own, this.scale);
    // Another piece that was put before in this turn goes back.
    const stay = Object.keys(there).filter((one) => one !== own.name && one !== moved?.shape);
    const back = moved !== null && moved.shape !== own.name ? [this.origin].filter((one) => one.length) : [];
    /** @type {Point[][]} */
    const others = [...stay.map((one) => there[one].vertices), ...back];
    const ways = pulls(polygon, [...this.game.silhouette, ...others].flatMap(sides)).map(({ by, cost }) => {
      const there = polygon.map(([x, y]) => /** @type {Point} */ ([x + by[0], y + by[1]]));
      const off = there.some(([x, y]) => Math.min(x, y) < -0.01 || Math.max(x, y) > 100.01);
      return { by, cost: cost + (off || others.some((other) => overlap(there, other)) ? 100 : 0) };
    });
    const { by } = ways.reduce((best, way) => (way.cost < best.cost - 1e-9 ? way : best));
    return { x: within(own.x + by[0]), y: within(own.y + by[1]) };
  }

  // By mouse, pen, finger and keys.

  /** @param {PointerEvent} event */
  at(event) {
    const to = this.svg.getScreenCTM()?.inverse();
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(to);
    return new DOMPoint(x, 100 - y);
  }

  /** @param {PointerEvent} event */
  take(event) {
    if (!this.free || this.drag !== null || event.button !== 0 || !(event.target instanceof Element)) return;
    const turns = event.target === this.handle;
    const name = event.target.closest("[data-piece]")?.getAttribute("data-piece");
    if (name) this.choose(name);
    const { held: own } = this;
    if (own === null || !(name || turns)) return;
    const from = this.at(event);
    const [dx, dy] = own.out ? [own.x - from.x, own.y - from.y] : [0, 0];
    this.drag = { pointer: event.pointerId, turns, dx, dy, from, moved: false, was: { ...own } };
    event.preventDefault();
    this.svg.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag, held: own } = this;
    if (drag === null || own === null || event.pointerId !== drag.pointer) return;
    const at = this.at(event);
    drag.moved ||= Math.hypot(at.x - drag.from.x, at.y - drag.from.y) > 1;
    if (!drag.moved) return;
    if (drag.turns) {
      const angle = (Math.atan2(at.x - own.x, at.y - own.y) * 180) / Math.PI;
      const step = Math.round(angle / STEP) * STEP;
      own.rotation = Math.abs(angle - step) < 6 ? step : Math.round(angle);
    } else Object.assign(own, { x: at.x + drag.dx, y: at.y + drag.dy, out: true });
    own.pending = true;
    this.show();
  }

  /** @param {PointerEvent} event */
  drop(event) {
    const { drag, held: own } = this;
    if (drag === null || own === null || event.pointerId !== drag.pointer) return;
    if (drag.moved && !drag.turns && [own.x, own.y].some((one) => one <= -3 || one >= 103)) return this.putBack();
    this.drag = null;
    if (!drag.moved) return this.show();
    Object.assign(own, { x: within(own.x), y: within(own.y) });
    this.play();
  }

  putBack() {
    this.held = this.drag && { ...this.drag.was };
    this.drag = null;
    this.show();
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const over = event.target instanceof Element ? event.target.closest("[data-piece]") : null;
    if (!this.free || (this.drag === null && over?.getAttribute("data-piece") !== this.held?.name)) return;
    event.preventDefault();
    this.rotate(event.deltaY > 0 ? STEP : -STEP);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (isWriting(event) || event.ctrlKey || event.metaKey || event.altKey || !this.free) return;
    const far = event.shiftKey ? 0.25 : 2;
    const ways = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, far], ArrowDown: [0, -far] };
    const way = ways[/** @type {keyof typeof ways} */ (event.key)];
    const name = NAMES[Number(event.key) - 1];
    if (name !== undefined) this.choose(name);
    else if (this.held !== null && way !== undefined) this.shift(way[0] ?? 0, way[1] ?? 0);
    else if (this.held !== null && event.key === "Escape") {
      this.drag = this.held = null;
      this.show();
    } else return;
    event.preventDefault();
  }
}

/** A piece as it lies on the board, or lay. @param {string} name @param {any} lies @returns {Held} */
function lying(name, { position: [x, y], rotation }) {
  return { name, x, y, rotation, out: true, pending: false };
}

/** The place of a piece in the drawer: beside the board, or below it on a narrow screen. @param {string} name */
function slot(name) {
  const i = NAMES.indexOf(name);
  if (!narrow.matches) return { x: 112 + 21 * (i % 2), y: 88 - 25 * Math.floor(i / 2) };
  return i < 4 ? { x: 12.5 + 25 * i, y: -10 } : { x: 25 + 25 * (i - 4), y: -27 };
}

/** @param {string} name @param {number} i */
function spot(name, i) {
  const { x, y } = slot(name);
  const [width, height] = narrow.matches ? [24, 16] : [20, 24];
  const [left, top] = [x - width / 2, 100 - y - height / 2];
  const box = svg("rect", { x: left, y: top, width, height, rx: 1.5 });
  return svg("g", {}, box, svg("text", { x: left + 1.2, y: top + 3.6 }, String(i + 1)));
}

/** @param {string[]} hits */
function called(hits) {
  return hits.map((name) => (name === "BOUNDARY" ? "the edge of the board" : name)).join(" and ");
}

/** @param {number} value */
function within(value) {
  return Math.min(100, Math.max(0, value));
}

/** @param {number} degrees */
function radians(degrees) {
  return (degrees * Math.PI) / 180;
}

/** @param {Point[]} ring */
function path(ring) {
  return `M${ring.map(([x, y]) => `${x},${100 - y}`).join(" ")}z`;
}

// Convex polygons, counter-clockwise, y upwards.

/** A shape that is turned, then scaled. @param {Point[]} shape @param {Pose} pose @param {Point} scale @returns {Point[]} */
function placed(shape, pose, scale) {
  const [cos, sin] = [Math.cos(radians(pose.rotation)), Math.sin(radians(pose.rotation))];
  return shape.map(([x, y]) => [pose.x + scale[0] * (x * cos + y * sin), pose.y + scale[1] * (y * cos - x * sin)]);
}

/** @param {Point[]} ring @returns {[Point, Point][]} */
function sides(ring) {
  return ring.map((point, i) => [point, /** @type {Point} */ (ring[(i + 1) % ring.length])]);
}

/** @param {Point[]} one @param {Point[]} other */
function overlap(one, other) {
  return depth(one, other) > TOLERANCE && depth(other, one) > TOLERANCE;
}

/** How deep `b` reaches over the edge of `a` that it reaches over least. @param {Point[]} a @param {Point[]} b */
function depth(a, b) {
  const left = (/** @type {[Point, Point]} */ [[ax, ay], [bx, by]]) =>
    Math.max(...b.map(([x, y]) => ((y - ay) * (bx - ax) - (x - ax) * (by - ay)) / Math.hypot(bx - ax, by - ay)));
  return Math.min(...sides(a).map(left));
}

/**
 * The ways to move a polygon corner to corner, or corner to edge, with others near it; or to stay.
 * @param {Point[]} polygon @param {[Point, Point][]} others edges
 */
function pulls(polygon, others) {
  const own = sides(polygon);
  const edges = others.flatMap(([from, to]) => [
    ...polygon.map((corner) => across(from, to, corner)),
    ...own.map(([start, end]) => across(start, end, from).map((one) => -one)),
  ]);
  const corners = others.flatMap(([[x, y]]) => polygon.map((corner) => [x - corner[0], y - corner[1]]));
  const costed = (/** @type {number[][]} */ ways, /** @type {number} */ more) =>
    ways.map(([x = 0, y = 0]) => ({ by: [x, y], cost: Math.hypot(x, y) + more, far: Math.hypot(x, y) }));
  const near = [...costed(corners, 0), ...costed(edges, 1.5)].filter(({ far }) => far <= NEAR);
  return [{ by: [0, 0], cost: NEAR + 2 }, ...near].map(({ by, cost }) => ({ by: /** @type {Point} */ (by), cost }));
}

/**
 * The way from a point to an edge, square to it; far away where it meets the edge's line beyond its ends.
 * @param {Point} from @param {Point} to @param {Point} point @returns {Point}
 */
function across([ax, ay], [bx, by], [x, y]) {
  const [right, up] = [bx - ax, by - ay];
  const along = ((x - ax) * right + (y - ay) * up) / (right * right + up * up);
  return along < 0 || along > 1 ? [Infinity, 0] : [ax + along * right - x, ay + along * up - y];
}

const table = new Table();

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Tangram",

  draw(view, act) {
    table.update(view, act);
    const { moved } = view.state?.game_state ?? {};
    const who = view.state?.current_turn_agent_id ?? null;
    const deed = moved ? ` has put ${moved.shape}.` : " is looking for a piece.";
    const other = who !== null && who !== view.state?.agent_id;
    const word = other ? el("p", { class: "word" }, nameTag(view, who), deed) : table.word;
    return [table.facts, word, table.svg, table.end];
  },

  controls: () => table.controls(),
};
