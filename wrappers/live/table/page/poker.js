/** Hold'em over the poker platform's WebSocket, as every agent plays it: register, join, connect; or look on. */

import { CUT_OFF, LATE, UNREACHABLE, Wire, bearer, blankView, seatKept, socketUrl, untilAnswered } from "./wire.js";

/** @import { Action, AllowedAction, Client, Facts } from "./types.d.ts" */

const SEAT = seatKept("parlour.poker.seat"); // the API key, the table, the session token
const GONE = ["UNAUTHORIZED", "INVALID_SESSION", "SESSION_EXPIRED", "TABLE_NOT_FOUND", "NOT_SEATED"];
const AGAIN = 1000; // milliseconds after which a picture that did not come is asked for again
const narrow = window.matchMedia("(max-width: 760px)");
const NOTHING = { type: "object", properties: {}, required: [] };

/** @implements {Client} */
export class PokerClient {
  /** @param {() => void} changed is called whenever the view is another @param {Facts} facts */
  constructor(changed, facts) {
    this.view = blankView();
    this.changed = changed;
    this.facts = facts;
    /** @type {Client["say"]} */
    this.say = null;
    this.sitOut = (/** @type {boolean} */ out) => this.sitOutNow(out);
    this.table = "";
    /** @type {any} */
    this.last = null; // the latest game_state
    this.answered = ""; // the token of the turn that was answered
    /** @type {any} */
    this.ended = null; // the latest hand that ended, and its results
    this.looks = 0; // requests for the picture
    this.lists = 0; // requests for the seats
    this.sitting = false; // whether a seat has been asked for, and there is no answer
    /** @type {Wire | null} */
    this.wire = null;
  }

  start() {
    narrow.onchange = () => this.last !== null && this.look();
    const seat = this.seat();
    if (seat === null) this.watch();
    else this.connect(seat);
  }

  /** @returns {{ api_key: string, table_id: string, ws_url: string, session_token: string } | null} */
  seat() {
    return JSON.parse(SEAT.get() ?? "null");
  }

  // Connections.

  /** @param {{ table_id: string, ws_url: string, session_token: string }} seat */
  connect(seat) {
    this.table = seat.table_id;
    this.forget();
    const url = new URL(seat.ws_url);
    url.searchParams.set("token", seat.session_token);
    url.searchParams.set("format", "agent");
    this.open(url.href);
    this.refresh();
  }

  async watch() {
    if (this.seat() !== null) return;
    this.view.you = null;
    this.forget();
    const [table] = (await this.rest("GET", "v1/tables")).tables;
    if (this.seat() !== null) return; // sat down meanwhile
    this.table = table.id;
    this.list(table);
    this.view.notice = "";
    this.open(socketUrl(`v1/tables/${encodeURIComponent(this.table)}/watch`));
  }

  /** Forget the latest state, the picture of another seat, and what was asked before. */
  forget() {
    this.last = this.ended = null;
    this.looks += 1;
    this.lists += 1;
    this.view.picture = "";
    this.view.drawn = null;
  }

  /** @param {string} url */
  open(url) {
    this.wire?.close();
    this.wire = new Wire(url, {
      open: () => this.changed(),
      message: (message) => this.receive(message),
      lost: () => this.lost(),
      closed: (code) => this.comesBack(code),
    });
  }

  lost() {
    this.view.status = "connecting";
    this.view.busy = false;
    this.changed();
  }

  /** @param {number} code @returns {boolean} */
  comesBack(code) {
    if (code === 1000 && this.view.status !== "over") {
      this.view.elsewhere = true; // the newest connection to a seat has it
      this.changed();
    }
    return code !== 1000 && code !== 1008;
  }

  // What the server says.

  /** @param {any} message */
  receive(message) {
    const view = this.view;
    switch (message.type) {
      case "welcome":
        view.you = message.seat;
        view.timeout = message.timeout;
        view.elsewhere = false;
        break;
      case "game_state":
        this.showState(message);
        this.look();
        break;
      case "hand_complete":
        if (view.state !== null) view.state.game_state.results = message.results;
        this.ended = { hand: message.hand, results: message.results };
        view.deadline = null;
        this.look();
        break;
      case "table_status":
        this.showStatus(message);
        break;
      case "player_joined":
      case "player_left":
        this.refresh();
        return;
      case "ack":
        view.notice = ""; // the turn is over when the next game_state says it
        break;
      case "error":
        view.busy = false;
        view.notice = message.message;
        this.answered = "";
        if (GONE.includes(message.code)) this.leaveSeat();
        break;
      default: // pong, and what later versions may say
        return;
    }
    this.changed();
  }

