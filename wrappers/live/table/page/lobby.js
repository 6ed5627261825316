/** The lobby's page: tables to join, a form for a new one, and results. */

import { button, byId, commas, el, number, parts, words as say } from "./dom.js";
import { face } from "./names.js";
import { keepPerson, keyPart, lobbyKey, nextToken, person } from "./person.js";
import { UNREACHABLE, askFacts, untilAnswered } from "./wire.js";

/** @import { Lobby, Offer, Options, Preset, Result, Table } from "./types.d.ts" */

const EVERY = 3_000; // milliseconds between two looks
const STATUS = { waiting: "waits for players", running: "plays", over: "between two matches", ended: "has ended" };

const { status, notice, you, presets } = parts("status", "notice", "you", "presets");
const enter = byId("enter", HTMLFormElement);
const wish = byId("new", HTMLFormElement);
const game = byId("game", HTMLSelectElement);
const count = byId("count", HTMLInputElement);
const now = byId("now", HTMLButtonElement);
const all = byId("all", HTMLSelectElement);
const opponents = byId("opponents", HTMLFieldSetElement);
const options = byId("options", HTMLFieldSetElement);
const submit = /** @type {HTMLButtonElement} */ (wish.querySelector("[type=submit]"));

/** @type {{ offers: Offer[], presets: Preset[], names: Record<string, string>, locked: boolean }} */
const facts = await untilAnswered(askFacts, () => (status.textContent = UNREACHABLE));
let latest = ""; // what is shown
let looks = 0; // requests for it
let shown = 0; // the one whose answer is shown; older ones are of no use
/** @type {AbortController | null} */
let opening = null; // stops the opening of a table
/** @type {Promise<boolean> | null} */
let naming = null; // the name that was asked for, while there is no answer

/**
 * A call. A refusal is shown to the person, and gives null.
 * @param {string} method @param {string} path @param {string | null} token @param {object | null} [body]
 * @param {AbortSignal | null} [signal] @returns {Promise<any>}
 */
async function call(method, path, token, body = null, signal = null) {
  const headers = new Headers(token ? [["Authorization", `Bearer ${token}`]] : []);
  try {
    const reply = await fetch(path, { method, headers, signal, body: body === null ? null : JSON.stringify(body) });
    const answer = await reply.json();
    if (method !== "GET") notice.textContent = reply.ok ? "" : answer.message;
    return reply.ok ? answer : null;
  } catch {
    if (signal?.aborted) return null;
    status.textContent = UNREACHABLE;
    latest = "";
    return null;
  }
}

async function look() {
  const request = ++looks;
  /** @type {Lobby | null} */
  const lobby = await call("GET", "lobby", person()?.token ?? null);
  const text = JSON.stringify(lobby);
  if (lobby === null || text === latest || request < shown) return;
  [latest, shown] = [text, request];
  if (lobby.you === null && person() !== null) keepPerson(null); // of another lobby
  showPerson();
  list("tables", lobby.tables.map(tableRow), "No table is open. Open one.");
  list("results", lobby.results.map(resultRow), "No match is over yet.");
}

function showPerson() {
  const found = person();
  const locked = facts.locked && lobbyKey() === null;
  status.textContent = locked ? "A name needs the link that holds this lobby's key." : "";
  you.hidden = found === null;
  enter.hidden = found !== null || locked;
  you.replaceChildren("You are ", el("bdi", { class: "name" }, found?.name ?? ""), ".");
  for (const button of [submit, now, ...presets.querySelectorAll("button")]) button.disabled = locked || opening !== null;
}

/** @param {string} name */
function titleOf(name) {
  return offerOf(name)?.title ?? name;
}

/** @param {string} name */
function offerOf(name) {
  return facts.offers.find((offer) => offer.game === name);
}

/**
 * A player's name with its face; the server knows a program by what `parlour list` calls it.
 * @param {string} name @param {boolean} program
 */
function player(name, program) {
  return el("bdi", { class: "name" }, face({ seat: 14, program }), program ? (facts.names[name] ?? name) : name);
}

/** @param {Table} table */
function hasSeat(table) {
  return table.seats.some((seat) => !seat.program && (seat.name === null || !seat.here));
}

/** @param {string} id @param {HTMLElement[]} rows @param {string} none what is said where there are none */
function list(id, rows, none) {
  byId(id, HTMLElement).replaceChildren(...(rows.length ? rows : [el("li", {}, none)]));
}

/** @param {Table} table */
function tableRow(table) {
  const free = hasSeat(table);
  const verb = free ? "Join" : "Watch";
  const link = el("a", { href: `tables/${table.table_id}/`, class: "button", "aria-label": `${verb}: ${titleOf(table.game)}` }, verb);
  const names = table.seats.map(({ name, program }) => [name === null ? el("i", {}, "free") : player(name, program)]);
  const state = STATUS[/** @type {keyof typeof STATUS} */ (table.status)] ?? table.status;
  const words = state + (table.watchers ? `, ${table.watchers} watching` : "") + (table.listed ? "" : ", only with the link");
  const chosen = Object.entries(table.options).map(([name, value]) => ` ${say(name)}: ${value}`);
  const close = async () => {
    await call("DELETE", `tables/${table.table_id}`, person()?.token ?? null);
    look();
  };
  const title = el("span", {}, el("b", {}, titleOf(table.game)), ...chosen);
  const own = table.yours ? [button("Close", undefined, close, { "aria-label": `Close: ${titleOf(table.game)}` })] : [];
  return el("li", {}, title, el("span", { class: "who" }, ...commas(names)), words, link, ...own);
}

