/** A seat at a table, over its WebSocket (wrappers/live/table/messages.py), which comes back by itself. */

import { newToken } from "./person.js";
import { waitAfter } from "./wire.js";

/** @import { Action, Facts, MessageIntent, View } from "./types.d.ts" */

const PING_EVERY = 5_000;
const SILENCE = 5_000; // after a ping, before the connection is given up
const KEPT = location.pathname === "/" ? "parlour.seat" : `parlour.seat ${location.pathname}`; // one for each table of a lobby
/**
 * The seat's number, who has it, and the token; or the wish for one. It is kept in the tab, and once more for a tab that
 * is closed and opened anew.
 */
const SEAT = {
  /** @returns {string | null} this tab's */
  get: () => sessionStorage.getItem(KEPT),
  /** @returns {string | null} the latest of any tab */
  latest: () => localStorage.getItem(KEPT),
  /** @param {string} value what is asked for, and has no answer yet */
  ask: (value) => sessionStorage.setItem(KEPT, value),
  /** @param {string} value */
  set: (value) => [sessionStorage, localStorage].forEach((kept) => kept.setItem(KEPT, value)),
  drop: () => {
    if (localStorage.getItem(KEPT) === sessionStorage.getItem(KEPT)) localStorage.removeItem(KEPT); // else another tab's
    sessionStorage.removeItem(KEPT);
  },
};

export class Client {
  /** @param {() => void} changed is called whenever the view is another @param {Facts} facts */
  constructor(changed, facts) {
    /** @type {View} */
    this.view = {
      status: "connecting",
      seats: [],
      you: null,
      state: null,
      forecasts: null,
      turn: "",
      deadline: null,
      bank: 0,
      timeout: 0,
      busy: false,
      notice: "",
      pictures: [],
      key: "",
      unsaid: "",
      elsewhere: false,
      back: false,
      watchers: 0,
      match: 0,
      unit: "points",
      unset: [],
      own: false,
      words: new Map(),
    };
    this.changed = changed;
    this.facts = facts;
    this.number = 0; // of the turn under way
    this.answered = -1; // the number of the turn that was answered
    /** @type {string[]} */
    this.said = []; // what was said, while there is no answer
    this.token = ""; // of the seat
    this.coming = false; // whether this connection has asked for the seat that is kept
    this.failures = 0; // to connect, in a row
    this.over = false; // whether the table has been closed
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {number | undefined} */
    this.retry = undefined;
    /** @type {number | undefined} */
    this.silence = undefined;
  }

  // The connection.

  start() {
    window.setInterval(() => this.ping(), PING_EVERY);
    window.addEventListener("online", () => this.hurry());
    window.addEventListener("offline", () => this.socket !== null && this.lose());
    window.addEventListener("pagehide", () => this.forget()); // kept for "back", it would keep its seat
    window.addEventListener("pageshow", ({ persisted }) => persisted && this.hurry());
    document.addEventListener("visibilitychange", () => this.hurry());
    this.connect();
  }

