/** A WebSocket that comes back: after an error, a sleep, a lost network. */

const WAITS = [250, 500, 1000, 2000, 4000]; // after each failure in a row, and then always the last
const PING_EVERY = 5_000;
const SILENCE = 5_000; // after a ping, before the connection is given up

export class Wire {
  constructor() {
    this.failures = 0;
    this.over = false;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {number | undefined} */
    this.retry = undefined;
    /** @type {number | undefined} */
    this.silence = undefined;
    this.listening = new AbortController();
  }

  opened() {}

  /** @param {any} _message */
  receive(_message) {}

  lost() {}

  start() {
    this.pinging = window.setInterval(() => this.ping(), PING_EVERY);
    const { signal } = this.listening;
    const atOnce = () => this.hurry();
    const cutOff = () => this.socket !== null && this.lose();
    window.addEventListener("online", atOnce, { signal });
    window.addEventListener("offline", cutOff, { signal });
    window.addEventListener("pagehide", () => this.forget(), { signal }); // kept for "back", it would keep its seat
    window.addEventListener("pageshow", ({ persisted }) => persisted && this.hurry(), { signal });
    document.addEventListener("visibilitychange", atOnce, { signal });
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
    window.clearInterval(this.pinging);
    this.listening.abort();
  }
}

/** @param {number} failures */
function waitAfter(failures) {
  return WAITS[Math.min(failures, WAITS.length - 1)];
}

/**
 * Ask until there is an answer.
 * @template Answer @param {() => Promise<Answer>} ask throws without one
 * @param {() => void} lost is called whenever it throws @returns {Promise<Answer>}
 */
export async function untilAnswered(ask, lost) {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      console.warn(error); // it may be a fault in the page's own script
      lost();
      await new Promise((resolve) => window.setTimeout(resolve, waitAfter(failures)));
    }
  }
}

/** The header that proves who asks. @param {string | null | undefined} token nothing is sent without one */
export function bearer(token) {
  return new Headers(token ? [["Authorization", `Bearer ${token}`]] : []);
}

/** What the server says of itself. */
export async function askFacts() {
  const reply = await fetch("facts.json");
  if (!reply.ok) throw new Error(reply.statusText);
  return reply.json();
}

/** The key to the table, if the link holds one: what stands behind the # never travels by itself. */
export function accessToken() {
  return location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : null;
}

/**
 * What this browser was given for its seat: kept in the tab, and once more for a tab that is closed and opened anew.
 * @param {string} name
 */
export function seatKept(name) {
  const key = location.pathname === "/" ? name : `${name} ${location.pathname}`; // each table of a lobby has its own
  return {
    /** @returns {string | null} this tab's */
    get: () => sessionStorage.getItem(key),
    /** @returns {string | null} the latest of any tab */
    latest: () => localStorage.getItem(key),
    /** @param {string} value what is asked for, and has no answer yet */
    ask: (value) => sessionStorage.setItem(key, value),
    /** @param {string} value */
    set: (value) => [sessionStorage, localStorage].forEach((kept) => kept.setItem(key, value)),
    drop: () => {
      if (localStorage.getItem(key) === sessionStorage.getItem(key)) localStorage.removeItem(key); // else another tab's
      sessionStorage.removeItem(key);
    },
  };
}

/** Shown to a person whose turn was over before the answer came. */
export const LATE = "Your time was up, so the safe action was played for you.";
/** Shown while the server does not answer. */
export const UNREACHABLE = "The server cannot be reached.";
/** Shown to a person who does something while there is no connection. */
export const CUT_OFF = "There is no connection; it is being made again.";

/** A blank view. @returns {import("./types.d.ts").View} */
export function blankView() {
  return {
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
}
