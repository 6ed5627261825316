/** The page: what a client's view has, shown; what a person does, handed to the client. */

import { Client } from "./client.js";
import { controlsOf } from "./controls.js";
import { MEANINGS, byId, el, fill, isWriting, parts, words } from "./dom.js";
import { face, named, nameOf, nameTag } from "./names.js";
import { keyPart, person } from "./person.js";
import { picture } from "./picture.js";
import { fieldWords, heading, inShort, written } from "./rules.js";
import { soundFor, soundLate } from "./sound.js";
import { UNREACHABLE, accessToken, askFacts, untilAnswered } from "./wire.js";

/** @import { Act, Facts, GamePage, Talk, View } from "./types.d.ts" */

const { board, controls, status, notice, clock, hand, seconds, beside, seats, files, watchers, messages, latest } = parts(
  "board", "controls", "status", "notice", "clock", "hand", "seconds", "beside", "seats", "files", "watchers", "messages", "latest",
);
const [sit, say] = [byId("sit", HTMLFormElement), byId("say", HTMLFormElement)];
const [ahead, stand] = [byId("ahead", HTMLButtonElement), byId("stand", HTMLButtonElement)];
const [again, out] = [byId("again", HTMLButtonElement), byId("out", HTMLButtonElement)];
const next = byId("next", HTMLAnchorElement);
const reader = byId("reader", HTMLSelectElement);
const text = byId("text", HTMLInputElement);

const narrow = window.matchMedia("(max-width: 760px)");
const NAME = "parlour.name";
const TALK = "message_only"; // the message box does that
/**
 * Short words of single games; in another game they may be something else.
 * @type {Record<string, Record<string, string>>}
 */
const SHORT = {
  common_agency: { exp: "expected" },
  sequential_investment: { inv: "investment" },
  voluntary_contribution: { vcm: "voluntary contributions" },
};

const lost = () => (status.textContent = UNREACHABLE);
/** @type {Facts} */
const facts = await untilAnswered(askFacts, lost);
/** @type {GamePage} */
const game = (await import(`./games/${facts.page}.js`).catch(begunAgain)).default; // a browser asks for a module once
for (const [short, meaning] of Object.entries({ ...SHORT[facts.game], ...facts.meanings })) MEANINGS.set(short, meaning);
const title = game.title || words(heading(facts.rules) || facts.game);
const short = inShort(facts.rules);
const aim = game.aim ? short : []; // stands on the board
const client = new Client(show, facts);
client.view.unit = facts.unit;
client.view.unset = facts.unset;
client.view.own = facts.own;
client.view.words = fieldWords(facts.rules);

let shown = ""; // the turn that the controls are for
let planned = false; // whether the choice before the turn is made
let seen = 0; // messages that have been in sight
let asked = false; // whether the seat of who opened the table has been asked for

/** @type {Act} */
const act = (action) => client.act(action);

/** Sit down at the table that this person has just opened. */
function sitAtOnce() {
  const found = person();
  if (!new URLSearchParams(location.search).has("sit") || found === null) return;
  if (client.view.you !== null) history.replaceState(null, "", `${location.pathname}${keyPart()}`);
  else if (client.view.status !== "connecting" && !asked) {
    asked = true;
    client.sit(found.name, found.token);
  }
}

/** To a table of a lobby that has been closed nobody comes back. */
async function closed() {
  const reply = await fetch("facts.json").catch(() => null);
  if (reply?.status !== 404) return;
  client.close();
  client.view.status = "closed";
  client.view.notice = "";
  show();
}

