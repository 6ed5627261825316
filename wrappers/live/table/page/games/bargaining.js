/** Two split a pie. */

import { el, number } from "../dom.js";
import { nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Bargaining",
  about: ({ rounds, discount }) => [
    "Two share a pie. In turn, say how much of it you want, or take what the other leaves you.",
    "To reject an offer takes it off the table; to pass leaves it there.",
    "What you gain is your share less what it is worth to you to go without; only you know how much that is.",
    `Without a deal after ${rounds} rounds, nobody gains anything.`,
    ...(discount < 1 ? [`With every round the pie shrinks to ${number(100 * discount)} % of what it was.`] : []),
  ],

  draw(view, act, { rounds }) {
    const game = view.state?.game_state;
    const round = Math.min(rounds, Math.floor(game.action_history.length / 2) + 1);
    const facts = [el("dt", {}, "The pie"), el("dd", {}, number(game.total))];
    if (game.my_reservation_value !== undefined) {
      facts.push(el("dt", {}, "Worth to you without a deal"), el("dd", {}, number(game.my_reservation_value)));
    }
    if (game.opponent_reservation_value !== undefined) {
      facts.push(el("dt", {}, "To the other"), el("dd", {}, number(game.opponent_reservation_value)));
    }
    facts.push(el("dt", {}, "Round"), el("dd", {}, `${round} of ${rounds}`));
    return [
      el("dl", { class: "facts" }, ...facts),
      ...(game.current_offer === null ? [el("p", { class: "big" }, "No offer stands.")] : [offer(view, game)]),
      ...outcome(view),
      el(
        "ol",
        { class: "history", tabindex: 0 },
        ...game.action_history.map((/** @type {any} */ row) => el("li", {}, nameTag(view, row.agent_id), said(row))),
      ),
    ];
  },

  label(action, view) {
    const game = view.state?.game_state;
    const words = {
      submit_offer: "Offer",
      accept: `Accept ${number(game.total - game.current_offer)}`,
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

/** @param {any} row */
function said(row) {
  const words = { submit_offer: `: ${number(row.my_share ?? 0)} wanted`, accept: ": accepted", reject: ": rejected" };
  return words[/** @type {keyof typeof words} */ (row.action)] ?? ": passed";
}

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
