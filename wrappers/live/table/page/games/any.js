/** A game without a page of its own: what it is about, in words of its fields, and what was done, as tables. */

import { el, number, words } from "../dom.js";
import { nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

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
    const folds = view.own && view.picture !== ""; // the picture stands for the fields
    const game = cleared(view, view.state?.game_state);
    const round = !view.own && game.rounds > 1 ? `, round ${Math.min(game.round_number + 1, game.rounds)} of ${game.rounds}` : "";
    const entries = Object.entries(game).sort(([one], [other]) => Number(isOwn(other)) - Number(isOwn(one)));
    const isElsewhere = (/** @type {string} */ name) => !view.own && (ELSEWHERE.test(name) || isSaid(view, game, name));
    const facts = entries.filter(([name, value]) => folds || !(blank(value) || isElsewhere(name)));
    const lists = facts.filter(([, value]) => rowsOf(view, value).length);
    const ofThings = tabled(facts.filter(([, value]) => isOfThings(view, value)));
    const marked = facts.filter(([name, value]) => changed(value, before[name])).map(([name]) => label(name).toLowerCase());
    const fixed = facts.filter(([name, value]) => !folds && value === options[name]);
    const plain = facts.filter((one) => ![...lists, ...ofThings, ...fixed].includes(one));
    const said = [
      el("dl", { class: "facts" }, ...plain.flatMap(([name, value]) => fact(view, name, value, before[name]))),
      ...things(view, ofThings, before),
      ...lists.map(([name, value]) => list(view, name, rowsOf(view, value))),
    ];
    return [
      ...(over || folds ? [] : [el("p", { class: "big" }, words(phase) + round)]),
      ...outcome(view, true),
      ...(folds ? folded(said, marked) : said),
      ...(view.own ? [] : rounds(view, game)),
      ...(over || view.own ? [] : actions(view, game)),
      ...(fixed.length ? [el("p", {}, ...fixed.flatMap(([name, value], i) => [i ? " · " : "", `${label(name)}: `, ...word(view, value)]))] : []),
    ];
  },
};

const unfold = el("summary");
const fold = el("details", { class: "fold" }, unfold, el("div"));

/**
 * What a picture stands for, to be unfolded; the same node each time, which stays open.
 * @param {Node[]} said
 * @param {string[]} marked the fields that others have changed
 */
function folded(said, marked) {
  unfold.textContent = `All fields${marked.length ? ` (changed: ${marked.join(", ")})` : ""}`;
  fold.lastElementChild?.replaceChildren(...said);
  return [fold];
}

/** @type {View["state"]} The latest state, */
let latest = null;
let turn = ""; // its turn,
/** @type {View["state"]} the one before the changes that are marked, */
let before = null;
/** @type {View["state"]} and the one after the latest own action. */
let own = null;

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

/**
 * @param {View} view
 * @param {string} name
 * @param {unknown} value
 * @param {unknown} old undefined: not known
 */
function fact(view, name, value, old) {
  const plain = value === null || typeof value !== "object";
  const was = plain && changed(value, old) ? [" ", el("small", {}, "before: ", ...shown(view, old))] : [];
  return [el("dt", {}, plainly(view, name)), el("dd", {}, ...shown(view, value, old), ...was)];
}

/**
 * @param {unknown} value
 * @param {unknown} old
 */
function changed(value, old) {
  return old !== undefined && old !== null && JSON.stringify(old) !== JSON.stringify(value);
}

/**
 * The fields of a state; "none" in place of each number that stands for nothing. Null is what is hidden.
 * @param {View} view
 * @param {Record<string, any>} game
 * @returns {Record<string, any>}
 */
function cleared({ unset }, game = {}) {
  const worded = (/** @type {string} */ name) =>
    JSON.parse(JSON.stringify(game[name]), (_, part) => (part === -1 ? NONE : part));
  return Object.fromEntries(Object.keys(game).map((name) => [name, unset.includes(name) ? worded(name) : game[name]]));
}