function show() {
  const view = client.view;
  if (facts.lobby) sitAtOnce();
  if (facts.lobby && view.seats.length && (view.status === "connecting" || view.notice === UNREACHABLE)) closed();
  status.textContent = sentence(view);
  byId("title", HTMLElement).textContent = view.match > 1 ? `${title}, match ${view.match}` : title;
  notice.textContent = view.notice;
  stand.hidden = view.you === null;
  sit.hidden = view.you !== null || view.elsewhere || ["connecting", "closed"].includes(view.status) || !canSit(view);
  const back = view.elsewhere || view.back;
  again.hidden = !(back || (view.you !== null && view.status === "over" && !own(view)?.ready));
  const label = view.elsewhere ? "Play in this window" : view.back ? "Back to my seat" : "Rematch";
  again.replaceChildren(`${label} `, el("kbd", { "aria-hidden": "true" }, "R"));
  next.hidden = !facts.lobby || view.status !== "over";
  out.hidden = !game.sitsOut || view.you === null || view.elsewhere || view.status !== "running";
  out.textContent = own(view)?.out ? "Sit in" : "Sit out";
  out.setAttribute("aria-pressed", String(own(view)?.out ?? false));
  showFiles();
  watchers.hidden = view.watchers === 0;
  watchers.textContent = `${view.watchers} watching`;
  seats.hidden = game.players === true && view.state !== null && !view.seats.some(open);
  seats.replaceChildren(...view.seats.map((place) => seat(view, place)));
  const named = game.players ? [] : view.seats; // where the drawing lists the players it has their names
  const names = named.map((one) => [one.agent_id, one.name ?? `Seat ${one.seat + 1}`]);
  const drawn = picture(view.pictures.at(narrow.matches ? -1 : 0) ?? "", Object.fromEntries(names));
  fill(board, view.state === null ? invitation(view) : [...aim, ...drawn, ...game.draw(view, act, facts.options)]);
  document.title = mine(view) ? `● Your turn: ${title}` : title;
  document.body.classList.toggle("mine", mine(view));
  document.body.classList.toggle("empty", view.state === null);
  showControls(view);
  const told = view.state === null ? null : (game.beside?.(view) ?? null);
  beside.hidden = told === null;
  byId("besides", HTMLElement).textContent = told?.title ?? "";
  beside.lastElementChild?.replaceChildren(...(told?.nodes ?? []));
  showMessages(view);
  showAhead(view);
  soundFor(view, mine(view));
  tick();
}

/** Links to what can be taken home; the same nodes while they are the same. */
function showFiles() {
  const log = game.files?.(client.view) ?? [["Log (JSON)", "log.jsonl"]];
  const over = client.view.status === "over";
  const links = [...(over ? [["Replay", "replay.html"]] : []), ...(over || game.files ? log : [])];
  const key = JSON.stringify(links);
  files.hidden = links.length === 0;
  if (files.dataset["links"] === key) return;
  files.dataset["links"] = key;
  files.replaceChildren(...links.map(([label = "", file]) => el("a", { href: `ended/${file}`, target: "_blank" }, label)));
}

/** What a table of a lobby has: the way back, the name chosen there, and the link that invites others. */
function showLobby() {
  const found = person();
  byId("lobby", HTMLElement).hidden = false;
  next.href = `../../?next=${location.pathname.split("/").at(-2)}${keyPart()}`;
  next.append(" ", el("kbd", { "aria-hidden": "true" }, "N"));
  const invite = byId("invite", HTMLElement);
  const link = /** @type {HTMLInputElement} */ (invite.querySelector("input"));
  invite.hidden = false;
  link.value = `${location.origin}${location.pathname}${keyPart()}`;
  link.addEventListener("focus", () => link.select());
  const field = byId("name", HTMLInputElement);
  field.required = false;
  /** @type {HTMLElement} */ (field.parentElement).hidden = true;
  /** @type {HTMLElement} */ (sit.querySelector("button")).replaceChildren(
    ...(found === null ? ["Choose a name in the lobby"] : ["Sit down as ", el("bdi", {}, found.name)]),
  );
}