/** @param {Result} result */
function resultRow({ number: place, log, game, ended_at, players }) {
  const when = new Date(ended_at).toLocaleString();
  const won = players.map(({ name, program, payoff }, i) => {
    const before = players.slice(0, i).filter((one) => one.name === name).length;
    return [player(name, program), before ? ` ${before + 1}` : "", ` ${payoff > 0 ? "+" : ""}${number(payoff)}`];
  });
  const all = game === "holdem" ? ["Hands (PHH)", "hands.phhs"] : ["Log (JSON)", "log.jsonl"];
  const links = (log ? [["Replay", "replay.html"], all] : []).map(([label = "", file]) => {
    const which = `${label}: ${titleOf(game)}, ${when}`;
    return el("a", { href: `results/${place}/${file}`, target: "_blank", "aria-label": which }, label);
  });
  const who = el("span", { class: "who" }, ...commas(won), ` ${offerOf(game)?.unit ?? "points"}`);
  const time = el("time", { datetime: ended_at }, when);
  return el("li", {}, el("b", {}, titleOf(game)), who, time, el("span", { class: "files" }, ...links));
}

// The form of a new table.

/** @returns {Offer} */
function chosen() {
  return /** @type {Offer} */ (offerOf(game.value));
}

function showSeats() {
  const offer = chosen();
  count.value = String(offer.seats);
  byId("seating", HTMLElement).hidden = !offer.any_seats;
  byId("what", HTMLElement).textContent = `${extent(offer)}. ${offer.sentence}`;
  const fields = Object.entries(offer.options).map(([name, usual]) =>
    el("label", { class: "opponent" }, say(name), el("input", { name, placeholder: usual, maxlength: 200, autocomplete: "off" })),
  );
  options.replaceChildren(el("legend", { class: "unseen" }, "Options of the game"), ...fields);
  showOpponents();
}

/**
 * How many play and for how long.
 * @param {Offer} offer @param {number | null} [seats] default: as many as the game may have
 */
function extent({ any_seats, seats: usual, opponents: able, minutes }, seats = null) {
  const counts = able.flatMap((one) => one.seats);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  const players = seats ?? (any_seats && least < most ? `${least} to ${most}` : usual);
  return `${players} ${players === 1 ? "player" : "players"}${minutes ? `, about ${minutes} ${minutes === 1 ? "minute" : "minutes"}` : ""}`;
}

/** The games of a kind. A click on one chooses it for the new table. @param {string} kind */
function gamesOf(kind) {
  const rows = facts.offers.filter((offer) => offer.kind === kind).map((offer) => {
    const choose = button(offer.title, undefined, () => {
      game.value = offer.game;
      game.dispatchEvent(new Event("change"));
      wish.scrollIntoView({ block: "nearest" });
      submit.focus();
    });
    return el("li", {}, choose, ` ${extent(offer)}. ${offer.sentence}`);
  });
  return [el("h3", {}, kind), el("ul", {}, ...rows)];
}

function showOpponents() {
  const offer = chosen();
  const kept = wanted();
  const seats = Math.max(2, Math.min(16, Math.trunc(Number(count.value)) || offer.seats));
  const able = offer.opponents.filter((one) => one.seats.includes(seats));
  const programs = able.map(
    ({ name, trained }) => /** @type {const} */ ([name, trained ? `${facts.names[name]} (trained)` : facts.names[name]]),
  );
  const usual = able.find((one) => one.trained) ?? able.find((one) => one.name !== "random");
  const rows = Array.from({ length: seats - 1 }, (_, i) => {
    const options = [["", "a person"], ...programs].map(([value, label]) => el("option", { value }, label ?? ""));
    const select = el("select", {}, ...options);
    const before = kept[i] ?? usual?.name ?? "";
    select.value = programs.some(([name]) => name === before) ? before : "";
    return el("label", { class: "opponent" }, `Seat ${i + 1}`, select);
  });
  opponents.replaceChildren(el("legend", { class: "unseen" }, "Who plays with you"), ...rows);
  const first = rows[0]?.querySelector("select");
  all.replaceChildren(...[...(first?.options ?? [])].map((one) => one.cloneNode(true)));
  all.value = first?.value ?? "";
}

/** @returns {string[]} the chosen programs, "" for a person */
function wanted() {
  return [...opponents.querySelectorAll("select")].map((select) => select.value);
}

/** Take the name that is written, unless this person has one: whether there is one now. */
async function named() {
  if (person() !== null) return true;
  if (!enter.reportValidity()) return false;
  naming ??= takeName().finally(() => (naming = null));
  return naming;
}

