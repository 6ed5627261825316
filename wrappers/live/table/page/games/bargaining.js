/** Two split a pie. */

import { el, facts, number } from "../dom.js";
import { history, nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

/** @type {Record<string, string>} */
const SAID = { accept: "accepted", reject: "rejected", pass: "passed" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Bargaining",
  aim: true,

  draw(view, _act, { rounds }) {
    const { my_reservation_value: least, ...game } = view.state?.game_state;
    const round = Math.min(rounds, Math.floor(game.action_history.length / 2) + 1);
    return [
      facts([
        ["Round", `${round} of ${rounds}`],
        ...(least === undefined ? [] : [["Worth to you without a deal (reservation value)", number(least)]]),
      ]),
      el("p", { class: "big" }, ...(game.current_offer === null ? ["No offer stands."] : offer(view, game))),
      ...outcome(view),
      history(view, (row) => SAID[row.action] ?? `wants ${number(row.my_share ?? 0)}`),
    ];
  },

  label({ action_type }, view) {
    const { total, current_offer, my_reservation_value: least = 0 } = view.state?.game_state;
    if (action_type !== "accept") return { submit_offer: "Offer", reject: "Reject", pass: "Pass" }[action_type] ?? action_type;
    const gain = total - current_offer - least;
    return `Accept ${number(total - current_offer)}${gain < 0 ? `, and lose ${number(-gain)}` : ""}`;
  },

  hint: () => "What you want for yourself; the other gets the rest.",

  range(action, _field, view) {
    if (action.action_type !== "submit_offer") return null;
    const { total, my_reservation_value: least } = view.state?.game_state ?? {};
    const step = total / 100;
    const presets = [{ label: "half", value: total / 2 }, { label: "⅔", value: Math.round((200 * total) / 3) / 100 }];
    return { low: 0, high: total, step, start: Math.round((least + total) / 2 / step) * step, presets };
  },
};

/** The standing offer: what the proposer wants, and what is left. @param {View} view @param {any} game */
function offer(view, { last_offer_by: by, current_offer: wanted, total }) {
  const own = by === view.state?.agent_id;
  const rest = view.you === null ? "" : ` for ${own ? "the other" : "you"}`;
  const shares = `${own ? " want " : " wants "}${number(wanted)}: ${number(total - wanted)} is left${rest}.`;
  return [nameTag(view, by), shares];
}
