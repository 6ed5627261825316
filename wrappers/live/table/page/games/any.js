/** A game without a page of its own: what it is about, in words of its fields, and what was done, as tables. */

import { commas, el, facts, number, table, words } from "../dom.js";
import { nameTag, outcome, placeOf } from "../names.js";

/** @import { View } from "../types.d.ts" */
/** @typedef {Record<string, any>} Fields @typedef {(Node | string)[]} Words */

/** Fields that have another place on the page, or repeat one. */
const ELSEWHERE = /^(seat|agent_ids|alive_players|phase|action_history|past_.*|statements|totals|rounds?|round_number|turns_left|num_.*|resolved|.)$/;
const NONE = "none"; // in place of a number that stands for nothing

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "",
  aim: true,

  draw(view, _act, options) {
    const before = cleared(view, stateBefore(view)?.game_state);
    const { phase = "", game_over: over } = view.state ?? {};
    const folds = view.own && view.pictures.some(Boolean); // the picture stands for the fields
    const game = cleared(view, view.state?.game_state);
    const round = !view.own && game.rounds > 1 ? `, round ${Math.min(game.round_number + 1, game.rounds)} of ${game.rounds}` : "";
    const entries = Object.entries(game).sort(([one], [other]) => Number(isOwn(other)) - Number(isOwn(one)));
    const isElsewhere = (/** @type {string} */ name) => !view.own && (ELSEWHERE.test(name) || isSaid(view, game, name));
    const told = entries.filter(([name, value]) => folds || !(blank(value) || isElsewhere(name)));
    const lists = told.filter(([, value]) => rowsOf(view, value).length);
    const ofThings = tabled(told.filter(([, value]) => isOfThings(view, value)));
    const fixed = told.filter(([name, value]) => !folds && value === options[name]);
    const plain = told.filter((one) => ![...lists, ...ofThings, ...fixed].includes(one));
    const said = [
      facts(plain.map(([name, value]) => fact(view, name, value, before[name]))),
      ...things(view, ofThings, before),
      ...lists.map(([name, value]) => list(view, name, rowsOf(view, value))),
    ];
    const others = told.filter(([name, value]) => changed(value, before[name]));
    const marked = others.map(([name]) => label(name).toLowerCase());
    return [
      ...(over || folds ? [] : [el("p", { class: "big" }, words(phase) + round)]),
      ...outcome(view, true),
      ...(folds ? [folded(said, marked)] : said),
      ...(view.own ? [] : rounds(view, game)),
      ...(over || view.own ? [] : actions(view, game)),
      ...(fixed.length ? [el("p", {}, ...commas(fixed.map(([name, value]) => [`${label(name)}: `, ...word(view, value)]), " · "))] : []),
    ];
  },
};

const unfold = el("summary");
const fold = el("details", { class: "fold" }, unfold, el("div"));

/** What a picture stands for: the same node, which stays open. @param {Node[]} said @param {string[]} marked */
function folded(said, marked) {
  unfold.textContent = `All fields${marked.length ? ` (changed: ${marked.join(", ")})` : ""}`;
  fold.lastElementChild?.replaceChildren(...said);
  return fold;
}

let turn = ""; // that of the latest state
/** The latest state, the one before what is marked, the one after the own action. @type {View["state"][]} */
let [latest = null, before = null, own = null] = [];

/**
 * The state to compare with: the one before the own action; in the own turn again, the one after it. So a person sees
 * what all others did since, and who looks on sees each action.
 * @param {View} view
 */
function stateBefore(view) {
  const { state } = view;
  if (state === null || latest === null || latest.match_id !== state.match_id || latest.agent_id !== state.agent_id) {
    before = null;
    own = state;
  } else if (turn !== view.turn || latest.game_over !== state.game_over) {
    const acted = latest.is_my_turn || view.you === null;
    before = acted ? latest : own;
    if (acted) own = state;
  }
  latest = state;
  turn = view.turn;
  return before;
}

// What is said of a field.

/** The fields, with words for what stands for nothing. @param {View} view @param {Fields} game @returns {Fields} */
function cleared({ unset }, game = {}) {
  const parts = (/** @type {string} */ _, /** @type {unknown} */ part) => (part === -1 ? NONE : part);
  const worded = unset.filter((name) => name in game).map((name) => [name, JSON.parse(JSON.stringify(game[name]), parts)]);
  return { ...game, ...Object.fromEntries(worded) };
}

/** Whether the outcome, or who has the own role, says the same. @param {View} view @param {Fields} game @param {string} name */
function isSaid(view, game, name) {
  const { outcome } = view.state ?? {};
  const value = game[name];
  if (isRecord(value)) {
    const column = name === "current_offer" ? "share" : name.replace(/s$/, "");
    const rows = new Map(outcome?.payoffs?.map((/** @type {any} */ row) => [row.agent_id, row[column]]));
    return Object.entries(value).every(([agent, one]) => one !== undefined && rows.get(agent) === one);
  }
  if (name.endsWith("last_round")) return value === false;
  if (name !== "my_role") return typeof value === "number" && outcome?.[name] === value;
  return [value, `${value}_id`, `${value}_ids`].flatMap((role) => game[role]).includes(view.state?.agent_id);
}

/** @param {unknown} value null stands for what is hidden @returns {value is Fields} */
function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The rows of a list of records, or of a record of each player. @param {View} view @param {unknown} value @returns {Fields[]} */
function rowsOf(view, value) {
  if (Array.isArray(value)) return value.every(isRecord) ? value : [];
  const players = isRecord(value) ? Object.entries(value).reverse() : [];
  const whole = players.every(([agent, one]) => placeOf(view, agent) && isRecord(one));
  return whole ? players.map(([agent_id, one]) => ({ agent_id, ...one })) : [];
}

