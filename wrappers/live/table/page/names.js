/** Who is who: the names of people and programs for the agents of a TurnState. */

import { el } from "./dom.js";

/** @import { View } from "./types.d.ts" */

/**
 * @param {View} view
 * @param {string | null} agent
 * @returns {string}
 */
export function nameOf(view, agent) {
  const place = view.seats.find((one) => one.agent_id === agent);
  if (place === undefined) return agent ?? "nobody";
  if (place.seat === view.you) return "You";
  return place.name ?? `Seat ${place.seat + 1}`;
}

/**
 * @param {View} view
 * @param {string | null} agent
 */
export function nameTag(view, agent) {
  return el("bdi", { class: "name" }, nameOf(view, agent));
}

/**
 * The end of a match: why, and what everybody has of it.
 * @param {View} view
 * @param {string} [unit]
 * @returns {Node[]}
 */
export function outcome(view, unit = "points") {
  const end = view.state?.outcome;
  if (!end) return [];
  const rows = (end.payoffs ?? []).map((row) =>
    el(
      "tr",
      { class: row.utility > 0 ? "plus" : row.utility < 0 ? "minus" : "" },
      el("th", { scope: "row" }, nameTag(view, row.agent_id)),
      el("td", {}, `${row.utility > 0 ? "+" : ""}${row.utility.toLocaleString("en", { maximumFractionDigits: 2 })}`),
    ),
  );
  return [
    el(
      "section",
      { class: "outcome", "aria-label": "Outcome" },
      el("h2", {}, (end.reason ?? "over").replaceAll("_", " ")),
      el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, "who"), el("th", {}, unit))), el("tbody", {}, ...rows)),
    ),
  ];
}
