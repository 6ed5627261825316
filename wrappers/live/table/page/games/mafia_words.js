/** What people write: in place of names the ids that players have in the game, such as p3. */

/** @import { View } from "../types.d.ts" */

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