/** The choice before the turn, which is played when the turn comes. @param {View} view */
function showAhead(view) {
  if (mine(view) && planned && !view.busy) {
    planned = false;
    const allowed = (view.state?.allowed_actions ?? []).map((one) => one.action_type);
    const chosen = game.ahead?.(view)?.actions.find((one) => allowed.includes(one));
    if (chosen !== undefined) act({ action_type: chosen, payload: {} });
  }
  const offer = view.status === "running" && !view.elsewhere && !mine(view) ? (game.ahead?.(view) ?? null) : null;
  planned &&= offer !== null;
  ahead.hidden = offer === null;
  ahead.setAttribute("aria-pressed", String(planned));
  if (offer === null || ahead.dataset["key"] === offer.key) return;
  ahead.dataset["key"] = offer.key;
  ahead.replaceChildren(`${offer.label} `, el("kbd", { "aria-hidden": "true" }, offer.key.toUpperCase()));
}

/** What stands on an empty table. @param {View} view */
function invitation(view) {
  const none = view.status === "over" ? "The match is over." : "The match has not begun.";
  const wanted = view.you === null && view.seats.some(open) ? "Write your name and sit down." : none;
  const words = view.status === "running" ? "This game shows nothing to those who look on." : wanted;
  return [el("p", { class: "big" }, words), ...(short.length ? short : written(facts.rules))];
}

/** The person's own seat. @param {View} view */
function own(view) {
  return view.seats[view.you ?? -1];
}

/** @param {View} view */
function mine(view) {
  return view.status === "running" && !view.elsewhere && view.you !== null && (view.state?.is_my_turn ?? false);
}

/**
 * Whether a seat can be taken now: of a match under way none, but in a lobby one's own, while one is away from it.
 * @param {View} view
 */
function canSit(view) {
  const now = game.sitsOut || view.status !== "running";
  const own = facts.lobby ? person()?.name : undefined;
  return view.seats.some((place) => open(place) && (now || (place.name === own && !view.back)));
}

/** @param {import("./types.d.ts").Place} place */
function open(place) {
  return !place.program && (place.name === null || !place.connected);
}

/** @param {View} view @returns {string} */
function sentence(view) {
  if (view.elsewhere) return "You play in another window.";
  const missing = view.seats.filter((place) => place.name === null || !place.connected).length;
  switch (view.status) {
    case "connecting":
      return view.seats.length ? "The connection is lost. Connecting again…" : "Connecting…";
    case "closed":
      return "This table has been closed.";
    case "waiting":
      if (missing === 1 && view.you === null) return "Sit down, and it begins.";
      return missing ? `Waiting for ${missing} more to sit down.` : "It begins.";
    case "over":
      if (own(view)?.ready) return `Waiting for ${missing ? "somebody to sit down" : awaited(view)}.`;
      return missing ? "The match is over; somebody is missing for the next." : "The match is over.";
    case "running":
      if (mine(view)) return "It is your turn.";
      if (own(view)?.out) return "You sit out.";
      if (view.state === null) return `A match is under way.${away(view)}`;
      if (view.state.current_turn_agent_id === null) return game.between ?? "Others choose in secret.";
      return `${nameOf(view, view.state.current_turn_agent_id)} is to act.${away(view)}`;
  }
}

/** When somebody who looks on can have the seat of a person who is away or has left. @param {View} view */
function away(view) {
  return view.you === null && view.seats.some(open) ? " A seat is free after it." : "";
}

/** Load the page again in a while. @returns {Promise<never>} */
function begunAgain() {
  lost();
  setTimeout(() => location.reload(), 1000);
  return new Promise(() => {});
}

/** Who has yet to want a rematch. @param {View} view */
function awaited(view) {
  const names = view.seats.filter((place) => !place.ready).map((place) => nameOf(view, place.agent_id));
  return names.length ? names.join(", ") : "the others";
}