  connect() {
    window.clearTimeout(this.retry);
    const url = new URL("ws", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.hash = "";
    const socket = new WebSocket(url);
    this.socket = socket;
    socket.onopen = () => {
      this.failures = 0;
      this.opened();
    };
    socket.onmessage = (event) => {
      window.clearTimeout(this.silence);
      this.silence = undefined;
      this.receive(JSON.parse(event.data));
    };
    socket.onclose = () => this.lose();
  }

  /** Give the connection up, and try again. */
  lose() {
    this.forget();
    this.lost();
    this.retry = window.setTimeout(() => this.connect(), waitAfter(this.failures));
    this.failures += 1;
  }

  forget() {
    window.clearTimeout(this.silence);
    this.silence = undefined;
    if (this.socket === null) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  hurry() {
    if (this.over || document.hidden) return;
    if (this.socket !== null) return this.ping();
    this.lost();
    this.connect();
  }

  ping() {
    if (this.send({ type: "ping" }) && this.silence === undefined) {
      this.silence = window.setTimeout(() => this.lose(), SILENCE);
    }
  }

  /** @param {object} message @returns {boolean} whether there is a connection */
  send(message) {
    if (this.socket === null || this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.over = true;
    this.forget();
    window.clearTimeout(this.retry);
  }

  /** @param {MessageIntent} intent */
  say(intent) {
    if (this.tell({ type: "say", intent })) this.said.push(intent.content);
    else this.view.unsaid = intent.content;
    this.changed();
  }

  opened() {
    const { wish, token } = this.kept();
    const back = (wish ?? token) !== undefined && !this.view.elsewhere;
    this.coming = back && this.tell(wish ?? { type: "sit", token });
  }

  /** @returns {{ wish?: { token: string }, token?: string }} */
  kept() {
    return JSON.parse(SEAT.get() ?? "{}");
  }

  lost() {
    this.view.status = "connecting";
    this.view.busy = false;
    this.unsay();
    this.changed();
  }

  /** Give back what was said and has no answer. */
  unsay() {
    this.view.unsaid = this.said.splice(0).join(" ");
  }

  /** @param {any} message */
  receive(message) {
    const view = this.view;
    switch (message.type) {
      case "seating":
        view.seats = message.seats;
        view.status = message.status;
        view.you = message.you;
        view.timeout = message.timeout;
        view.watchers = message.watchers;
        view.match = message.match;
        this.keep();
        break;
      case "seated":
        this.token = message.token;
        view.key = message.key;
        this.coming = false;
        view.elsewhere = false;
        view.notice = "";
        break;
      case "unseated":
        view.you = null;
        view.state = null;
        view.pictures = [];
        view.elsewhere = message.reason === "replaced";
        if (!view.elsewhere) SEAT.drop();
        break;
      case "state":
        if (this.coming) return; // of those who look on; the seat's comes next
        if (view.you !== null && view.state?.is_my_turn && ![this.answered, message.turn].includes(this.number)) {
          view.notice = "Your time was up, so the safe action was played for you.";
        }
        view.state = message.turn_state;
        view.pictures = message.pictures;
        view.forecasts = message.forecasts;
        view.busy = view.busy && this.number === message.turn;
        this.number = message.turn;
        view.turn = `${message.turn} ${message.turn_state.agent_id}`;
        view.deadline = message.left === null ? null : performance.now() + message.left;
        view.bank = message.bank;
        break;
      case "result":
        view.notice = message.result.ok ? "" : message.result.error_detail;
        if (message.turn === null) {
          const said = this.said.shift() ?? "";
          if (!message.result.ok) view.unsaid = said;
        } else if (!message.result.ok) {
          view.busy = false; // else the turn is over when the next state says it
          this.answered = -1;
        }
        break;
      case "error":
        if (message.code === "ALREADY_SEATED") break; // asked twice
        view.notice = message.message;
        if (message.code === "INVALID_TOKEN" || this.kept().wish) {
          SEAT.drop();
          if (this.coming) return this.lose(); // a new connection is sent what those who look on see
        }
        view.busy = false;
        this.unsay();
        break;
      case "pong":
        if (view.watchers === message.watchers) return;
        view.watchers = message.watchers;
        break;
      default: // what later versions may say
        return;
    }
    this.changed();
  }

  /** @param {object} message */
  tell(message) {
    if (this.send(message)) return true;
    this.view.notice = "There is no connection; it is being made again.";
    this.changed();
    return false;
  }

  /**
   * Ask for a seat, until there is an answer.
   * @param {string} name @param {string | null} token in a lobby it proves the person, and so the seat
   */
  sit(name, token) {
    const own = this.facts.lobby ? token : (this.kept().wish?.token ?? newToken());
    const wish = { type: "sit", name, token: own, access_token: token };
    SEAT.ask(JSON.stringify({ wish }));
    this.tell(wish);
  }

  /** @param {Action} action */
  act(action) {
    this.view.busy = this.tell({ type: "act", turn: this.number, response: { action } });
    if (this.view.busy) this.answered = this.number;
    this.changed();
  }

  comeBack() {
    const latest = this.view.back ? SEAT.latest() : null;
    if (latest !== null) SEAT.set(latest);
    this.view.elsewhere = this.view.back = false;
    this.opened();
  }

  /** Remember whose seat this is; or notice that one is held for who sat there in a tab that was closed. */
  keep() {
    const { view } = this;
    const place = view.seats[view.you ?? -1];
    const kept = place && JSON.stringify({ seat: place.seat, name: place.name, token: this.token });
    if (kept !== undefined && kept !== SEAT.get()) SEAT.set(kept);
    const { seat, name } = JSON.parse(SEAT.latest() ?? "{}");
    const held = view.seats[seat];
    view.back = place === undefined && SEAT.get() === null && held?.name === name && held?.connected === false;
  }
}