/**
 * Whether another part of the board says the same: the outcome, or the field that names who has the own role.
 * @param {View} view
 * @param {Record<string, any>} game
 * @param {string} name
 */
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

/**
 * A list of records, or a record of each player, as the rows of a table, from the earliest; empty: it is something else.
 * @param {View} view
 * @param {unknown} value
 * @returns {Record<string, unknown>[]}
 */
function rowsOf(view, value) {
  if (Array.isArray(value)) return value.every(isRecord) ? value : [];
  const players = isRecord(value) ? Object.entries(value).reverse() : [];
  const rows = players.flatMap(([agent_id, one]) => (isAgent(view, agent_id) && isRecord(one) ? [{ agent_id, ...one }] : []));
  return rows.length === players.length ? rows : [];
}

/**
 * Whether a value says something of several things that are no players, such as the issues of a negotiation.
 * @param {View} view
 * @param {unknown} value
 */
function isOfThings(view, value) {
  return isRecord(value) && Object.keys(value).length > 1 && !Object.keys(value).some((name) => isAgent(view, name));
}

/**
 * Those facts of things that have a thing in common with another.
 * @param {[string, any][]} facts
 */
function tabled(facts) {
  const shares = (/** @type {any} */ one, /** @type {any} */ other) => one !== other && Object.keys(one).some((name) => name in other);
  return facts.filter(([, value]) => facts.some(([, other]) => shares(value, other)));
}

/**
 * Whether a value has named parts. A list and null, which stands for what is hidden, have none.
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isRecord(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/**
 * Facts of things as a table: a row for each thing.
 * @param {View} view
 * @param {[string, any][]} facts
 * @param {Record<string, any>} before
 * @returns {Node[]}
 */
function things(view, facts, before) {
  if (!facts.length) return [];
  const names = [...new Set(facts.flatMap(([, value]) => Object.keys(value)))];
  const heads = facts.map(([name]) => el("th", { scope: "col" }, label(name)));
  const rows = names.map((one) => {
    const cells = facts.map(([name, value]) => el("td", {}, ...(one in value ? shown(view, value[one], before[name]?.[one]) : [])));
    return el("tr", {}, el("th", { scope: "row" }, label(one)), ...cells);
  });
  return [el("table", { class: "rounds things" }, el("thead", {}, el("tr", {}, el("td"), ...heads)), el("tbody", {}, ...rows))];
}

/**
 * A list of what happened, the latest first.
 * @param {View} view
 * @param {string} name
 * @param {Record<string, unknown>[]} rows
 */
function list(view, name, rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row).filter((one) => row[one] !== null)))];
  const heads = names.map((one) => el("th", { scope: "col" }, part(one)));
  const cell = (/** @type {unknown} */ value) => el("td", {}, ...(value == null ? [] : shown(view, value)));
  const lines = rows.map((row) => el("tr", {}, ...names.map((one) => cell(row[one]))));
  return el(
    "table",
    { class: "rounds" },
    el("caption", {}, label(name)),
    el("thead", {}, el("tr", {}, ...heads)),
    el("tbody", {}, ...lines.reverse()),
  );
}

/** @param {unknown} value */
function blank(value) {
  if (value === null || typeof value !== "object") return value === null || value === NONE;
  return Object.values(value).every((part) => part === null || part === NONE);
}

/** @param {string} name */
function isOwn(name) {
  return name.startsWith("my_");
}

/** @param {string} name */
function label(name) {
  const plain = name.replace(/^my_/, "your_").replace(/^opponents_/, "others_").replace(/^is_/, "");
  return words(plain.replace(/_ids$/, "s").replace(/_(id|agents)$/, ""));
}

/**
 * What a private field stands for, in plain words; its name stands behind them.
 * @param {View} view
 * @param {string} name
 */
function plainly({ words: said }, name) {
  const meaning = isOwn(name) && !name.endsWith("_role") ? said.get(name) : undefined;
  const term = words(name.replace(/^my_/, "")).toLowerCase();
  if (meaning === undefined || meaning === `your ${term}`) return label(name);
  return `${words(meaning)} (${term})`;
}