/** Whether a value is about things, such as the issues of a negotiation. @param {View} view @param {unknown} value */
function isOfThings(view, value) {
  return isRecord(value) && Object.keys(value).length > 1 && !Object.keys(value).some((name) => placeOf(view, name));
}

/** Those facts of things that have a thing in common with another. @param {[string, any][]} told */
function tabled(told) {
  const shares = (/** @type {any} */ one, /** @type {any} */ other) => Object.keys(one).some((name) => name in other);
  return told.filter(([name, one]) => told.some(([else_, other]) => name !== else_ && shares(one, other)));
}

/** @param {unknown} value */
function blank(value) {
  if (value === null || typeof value !== "object") return value === null || value === NONE;
  return Object.values(value).every((part) => part === null || part === NONE);
}

/** @param {unknown} value @param {unknown} old undefined or null: not known */
function changed(value, old) {
  return old !== undefined && old !== null && JSON.stringify(old) !== JSON.stringify(value);
}

/** @param {string} name */
function isOwn(name) {
  return name.startsWith("my_");
}

/** The name of a field, or of a part of a record. @param {string} name */
function label(name) {
  const plain = name.replace(/^my_/, "your_").replace(/^opponents_/, "others_").replace(/^is_/, "");
  return words(plain.replace(/_ids$/, "s").replace(/_(id|agents)$/, ""));
}

/** In a record, agent_id is a player; at the top it names a role. @param {string} name */
function part(name) {
  return name === "agent_id" ? "Player" : label(name);
}

/** What a private field stands for, and behind it its name. @param {View} view @param {string} name */
function plainly({ words: said }, name) {
  const meaning = isOwn(name) && !name.endsWith("_role") ? said.get(name) : undefined;
  const term = words(name.replace(/^my_/, "")).toLowerCase();
  return meaning === undefined || meaning === `your ${term}` ? label(name) : `${words(meaning)} (${term})`;
}

/** @param {View} view @param {string} name @param {unknown} value @param {unknown} old */
function fact(view, name, value, old) {
  const one = !isRecord(value) && !Array.isArray(value) && changed(value, old);
  const was = one ? [" ", el("small", {}, "before: ", ...shown(view, old))] : [];
  return [plainly(view, name), [...shown(view, value, old), ...was]];
}

/** What was another before is marked. @param {View} view @param {unknown} value @param {any} [old] @returns {Words} */
function shown(view, value, old) {
  if (Array.isArray(value)) {
    const records = value.every(isRecord);
    return records ? value.map((one, i) => el("div", {}, ...shown(view, one, old?.[i]))) : commas(value.map((one) => shown(view, one)));
  }
  if (isRecord(value)) {
    const name = (/** @type {string} */ one) => (placeOf(view, one) ? nameTag(view, one) : part(one));
    return commas(Object.entries(value).map(([key, one]) => [name(key), ": ", ...shown(view, one, old?.[key])]));
  }
  return changed(value, old) ? [el("mark", {}, ...word(view, value))] : word(view, value);
}

/** @param {View} view @param {unknown} value no list and no object @returns {(Node | string)[]} */
function word(view, value) {
  if (typeof value === "boolean") return [value ? "yes" : "no"];
  if (typeof value === "number") return [number(value)];
  if (placeOf(view, String(value))) return [nameTag(view, String(value))];
  return [value === null ? "not known" : String(value).replaceAll("_", " ")];
}

// Tables; of what happened the latest stands first.

/** Facts of things: a row for each thing. @param {View} view @param {[string, any][]} told @param {Fields} before */
function things(view, told, before) {
  const names = [...new Set(told.flatMap(([, value]) => Object.keys(value)))];
  const cell = (/** @type {string} */ one, /** @type {string} */ name, /** @type {Fields} */ value) =>
    one in value ? shown(view, value[one], before[name]?.[one]) : "";
  const rows = names.map((one) => [label(one), ...told.map(([name, value]) => cell(one, name, value))]);
  return told.length ? [table("rounds things", "", ["", ...told.map(([name]) => label(name))], rows)] : [];
}

/** A list of what happened. @param {View} view @param {string} name @param {Fields[]} rows */
function list(view, name, rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row).filter((one) => row[one] !== null)))];
  const cells = rows.map((row) => names.map((one) => (row[one] == null ? "" : shown(view, row[one]))));
  return table("rounds", label(name), names.map(part), cells.reverse());
}

/** The rounds before, with what each player has won so far. @param {View} view @param {any} game */
function rounds(view, { past_rounds: past = [], round_number, totals }) {
  if (!past?.length) return [];
  const agents = view.seats.map((place) => place.agent_id);
  const chosen = (/** @type {Fields} */ phases, /** @type {string} */ agent) =>
    Object.values(phases).flatMap((choices) => (agent in choices ? [number(choices[agent] ?? 0)] : []));
  const rows = past.map((/** @type {Fields} */ one, /** @type {number} */ age) => [
    `Round ${round_number - age}`,
    ...agents.map((agent) => chosen(one, agent).join(", ") || "none"),
  ]);
  const sums = [`${words(view.unit)} so far`, ...agents.map((agent) => number(totals?.[agent] ?? 0))];
  return [table("rounds", "Rounds before", ["", ...agents.map((one) => [nameTag(view, one)])], [sums, ...rows])];
}

/** What was done in this round. @param {View} view @param {any} game */
function actions(view, { action_history: history, rounds }) {
  if (!history?.length) return [];
  const rows = history.map((/** @type {any} */ { agent_id, action, phase, round, ...more }) => [
    [nameTag(view, agent_id)],
    words(action),
    commas(Object.values(more).map((one) => shown(view, one))),
  ]);
  return [table("rounds", rounds > 1 ? "This round" : "So far", [], rows.reverse())];
}
