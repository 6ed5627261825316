/** Two split a pie. */

import { el, number } from "../dom.js";
import { history, nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

const SAID = { accept: "accepted", reject: "rejected", pass: "passed" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Bargaining",
  aim: true,

  draw(view, _act, { rounds }) {
    const game = view.state?.game_state;
    const round = Math.min(rounds, Math.floor(game.action_history.length / 2) + 1);
    const facts = [["Round", `${round} of ${rounds}`]];
    if (game.my_reservation_value !== undefined) {
      facts.push(["Worth to you without a deal (reservation value)", number(game.my_reservation_value)]);
    }
    return [
      el("dl", { class: "facts" }, ...facts.flatMap(([name = "", value = ""]) => [el("dt", {}, name), el("dd", {}, value)])),
      ...(game.current_offer === null ? [el("p", { class: "big" }, "No offer stands.")] : [offer(view, game)]),
      ...outcome(view),
      history(view, (row) => SAID[/** @type {keyof typeof SAID} */ (row.action)] ?? `wants ${number(row.my_share ?? 0)}`),
    ];
  },

  label(action, view) {
    const game = view.state?.game_state;
    const left = game.total - game.current_offer;
    const gain = left - (game.my_reservation_value ?? 0);
    const words = {
      submit_offer: "Offer",
      accept: `Accept ${number(left)}${gain < 0 ? `, and lose ${number(-gain)}` : ""}`,
      reject: "Reject",
      pass: "Pass",
    };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },

  hint: () => "What you want for yourself; the other gets the rest.",

  range(action, field, view) {
    if (action.action_type !== "submit_offer") return null;
    const { total, my_reservation_value: least } = view.state?.game_state ?? {};
    const step = total / 100;
    return {
      low: 0,
      high: total,
      step,
      start: Math.round((least + total) / 2 / step) * step,
      presets: [
        { label: "half", value: total / 2 },
        { label: "⅔", value: Math.round((200 * total) / 3) / 100 },
      ],
    };
  },
};

/**
 * The standing offer: what the proposer wants, and what is left.
 * @param {View} view
 * @param {any} game
 */
function offer(view, game) {
  const left = ` for ${game.last_offer_by === view.state?.agent_id ? "the other" : "you"}`;
  const wants = game.last_offer_by === view.state?.agent_id ? " want " : " wants ";
  const rest = view.you === null ? "" : left;
  const shares = `${number(game.current_offer)}: ${number(game.total - game.current_offer)} is left${rest}.`;
  return el("p", { class: "big" }, nameTag(view, game.last_offer_by), wants, shares);
}
