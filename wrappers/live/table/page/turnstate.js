/** A seat at a table, over its WebSocket (wrappers/live/table/messages.py). */

import { newToken } from "./person.js";
import { CUT_OFF, LATE, Wire, blankView, seatKept } from "./wire.js";

/** @import { Action, Facts, MessageIntent } from "./types.d.ts" */

const SEAT = seatKept("parlour.seat"); // its number, who has it, and the token; or the wish for one

export class TurnStateClient extends Wire {
  /** @param {() => void} changed is called whenever the view is another @param {Facts} facts */
  constructor(changed, facts) {
    super();
    this.view = blankView();
    this.changed = changed;
    this.facts = facts;
    this.number = 0; // of the turn under way
    this.answered = -1; // the number of the turn that was answered
    /** @type {string[]} */
    this.said = []; // what was said, while there is no answer
    this.token = ""; // of the seat
    this.coming = false; // whether this connection has asked for the seat that is kept
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
          view.notice = LATE;
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
    this.view.notice = CUT_OFF;
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
