/** Who is who: the names, colours and faces of people and programs for the agents of a TurnState. */

import { el, number, svg, words } from "./dom.js";

/** @import { Place, View } from "./types.d.ts" */

/** The colours of the seats, as in the server's pictures (envs/render/svg.py). */
const COLOURS = [
  ["#3b76b5", "#d1602f", "#2f8f6b", "#a05195", "#8a6d1f", "#4a4e9e", "#c23b4e", "#3a8fa3"],
  ["#6f7d2c", "#7a5c4f", "#5b8def", "#b8860b", "#1f7a4d", "#c471b5", "#50606f", "#93405a"],
].flat();
const PERSON = "M8 8.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2ZM1 15.5c0-4 3-6 7-6s7 2 7 6Z";
const PROGRAM = "M7.3 3V.5h1.4V3H14v10.5H2V3ZM4.5 6v3H7V6ZM9 6v3h2.5V6Z";

/**
 * A small picture in the seat's colour: a person, or a program.
 * @param {Pick<Place, "seat" | "program">} place
 */
export function face(place) {
  const name = place.program ? { role: "img", "aria-label": "program" } : { "aria-hidden": "true" };
  const path = svg("path", { d: place.program ? PROGRAM : PERSON, "fill-rule": "evenodd" });
  const fill = COLOURS[place.seat % COLOURS.length] ?? "";
  return svg("svg", { class: "face", viewBox: "0 0 16 16", fill, ...name }, path);
}

/**
 * @param {View} view
 * @param {string | null} agent
 * @returns {string}
 */
export function nameOf(view, agent) {
  const place = view.seats.find((one) => one.agent_id === agent);
  if (place === undefined) return agent ?? "nobody";
  const played = view.state?.game_over ? (place.played ?? place.name) : place.name; // who has left stays in the result
  return place.seat === view.you && played === place.name ? "You" : (played ?? `Seat ${place.seat + 1}`);
}

/**
 * What was done, from the earliest.
 * @param {View} view
 * @param {(row: any) => string} said
 */
export function history(view, said) {
  const rows = view.state?.game_state.action_history ?? [];
  const lines = rows.map((/** @type {any} */ row) => el("li", {}, nameTag(view, row.agent_id), ` ${said(row)}`));
  return el("ol", { class: "history", tabindex: 0 }, ...lines);
}

/**
 * @param {View} view
 * @param {string | null} agent
 */
export function nameTag(view, agent) {
  const place = view.seats.find((one) => one.agent_id === agent);
  return el("bdi", { class: "name" }, ...(place === undefined ? [] : [face(place)]), nameOf(view, agent));
}

/**
 * Words with names in them: in the game players have ids, such as p3; people read and write names.
 * @param {View} view
 * @param {string} words
 */
export function named(view, words) {
  const agents = view.seats.map((place) => place.agent_id);
  return words.replace(/[a-z_]\w*/gi, (id) =>
    agents.includes(id) ? (nameOf(view, id) === "You" ? ownName(view) : nameOf(view, id)) : id,
  );
}

/** @param {View} view */
function ownName(view) {
  return view.seats[view.you ?? -1]?.name ?? "me";
}

/**
 * The end of a match: why, and what everybody has of it.
 * @param {View} view
 * @param {boolean} [whole] whether to show all that the outcome says
 * @returns {Node[]}
 */
export function outcome(view, whole = false) {
  const end = view.state?.outcome;
  if (!end) return [];
  const numbers = (/** @type {object} */ one) =>
    whole ? Object.entries(one).filter(([name, value]) => typeof value === "number" && name !== "utility") : [];
  const facts = numbers(end).map(([name, value]) => `${words(name)} ${number(value)}`);
  const more = numbers(end.payoffs?.[0] ?? {}).map(([name]) => name);
  const rows = (end.payoffs ?? []).map((row) =>
    el(
      "tr",
      { class: row.utility > 0 ? "plus" : row.utility < 0 ? "minus" : "" },
      el("th", { scope: "row" }, nameTag(view, row.agent_id)),
      ...more.map((name) => el("td", { class: "plain" }, number(/** @type {any} */ (row)[name]))),
      el("td", {}, `${row.utility > 0 ? "+" : ""}${number(row.utility)}`),
    ),
  );
  return [
    el(
      "section",
      { class: "outcome", "aria-label": "Outcome" },
      el("h2", {}, words(end.reason ?? "over")),
      el("table", {}, el("thead", {}, el("tr", {}, ...["player", ...more, view.unit].map((name) => el("th", {}, words(name))))), el("tbody", {}, ...rows)),
      ...(facts.length ? [el("p", {}, facts.join(", "))] : []),
    ),
  ];
}