  /** Ask for the picture and the hand's history, which the platform's messages do not have. */
  async look() {
    const number = ++this.looks;
    const headers = bearer(this.seat()?.session_token);
    const form = narrow.matches ? "?narrow" : "";
    const reply = await fetch(`v1/tables/${encodeURIComponent(this.table)}/view${form}`, { headers }).catch(() => null);
    const answer = reply?.ok ? await reply.json().catch(() => null) : null;
    if (number !== this.looks) return; // asked again since
    if (answer === null) {
      const refused = reply !== null && reply.status >= 400 && reply.status < 500;
      if (!refused) window.setTimeout(() => number === this.looks && this.look(), AGAIN);
      return;
    }
    const { picture, ...drawn } = answer;
    const { view } = this;
    view.picture = picture;
    view.drawn = { ...drawn, ended: this.ended };
    view.watchers = drawn.watchers;
    view.bank = drawn.bank;
    view.deadline = drawn.left === null ? null : performance.now() + drawn.left;
    for (const place of view.seats) {
      place.out = drawn.out.includes(place.seat);
      place.waits = drawn.waits.includes(place.seat);
    }
    this.changed();
  }

  /** @param {any} message a game_state */
  showState(message) {
    const view = this.view;
    const mine = view.you !== null && message.turn === view.you;
    const fresh = this.last === null || this.last.seq !== message.seq || this.last.hand !== message.hand;
    const waited = this.last !== null && view.you !== null && this.last.turn === view.you;
    if (waited && fresh && this.last.turn_token !== this.answered) view.notice = LATE;
    this.last = message;
    view.status = "running";
    view.turn = `${message.hand} ${message.seq} ${view.you}`;
    if (fresh) {
      // Until `look` has it exactly.
      view.deadline = message.turn == null || !view.timeout ? null : performance.now() + view.timeout;
      view.bank = 0;
      view.busy = false;
    }
    for (const player of message.players) {
      const place = view.seats[player.seat];
      if (place !== undefined) place.name = player.name ?? `Seat ${player.seat + 1}`;
    }
    view.state = {
      match_id: this.table,
      game_id: "holdem",
      agent_id: view.you === null ? "" : String(view.you),
      phase: message.phase,
      is_my_turn: mine,
      current_turn_agent_id: message.turn == null ? null : String(message.turn),
      game_state: message,
      messages: [],
      allowed_actions: mine ? (message.actions ?? []).map(allowed) : [],
      game_over: false,
      outcome: null,
    };
  }

  /** @param {any} message a table_status */
  showStatus(message) {
    const view = this.view;
    if (message.status !== "ended") {
      view.status = "waiting";
      view.you = message.seat_id ?? null;
      this.refresh();
      return;
    }
    view.status = "over";
    view.busy = false;
    view.deadline = null;
    for (const place of view.seats) place.ready = false;
    if (view.state !== null) {
      view.state.game_over = true;
      view.state.is_my_turn = false;
      view.state.allowed_actions = [];
      view.state.game_state.final_stacks = message.final_stacks;
    }
    if (this.seat() === null) window.setTimeout(() => this.watch(), 1500);
  }

  // Seats.

  async refresh() {
    const request = ++this.lists;
    const table = await this.rest("GET", `v1/tables/${encodeURIComponent(this.table)}`);
    if (table !== null && request === this.lists) this.list(table);
    this.changed();
  }

  /** @param {any} table the public summary of a table */
  list(table) {
    this.view.seats = Array.from({ length: table.config.maxSeats }, (_, seat) => {
      const found = table.seats.find((/** @type {any} */ one) => one.seatId === seat && one.agentId !== null);
      const program = !(this.facts.people ?? []).includes(seat);
      const name = found === undefined ? null : (found.agentName ?? `Seat ${seat + 1}`);
      return { seat, agent_id: String(seat), name, program, connected: true, ready: true };
    });
    const latest = JSON.parse(SEAT.latest() ?? "{}");
    const held = latest.table_id === table.id && this.view.seats[latest.seat_id]?.name != null;
    this.view.back = this.seat() === null && held;
  }

  /** @param {string} name @param {string | null} token */
  async sit(name, token) {
    await this.once(async () => {
      const registered = await this.rest("POST", "v1/agents", { name }, token, true);
      if (registered !== null) await this.join(registered.api_key);
    });
  }