async function takeName() {
  const body = { name: byId("name", HTMLInputElement).value.trim(), token: nextToken() };
  const found = await call("POST", "people", lobbyKey(), body);
  if (found === null) return false;
  keepPerson(found);
  shown = looks + 1; // what was asked before there was a name does not take it away
  return true;
}

enter.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!(await named())) return;
  const table = new URLSearchParams(location.search).get("table");
  if (table !== null) location.assign(`tables/${encodeURIComponent(table)}/`);
  latest = "";
  await look();
});
/**
 * Open a table and sit down there; say meanwhile what is done, and for how long.
 * @param {{ game: string, seats: number | null, opponents: string[], options: Options, listed: boolean }} body
 */
async function open(body) {
  if (!(await named()) || opening !== null) return;
  const stop = new AbortController();
  opening = stop;
  showPerson();
  const since = performance.now();
  const panel = byId("opening", HTMLElement);
  const line = /** @type {HTMLElement} */ (panel.querySelector("span"));
  const say = () => {
    const seconds = Math.round((performance.now() - since) / 1000);
    const programs = body.opponents.length ? "the rules and the other players" : "the rules";
    line.textContent = `The table of ${titleOf(body.game)} opens: ${programs} are being prepared, ${seconds} s.`;
  };
  say();
  panel.hidden = false;
  const ticking = window.setInterval(say, 1000);
  const table = await call("POST", "tables", person()?.token ?? null, body, stop.signal);
  window.clearInterval(ticking);
  panel.hidden = true;
  opening = null;
  showPerson();
  if (table !== null && !stop.signal.aborted) location.assign(`tables/${table.table_id}/?sit${keyPart()}`);
}

/**
 * The next table: one of the same game with a free seat, or else a new one with the same programs.
 * @param {string} before the table that the person comes from
 */
async function goOn(before) {
  /** @type {Lobby | null} */
  const lobby = await call("GET", "lobby", person()?.token ?? null);
  if (lobby === null) return void window.setTimeout(goOn, EVERY, before);
  history.replaceState(null, "", `${location.pathname}${keyPart()}`);
  const table = lobby.tables.find((one) => one.table_id === before);
  if (table === undefined || lobby.you === null) return;
  const others = lobby.tables.filter((one) => one.game === table.game && one !== table && one.listed);
  const free = others.find((one) => hasSeat(one) && one.seats.every((seat) => seat.name !== lobby.you));
  if (free !== undefined) return location.assign(`tables/${free.table_id}/?sit${keyPart()}`);
  const offer = offerOf(table.game);
  const opponents = table.seats.flatMap((seat) => {
    const kind = seat.program ? (seat.name ?? "").replace(/ \d+$/, "") : null; // "Tight 2" is one more "Tight"
    return offer?.opponents.find(({ name }) => facts.names[name] === kind)?.name ?? [];
  });
  const seats = offer?.any_seats ? table.seats.length : null;
  await open({ game: table.game, seats, opponents, options: table.options, listed: table.listed });
}

byId("opening", HTMLElement).addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement) opening?.abort();
});
wish.addEventListener("submit", (event) => {
  event.preventDefault();
  const programs = wanted();
  open({
    game: game.value,
    seats: chosen().any_seats ? programs.length + 1 : null,
    opponents: programs.filter((name) => name !== ""),
    options: Object.fromEntries(
      [...options.querySelectorAll("input")].flatMap(({ name, value }) => (value.trim() ? [[name, value.trim()]] : [])),
    ),
    listed: !byId("hidden", HTMLInputElement).checked,
  });
});
all.addEventListener("change", () => {
  for (const select of opponents.querySelectorAll("select")) select.value = all.value;
});
game.addEventListener("change", () => {
  opponents.replaceChildren();
  showSeats();
});
count.addEventListener("input", showOpponents);

const kinds = [...new Set(facts.offers.map((offer) => offer.kind))];
game.replaceChildren(
  ...kinds.map((kind) => {
    const offers = facts.offers.filter((offer) => offer.kind === kind);
    return el("optgroup", { label: kind }, ...offers.map((one) => el("option", { value: one.game }, one.title)));
  }),
);
byId("games", HTMLElement).replaceChildren(...kinds.flatMap(gamesOf));
showSeats();
const first = { game: game.value, seats: null, opponents: wanted().filter(Boolean), options: {}, title: chosen().title };
const [usual = first, ...others] = facts.presets;
const usually = offerOf(usual.game) ?? chosen();
/** @type {HTMLElement} */ (now.nextElementSibling).textContent = `${usual.title}, ${extent(usually, usual.seats ?? usually.seats)}`;
for (const [{ title, ...body }, button] of [
  /** @type {const} */ ([usual, now]),
  ...others.map((one) => /** @type {const} */ ([one, el("button", { type: "button" }, one.title)])),
]) {
  if (button !== now) presets.append(button);
  button.addEventListener("click", () => open({ ...body, listed: true }));
}
showPerson();
await look();
const before = new URLSearchParams(location.search).get("next");
if (before !== null) await goOn(before);
window.setInterval(() => document.hidden || look(), EVERY);
document.addEventListener("visibilitychange", () => document.hidden || look());
