/** Words with names in them. In the game players have ids, such as p3; people read and write names. */

import { nameOf } from "../names.js";

/** @import { View } from "../types.d.ts" */

/**
 * @param {View} view
 * @param {string} words
 */
export function named(view, words) {
  const agents = view.seats.map((place) => place.agent_id);
  return words.replace(/\bp\d+\b/g, (id) =>
    agents.includes(id) ? (nameOf(view, id) === "You" ? ownName(view) : nameOf(view, id)) : id,
  );
}

/** @param {View} view */
function ownName(view) {
  return view.seats[view.you ?? -1]?.name ?? "me";
}

/**
 * @param {View} view
 * @param {string} words
 */
export function identified(view, words) {
  const known = view.seats.filter((place) => (place.name ?? "").length > 1);
  const longest = known.sort((a, b) => (b.name ?? "").length - (a.name ?? "").length);
  if (!longest.length) return words;
  const names = longest.map((place) => (place.name ?? "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${names.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  return words.replace(
    pattern,
    (name) => longest.find((place) => place.name?.toLowerCase() === name.toLowerCase())?.agent_id ?? name,
  );
}
