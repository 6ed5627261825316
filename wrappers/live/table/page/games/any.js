/** A game without a page of its own: what TurnState holds, as it stands there. */

import { el } from "../dom.js";
import { nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "",
  about: () => [],

  draw(view) {
    return [
      el("p", { class: "big" }, (view.state?.phase ?? "").replaceAll("_", " ")),
      part(view, view.state?.game_state ?? {}),
      ...outcome(view),
    ];
  },
};

/**
 * @param {View} view
 * @param {unknown} value
 * @returns {Node}
 */
function part(view, value) {
  if (Array.isArray(value)) return el("ol", { class: "history", tabindex: 0 }, ...value.map((one) => el("li", {}, part(view, one))));
  if (value !== null && typeof value === "object") {
    const rows = Object.entries(value).map(([name, one]) => [
      el("dt", {}, name.replaceAll("_", " ")),
      el("dd", {}, part(view, one)),
    ]);
    return el("dl", { class: "facts" }, ...rows.flat());
  }
  const agent = view.seats.some((place) => place.agent_id === value);
  return agent ? nameTag(view, String(value)) : document.createTextNode(value === null ? "—" : String(value));
}