/**
 * The name of a part of a record. At the top, agent_id names a role.
 * @param {string} name
 */
function part(name) {
  return name === "agent_id" ? "Player" : label(name);
}

/**
 * A value: a number, a word, a player, or several of them. What was another before is marked.
 * @param {View} view
 * @param {unknown} value
 * @param {any} [old] undefined: not known
 * @returns {(Node | string)[]}
 */
function shown(view, value, old) {
  if (Array.isArray(value)) {
    if (value.every(isRecord)) return value.map((one, i) => el("div", {}, ...shown(view, one, old?.[i])));
    return value.flatMap((one, i) => [i ? ", " : "", ...shown(view, one, old?.[i])]);
  }
  if (value !== null && typeof value === "object") {
    return Object.entries(value).flatMap(([name, one], i) => [
      i ? ", " : "",
      ...(isAgent(view, name) ? [nameTag(view, name)] : [part(name)]),
      ": ",
      ...shown(view, one, old?.[name]),
    ]);
  }
  const words = word(view, value);
  return changed(value, old) ? [el("mark", {}, ...words)] : words;
}

/**
 * @param {View} view
 * @param {unknown} value no list and no object
 * @returns {(Node | string)[]}
 */
function word(view, value) {
  if (typeof value === "boolean") return [value ? "yes" : "no"];
  if (typeof value === "number") return [number(value)];
  if (isAgent(view, String(value))) return [nameTag(view, String(value))];
  return [value === null ? "not known" : String(value).replaceAll("_", " ")];
}

/**
 * @param {View} view
 * @param {string} name
 */
function isAgent(view, name) {
  return view.seats.some((place) => place.agent_id === name);
}

/**
 * The rounds before in a table, the latest first, with what each player has won so far.
 * @param {View} view
 * @param {any} game
 * @returns {Node[]}
 */
function rounds(view, game) {
  const past = game.past_rounds ?? [];
  if (!past.length) return [];
  const agents = view.seats.map((place) => place.agent_id);
  const heads = [el("td"), ...agents.map((one) => el("th", { scope: "col" }, nameTag(view, one)))];
  const row = (/** @type {string} */ name, /** @type {(agent: string) => string} */ cell) =>
    el("tr", {}, el("th", { scope: "row" }, name), ...agents.map((one) => el("td", {}, cell(one))));
  const chosen = (/** @type {Record<string, Record<string, number>>} */ phases, /** @type {string} */ agent) =>
    Object.values(phases).flatMap((choices) => (agent in choices ? [number(choices[agent] ?? 0)] : []));
  const rows = past.map((/** @type {any} */ one, /** @type {number} */ age) =>
    row(`Round ${game.round_number - age}`, (agent) => chosen(one, agent).join(", ") || "none"),
  );
  const totals = row(`${words(view.unit)} so far`, (agent) => number(game.totals?.[agent] ?? 0));
  return [
    el(
      "table",
      { class: "rounds" },
      el("caption", {}, "Rounds before"),
      el("thead", {}, el("tr", {}, ...heads)),
      el("tbody", {}, totals, ...rows),
    ),
  ];
}

/**
 * What was done in this round.
 * @param {View} view
 * @param {any} game
 * @returns {Node[]}
 */
function actions(view, { action_history, rounds }) {
  const history = action_history ?? [];
  if (!history.length) return [];
  const rows = history.map((/** @type {any} */ { agent_id: agent, action, phase, round, ...more }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, nameTag(view, agent)),
      el("td", {}, words(action)),
      el("td", {}, ...Object.values(more).flatMap((one, i) => [i ? ", " : "", ...shown(view, one)])),
    ),
  );
  return [el("table", { class: "rounds" }, el("caption", {}, rounds > 1 ? "This round" : "So far"), el("tbody", {}, ...rows.reverse()))];
}
