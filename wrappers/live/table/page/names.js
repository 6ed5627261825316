/** Who is who: the names, colours and faces of people and programs for the agents of a TurnState. */

import { el, number, svg, table, words } from "./dom.js";

/** @import { Place, View } from "./types.d.ts" */

/** The colours of the seats, as in the server's pictures (envs/render/svg.py). */
const COLOURS = [
  ["#3b76b5", "#d1602f", "#2f8f6b", "#a05195", "#8a6d1f", "#4a4e9e", "#c23b4e", "#3a8fa3"],
  ["#6f7d2c", "#7a5c4f", "#5b8def", "#b8860b", "#1f7a4d", "#c471b5", "#50606f", "#93405a"],
].flat();
const PERSON = "M8 8.2a3.6 3.6 0 1 0 0-7.2 3.6 3.6 0 0 0 0 7.2ZM1 15.5c0-4 3-6 7-6s7 2 7 6Z";
const PROGRAM = "M7.3 3V.5h1.4V3H14v10.5H2V3ZM4.5 6v3H7V6ZM9 6v3h2.5V6Z";

/** A small picture in the seat's colour: a person, or a program. @param {Pick<Place, "seat" | "program">} place */
export function face({ seat, program }) {
  const name = program ? { role: "img", "aria-label": "program" } : { "aria-hidden": "true" };
  const path = svg("path", { d: program ? PROGRAM : PERSON, "fill-rule": "evenodd" });
  return svg("svg", { class: "face", viewBox: "0 0 16 16", fill: COLOURS[seat % COLOURS.length] ?? "", ...name }, path);
}

/** @param {View} view @param {string | null} agent */
export function placeOf(view, agent) {
  return view.seats.find((one) => one.agent_id === agent);
}

/** @param {View} view @param {string | null} agent */
export function nameOf(view, agent) {
  const place = placeOf(view, agent);
  if (place === undefined) return agent ?? "nobody";
  const played = view.state?.game_over ? (place.played ?? place.name) : place.name; // who has left stays in the result
  return place.seat === view.you && played === place.name ? "You" : (played ?? `Seat ${place.seat + 1}`);
}

/** @param {View} view @param {string | null} agent */
export function nameTag(view, agent) {
  const place = placeOf(view, agent);
  return el("bdi", { class: "name" }, ...(place ? [face(place)] : []), nameOf(view, agent));
}

/** What was done, from the earliest. @param {View} view @param {(row: any, i: number) => string} said */
export function history(view, said) {
  /** @type {any[]} */
  const rows = view.state?.game_state.action_history ?? [];
  const lines = rows.map((row, i) => el("li", {}, nameTag(view, row.agent_id), ` ${said(row, i)}`));
  return el("ol", { class: "history", tabindex: 0 }, ...lines);
}

/**
 * Words with names in them: in the game players have ids, such as p3; people read and write names.
 * @param {View} view @param {string} words
 */
export function named(view, words) {
  const own = view.seats[view.you ?? -1];
  return words.replace(/[a-z_]\w*/gi, (id) => {
    if (!placeOf(view, id)) return id;
    return id === own?.agent_id ? (own.name ?? "me") : nameOf(view, id);
  });
}

/**
 * The end of a match: why, and what everybody has of it.
 * @param {View} view @param {boolean} [whole] whether to show all that the outcome says @returns {Node[]}
 */
export function outcome(view, whole = false) {
  const end = view.state?.outcome;
  if (!end) return [];
  const numbers = (/** @type {object} */ one) =>
    whole ? Object.entries(one).filter(([name, value]) => typeof value === "number" && name !== "utility") : [];
  const facts = numbers(end).map(([name, value]) => `${words(name)} ${number(value)}`);
  const more = numbers(end.payoffs?.[0] ?? {}).map(([name]) => name);
  const payoffs = (end.payoffs ?? []).map((/** @type {any} */ row) => [
    [nameTag(view, row.agent_id)],
    ...more.map((name) => number(row[name])),
    `${row.utility > 0 ? "+" : ""}${number(row.utility)}`,
  ]);
  const paid = table("", "", ["player", ...more, view.unit].map(words), payoffs);
  end.payoffs?.forEach(({ utility }, i) => {
    if (utility) paid.tBodies[0]?.rows[i]?.classList.add(utility > 0 ? "plus" : "minus");
  });
  const nodes = [el("h2", {}, words(end.reason ?? "over")), paid, ...(facts.length ? [el("p", {}, facts.join(", "))] : [])];
  return [el("section", { class: "outcome", "aria-label": "Outcome" }, ...nodes)];
}