  /** Ask for a seat, unless one is being asked for: who clicks twice would get two. @param {() => Promise<void>} ask */
  async once(ask) {
    if (this.sitting) return;
    this.sitting = true;
    await ask().finally(() => (this.sitting = false));
  }

  /** @param {string} key the agent's API key */
  async join(key) {
    const [table] = (await this.rest("GET", "v1/tables")).tables;
    const taken = table.seats.map((/** @type {any} */ one) => (one.agentId === null ? null : one.seatId));
    const wish = (this.facts.people ?? []).find((seat) => !taken.includes(seat));
    const body = { client_protocol_version: "0.1", preferred_seat: wish ?? null };
    const joined = await this.rest("POST", "v1/tables/auto-join", body, key);
    if (joined === undefined) {
      // A seat whose token was lost is given back.
      await this.rest("POST", `v1/tables/${encodeURIComponent(table.id)}/leave`, {}, key, true);
      await this.join(key);
    } else if (joined !== null) {
      SEAT.set(JSON.stringify({ ...joined, api_key: key }));
      this.view.notice = "";
      this.view.state = null;
      this.connect(joined);
    }
  }

  async stand() {
    const seat = this.seat();
    this.wire?.close();
    if (seat !== null) {
      await this.rest("POST", `v1/tables/${encodeURIComponent(seat.table_id)}/leave`, {}, seat.api_key, true);
    }
    this.leaveSeat();
  }

  leaveSeat() {
    SEAT.drop();
    this.view.you = null;
    this.view.state = null;
    this.wire?.close();
    this.watch();
  }

  async again() {
    const seat = this.seat();
    if (seat !== null) await this.once(() => this.join(seat.api_key));
  }

  /** @param {boolean} out */
  async sitOutNow(out) {
    const path = `v1/tables/${encodeURIComponent(this.table)}/sit-out`;
    await this.rest("POST", path, { out }, this.seat()?.session_token ?? "");
    this.look();
  }

  files() {
    const { drawn, status } = this.view;
    const token = this.seat()?.session_token;
    const href = (/** @type {string} */ file) =>
      `v1/tables/${encodeURIComponent(this.table)}/ended/${file}${token ? `?token=${encodeURIComponent(token)}` : ""}`;
    if (!drawn?.hands) return [];
    const replay = status === "over" ? [{ label: "Replay", href: href("replay.html") }] : [];
    return [...replay, { label: "Hands (PHH)", href: href("hands.phhs") }];
  }

  comeBack() {
    const latest = this.view.back ? SEAT.latest() : null;
    if (latest !== null) SEAT.set(latest);
    this.view.elsewhere = this.view.back = false;
    this.view.status = "connecting"; // what is shown may be of an earlier turn
    this.start();
  }

  /** @param {Action} action */
  act(action) {
    const { turn_token, seq } = this.last;
    const choice = { turn_token, kind: action.action_type, ...action.payload };
    this.view.busy = this.wire?.send({ type: "action", action: choice, expected_seq: seq }) ?? false;
    if (this.view.busy) this.answered = turn_token;
    else this.view.notice = CUT_OFF;
    this.changed();
  }

  /**
   * A REST call. A refusal is shown to the person, and gives null; undefined: no answer came.
   * @param {string} method @param {string} path @param {object} [body] @param {string | null} [key]
   * @param {boolean} [again] whether it may be sent again while there is no answer @returns {Promise<any>}
   */
  async rest(method, path, body, key = null, again = method === "GET") {
    const headers = bearer(key);
    const text = body === undefined ? null : JSON.stringify(body);
    const ask = async () => {
      const reply = await fetch(path, { method, headers, body: text });
      const answer = await reply.json();
      if (reply.ok && this.view.notice === UNREACHABLE) this.view.notice = "";
      if (reply.ok) return answer;
      this.view.notice = answer.error.message;
      this.changed();
      return null;
    };
    const lost = () => {
      this.view.notice = UNREACHABLE;
      this.changed();
    };
    return again ? untilAnswered(ask, lost) : ask().catch(lost);
  }
}

/**
 * One of the platform's choices as an action with a payload.
 * @param {{ kind: string, min: number, max: number }} choice min and max of a raiseTo @returns {AllowedAction}
 */
function allowed(choice) {
  if (choice.kind !== "raiseTo") return { action_type: choice.kind, description: "", payload_schema: NOTHING };
  const amount = { type: "integer", minimum: choice.min, maximum: choice.max };
  const schema = { type: "object", properties: { amount }, required: ["amount"] };
  return { action_type: "raiseTo", description: "", payload_schema: schema };
}
