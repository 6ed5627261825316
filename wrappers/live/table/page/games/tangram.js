/** A tangram, built together: pieces are dragged, turned and put; the drawing stays in place while a finger holds a piece. */

import { el, fill, number, svg } from "../dom.js";
import { nameTag, outcome } from "../names.js";
import { inFigure, overlap, placed, pulls, sides } from "../polygons.js";
import { STEP, listen } from "./tangram_input.js";
import { NAMES, SHAPES, held, narrow, path, point, slot, spot, within } from "./tangram_pieces.js";

/** @import { Act, View } from "../types.d.ts" */
/** @import { Point, Pose } from "../polygons.js" */
/** @import { Drag } from "./tangram_input.js" */
/** @import { Held } from "./tangram_pieces.js" */

const NEAR = 4; // board units within which a piece snaps
const SMALL = 0.6; // how large pieces are in the drawer
const ARM = 17; // from a piece's centre to its handle
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
    /** @type {Map<string, number>} */
    this.angles = new Map(); // as they are drawn: a piece never turns the long way round

    this.board = svg("rect", { class: "ground", x: 0, y: 0, width: 100, height: 100, rx: 1.5 });
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
      ...[this.board, this.figure, this.slots, this.before, this.pile, this.arm, this.handle],
    );
    this.facts = el("div", { class: "build" });
    this.word = el("p", { class: "word", role: "status" });
    this.end = el("div", {});
    this.put = el("button", { type: "button", class: "main", "data-key": "p" }, "Put it here ", key("P"));

    listen(this);
    this.put.addEventListener("click", () => this.play());
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

  /**
   * @param {View} view
   * @param {Act} act
   */
  update(view, act) {
    this.view = view;
    this.act = act;
    if (view.turn !== this.turn) {
      this.turn = view.turn;
      this.drag = null;
      const lies = this.held === null ? undefined : this.game.on_board[this.held.name];
      this.held = this.mine && this.held !== null && lies ? held(this.held.name, lies) : null;
      const moved = this.game.moved?.shape;
      const well = moved !== undefined && this.game.on_board[moved].collisions.length === 0;
      if (this.ending && this.mine && well) this.act({ action_type: "finish", payload: {} });
      this.ending = false;
    }
    this.show();
  }

  /** Board units for one of the shapes' units, across and up: the board may be a little wider than high.
   * @returns {Point} */
  get scale() {
    for (const [name, { vertices }] of Object.entries(this.game.off_board)) {
      const shape = SHAPES[name] ?? [];
      const right = vertices.findIndex((/** @type {Point} */ _, /** @type {number} */ i) => shape[i]?.[0]);
      const up = vertices.findIndex((/** @type {Point} */ _, /** @type {number} */ i) => shape[i]?.[1]);
      return [vertices[right][0] / (shape[right]?.[0] ?? 1), vertices[up][1] / (shape[up]?.[1] ?? 1)];
    }
    const [name, one] = Object.entries(this.game.on_board)[0] ?? ["", { vertices: [], position: [0, 0], rotation: 0 }];
    const flat = placed(SHAPES[name] ?? [], { x: 0, y: 0, rotation: one.rotation }, [1, 1]);
    const ratio = (/** @type {0 | 1} */ axis) => {
      const i = flat.reduce(
        (best, point, i) => (Math.abs(point[axis]) > Math.abs(flat[best]?.[axis] ?? 0) ? i : best),
        0,
      );
      return (one.vertices[i][axis] - one.position[axis]) / (flat[i]?.[axis] ?? 1);
    };
    return [ratio(0), ratio(1)];
  }

  /**
   * Where a piece is drawn, and how large.
   * @param {string} name
   * @returns {Pose & { size: number, out: boolean }}
   */
  pose(name) {
    if (this.held?.name === name && this.held.out) return { ...this.held, size: 1 };
    const lies = this.game.on_board[name];
    if (lies !== undefined) return { ...held(name, lies), size: 1 };
    const rotation = this.held?.name === name ? this.held.rotation : 0;
    return { ...slot(name), rotation, size: SMALL, out: false };
  }

  /** The corners of a piece as it would lie. @param {string} name @param {Pose} pose */
  corners(name, pose) {
    return placed(SHAPES[name] ?? [], pose, this.scale);
  }

  // What is seen.

  show() {
    if (this.view?.state == null) return;
    const { game, held: mine } = this;
    this.svg.setAttribute("viewBox", narrow.matches ? "-1 -1 102 138" : "-1 -1 145 102");
    this.figure.setAttribute("d", game.silhouette.map(path).join(""));
    fill(
      this.slots,
      NAMES.map((name, i) => spot(name, i, narrow.matches)),
    );
    const scale = this.scale;
    for (const [name, node] of this.pieces) this.draw(name, node, scale);
    const from = game.moved?.from;
    const was = from ? this.corners(game.moved.shape, { ...point(from.position), rotation: from.rotation }) : [];
    this.before.setAttribute("points", was.map(([x, y]) => `${x},${100 - y}`).join(" "));
    const { x, y } = mine ?? { x: 0, y: 0 };
    const angle = ((mine?.rotation ?? 0) * Math.PI) / 180;
    const [tipX, tipY] = [x + ARM * Math.sin(angle), y + ARM * Math.cos(angle)];
    for (const node of [this.arm, this.handle]) node.classList.toggle("gone", !this.mine || mine === null || !mine.out);
    for (const [name, value] of Object.entries({ x1: x, y1: 100 - y, x2: tipX, y2: 100 - tipY })) {
      this.arm.setAttribute(name, String(value));
    }
    this.handle.setAttribute("cx", String(tipX));
    this.handle.setAttribute("cy", String(100 - tipY));
    this.svg.classList.toggle("mine", this.mine);
    this.put.hidden = !(mine?.out && mine.pending) || this.drag !== null || this.view.busy;
    const advice = this.advice();
    if (this.word.textContent !== advice) this.word.textContent = advice;
    fill(this.facts, this.progress());
    fill(this.end, outcome(this.view));
  }

  /**
   * @param {string} name
   * @param {SVGGElement} node
   * @param {Point} scale
   */
  draw(name, node, scale) {
    const { x, y, rotation, size, out } = this.pose(name);
    const shown = this.angles.get(name) ?? rotation;
    const angle = rotation + 360 * Math.round((shown - rotation) / 360);
    this.angles.set(name, angle);
    const [right, up] = [size * scale[0], size * scale[1]];
    node.style.transform = `translate(${x}px, ${100 - y}px) scale(${right}, ${up}) rotate(${angle}deg)`;
    const own = this.held?.name === name ? this.held : null;
    const hits = own?.pending ? [] : (this.game.on_board[name]?.collisions ?? []);
    node.classList.toggle("held", own !== null);
    node.classList.toggle("pending", own !== null && own.pending && own.out);
    node.classList.toggle("dragged", own !== null && this.drag !== null);
    node.classList.toggle("wrong", hits.length > 0);
    const where = out ? `at ${number(x)}, ${number(y)}, turned by ${number(rotation)} degrees` : "in the drawer";
    const wrong = hits.length ? `, overlaps ${hits.map(called).join(" and ")}` : "";
    node.setAttribute("aria-label", `${name}, ${where}${wrong}`);
    node.setAttribute("tabindex", this.mine ? "0" : "-1");
    if (own !== null && this.pile.lastChild !== node && document.activeElement !== node) this.pile.append(node);
  }

  progress() {
    const { game } = this;
    const meter = el("meter", { min: 0, max: 1, value: game.iou, "aria-label": "overlap with the figure" });
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
    if (view?.status !== "running" || !this.mine) return "";
    if (view.busy) return "…";
    const moved = game.moved?.shape;
    if (own !== null && moved !== undefined && moved !== own.name) {
      return `One piece moves in a turn: ${moved} goes back when you put ${own.name}.`;
    }
    if (own?.pending && own.out && this.drag === null) return `Put ${own.name} here, or move it on.`;
    const hits = moved === undefined ? [] : game.on_board[moved].collisions;
    if (hits.length) {
      return `${moved} overlaps ${hits.map(called).join(" and ")}. Move it: if your turn ends so, it goes back.`;
    }
    if (moved !== undefined && !inFigure(game.on_board[moved].vertices, game.silhouette)) {
      return `${moved} lies outside the figure, at least in part. Move it, or end your turn.`;
    }
    if (moved !== undefined) return `${moved} lies well. Adjust it, or end your turn.`;
    if (own !== null) return `${own.name}: drag it onto the figure; turn it with the buttons${touch ? "" : ", the wheel or R"}.`;
    return "Drag a piece onto the grey figure; it snaps to what is near. One piece a turn.";
  }

  controls() {
    const button = (/** @type {string} */ letter, /** @type {string} */ label, /** @type {() => void} */ does) => {
      const made = el("button", { type: "button", "data-key": letter }, `${label} `, key(letter.toUpperCase()));
      made.addEventListener("click", does);
      return made;
    };
    const finish = button("f", "End my turn", () => this.finish());
    finish.dataset["action"] = "finish";
    return [
      button("e", "⟲ Turn left", () => this.rotate(-STEP)),
      button("r", "⟳ Turn right", () => this.rotate(STEP)),
      this.put,
      finish,
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
    this.held = lies ? held(name, lies) : { name, ...slot(name), rotation: 0, out: false, pending: false };
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

  /**
   * The pose that fits, near this one: corner to corner if possible, and over no other piece.
   * @param {Held} own
   * @returns {Pose}
   */
  snapped(own) {
    const polygon = this.corners(own.name, own);
    const others = this.others(own.name);
    const edges = [...this.game.silhouette, ...others].flatMap(sides);
    const stay = { by: /** @type {Point} */ ([0, 0]), far: NEAR + 2, corners: true };
    const ways = [stay, ...pulls(polygon, edges, NEAR)].map(({ by, far, corners }) => {
      const moved = polygon.map(([x, y]) => /** @type {Point} */ ([x + by[0], y + by[1]]));
      const off = moved.some(([x, y]) => Math.min(x, y) < -0.01 || Math.max(x, y) > 100.01);
      const wrong = off || others.some((other) => overlap(moved, other));
      return { by, cost: far + (corners ? 0 : 1.5) + (wrong ? 100 : 0) };
    });
    const { by } = ways.reduce((best, way) => (way.cost < best.cost - 1e-9 ? way : best));
    return { x: within(own.x + by[0]), y: within(own.y + by[1]), rotation: own.rotation };
  }

  /** The corners of the pieces that lie on the board when this one is put: another one put before goes back.
   * @param {string} name
   * @returns {Point[][]} */
  others(name) {
    const { on_board: there, moved } = this.game;
    const stay = Object.keys(there).filter((one) => one !== name && one !== moved?.shape);
    const back = moved !== null && moved.shape !== name && moved.from !== null;
    const went = back
      ? [this.corners(moved.shape, { ...point(moved.from.position), rotation: moved.from.rotation })]
      : [];
    return [...stay.map((one) => there[one].vertices), ...went];
  }

  letGo() {
    this.drag = null;
    this.held = null;
    this.show();
  }
}

/** @param {string} name */
function called(name) {
  return name === "BOUNDARY" ? "the edge of the board" : name;
}

/** @param {string} letter */
function key(letter) {
  return el("kbd", { "aria-hidden": "true" }, letter);
}

const table = new Table();

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Tangram",

  draw(view, act) {
    table.update(view, act);
    const { moved } = view.state?.game_state ?? {};
    const who = view.state?.current_turn_agent_id ?? null;
    const busy = who !== null && who !== view.state?.agent_id ? el("p", { class: "word" }, nameTag(view, who), deed(moved)) : null;
    return [table.facts, ...(busy === null ? [table.word] : [busy]), table.svg, table.end];
  },

  controls: () => table.controls(),
};

/** @param {any} moved */
function deed(moved) {
  return moved ? ` has put ${moved.shape}.` : " is looking for a piece.";
}