/** @param {View} view @param {import("./types.d.ts").Place} place */
function seat(view, place) {
  const turn = view.status === "running" && view.state?.current_turn_agent_id === place.agent_id;
  const name = place.name === null ? el("i", {}, "free") : el("bdi", {}, place.name);
  const note = [
    place.seat === view.you ? "you" : "",
    /\d/.test(place.agent_id) ? "" : words(place.agent_id).toLowerCase(), // a role, not a number
    place.name !== null && !place.connected ? "away" : "",
    place.out ? "sits out" : place.waits ? "waits for the big blind" : "",
    view.status === "over" && place.name !== null && place.ready && !place.program ? "ready" : "",
  ]
    .filter(Boolean)
    .join(", ");
  const attributes = { class: turn ? "turn" : null, "aria-current": turn ? "true" : null };
  return el("li", attributes, ...(place.name === null ? [] : [face(place)]), name, note && ` (${note})`);
}

/** @param {View} view */
function showControls(view) {
  const turn = mine(view) ? view.turn : "";
  if (turn !== shown) {
    shown = turn;
    controls.dataset["turn"] = turn;
    const focused = document.activeElement ?? document.body;
    const held = focused === document.body || controls.contains(focused) || !focused.checkVisibility();
    const leads = view.state?.game_state.highest_bidder === view.state?.agent_id; // who would only lose by leaving
    const unasked = [TALK, ...(turn && leads ? ["fold"] : [])];
    const allowed = turn ? (view.state?.allowed_actions ?? []).filter((one) => !unasked.includes(one.action_type)) : [];
    const own = turn && game.controls !== undefined ? game.controls(view, act) : null;
    controls.replaceChildren(...(own ?? controlsOf(allowed, view, game, act)));
    board.classList.toggle("picks", turn !== "" && game.pick !== undefined);
    if (held && turn) controls.focus({ preventScroll: true }); // not a button: a key pressed too late would press it
  }
  for (const button of controls.querySelectorAll("button")) button.disabled = view.busy;
}

/** @param {View} view @returns {Talk} */
function talk(view) {
  if (game.talk !== undefined) return game.talk(view);
  const others = view.seats.filter((place) => place.seat !== view.you);
  const each = others.map((place) => ({ label: nameOf(view, place.agent_id), to: [place.agent_id] }));
  return {
    title: "Messages",
    readers: others.length ? [{ label: "everybody", to: null }, ...(others.length > 1 ? each : [])] : [],
    heard: view.state?.messages ?? [],
  };
}

/** @param {View} view */
function showMessages(view) {
  const { title, readers, heard: said } = talk(view);
  const writes = view.you !== null && view.status === "running" && readers.length > 0;
  byId("talk", HTMLElement).textContent = title;
  byId("chat", HTMLElement).hidden = !writes && said.length === 0;
  say.hidden = !writes;
  const atEnd = messages.scrollHeight - messages.scrollTop - messages.clientHeight < 8;
  const kept = messages.dataset.match === view.state?.match_id ? messages.children.length : 0;
  if (kept === 0 || kept > said.length) {
    messages.replaceChildren();
    seen = 0;
  }
  messages.dataset.match = view.state?.match_id ?? "";
  messages.append(...said.slice(messages.children.length).map((one) => message(view, one)));
  if (atEnd) messages.scrollTop = messages.scrollHeight;
  const wanted = readers.map(({ label, to }) => ({ label, value: JSON.stringify(to) }));
  const options = [...reader.options].map(({ text: label, value }) => ({ label, value }));
  if (JSON.stringify(options) !== JSON.stringify(wanted)) {
    reader.replaceChildren(...wanted.map(({ label, value }) => el("option", { value }, label)));
  }
  reader.hidden = wanted.length === 1;
  if (view.unsaid && text.value === "") text.value = view.unsaid;
  view.unsaid = "";
  showLatest(view, said);
}

/** Whether the end of the messages is on the screen. */
function inSight() {
  const { bottom } = messages.getBoundingClientRect();
  return bottom > 0 && bottom <= window.innerHeight;
}

/**
 * What was said last, where the messages themselves are out of sight: below a telephone's screen.
 * @param {View} view @param {import("./types.d.ts").Message[]} said
 */
function showLatest(view, said) {
  const one = said.at(-1);
  if (one === undefined || inSight() || own(view)?.agent_id === one.sender_id) seen = said.length;
  latest.hidden = one === undefined || seen >= said.length;
  if (one !== undefined && !latest.hidden) latest.replaceChildren(nameTag(view, one.sender_id), ": ", named(view, one.content));
}

/** @param {View} view @param {import("./types.d.ts").Message} one */
function message(view, one) {
  const to =
    one.scope === "private" ? ` to ${(one.to_agent_ids ?? []).map((agent) => nameOf(view, agent)).join(", ")}` : "";
  return el(
    "li",
    { class: one.scope },
    nameTag(view, one.sender_id),
    `${to}: `,
    el("bdi", { dir: "auto" }, named(view, one.content)),
  );
}

function tick() {
  const { deadline, timeout, bank: most, status: now } = client.view;
  clock.hidden = deadline === null || now !== "running";
  if (deadline === null) return;
  const left = Math.max(0, deadline - performance.now());
  const bank = Math.min(left, most);
  const [turn = 0, more = 0] = [left - bank, bank].map((one) => Math.ceil(one / 1000));
  const mostly = turn > 120 ? `${Math.floor(turn / 60)} min` : `${turn} s`;
  seconds.textContent = bank === 0 ? mostly : turn ? `${mostly} + ${more} s` : `time bank: ${more} s`;
  hand.style.width = `${Math.min(100, (100 * left) / (timeout + most || 1))}%`;
  clock.classList.toggle("bank", most > 0 && turn === 0);
  clock.classList.toggle("late", left < 10_000);
  if (left < 10_000 && timeout > 10_000) soundLate(mine(client.view) ? client.view.turn : "");
}

sit.addEventListener("submit", (event) => {
  event.preventDefault();
  if (facts.lobby) {
    const found = person();
    if (found !== null) client.sit(found.name, found.token);
    else location.assign(`../../?table=${location.pathname.split("/").at(-2)}${keyPart()}`);
    return;
  }
  const name = byId("name", HTMLInputElement).value.trim();
  if (name === "") return;
  localStorage.setItem(NAME, name);
  client.sit(name, accessToken());
});
stand.addEventListener("click", () => client.tell({ type: "stand" }));
out.addEventListener("click", () => {
  client.answered = client.number; // the turn that is over with it, if it is the own one
  client.tell({ type: "sit_out", out: out.getAttribute("aria-pressed") === "false" });
});
again.addEventListener("click", () => (client.view.elsewhere || client.view.back ? client.comeBack() : client.tell({ type: "again" })));
board.addEventListener("click", (event) => {
  const found = event.target instanceof Element ? event.target.closest("[data-agent]") : null;
  if (found !== null && shown) game.pick?.(found.getAttribute("data-agent") ?? "", controls);
});
ahead.addEventListener("click", () => {
  planned = !planned;
  show();
});
latest.addEventListener("click", () => byId("chat", HTMLElement).scrollIntoView({ block: "end" }));
say.addEventListener("submit", (event) => {
  event.preventDefault();
  const content = text.value.trim();
  if (content === "") return;
  const to = JSON.parse(reader.value);
  client.say({ scope: to === null ? "public" : "private", content, to_agent_ids: to });
  text.value = "";
});
document.addEventListener("scroll", () => !latest.hidden && inSight() && show(), { passive: true });
document.addEventListener("keydown", (event) => {
  if (isWriting(event) || event.ctrlKey || event.metaKey || event.altKey || !/^[a-z0-9]$/.test(event.key)) return;
  const target = document.querySelector(`main [data-key="${event.key}"]:not(:disabled, [hidden])`);
  if (target instanceof HTMLElement && target.checkVisibility()) {
    event.preventDefault();
    target.click();
  }
});
window.setInterval(tick, 250);
narrow.addEventListener("change", show);

byId("about", HTMLElement).append(...written(facts.rules));
byId("name", HTMLInputElement).value = localStorage.getItem(NAME) ?? "";
if (facts.lobby) showLobby();
show();
client.start();
