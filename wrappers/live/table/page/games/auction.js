/** A sealed-bid auction. */

import { el, number } from "../dom.js";
import { nameOf, nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

const PAYS = {
  "first-price": "The winner pays its own bid.",
  "second-price": "The winner pays the second-highest bid.",
  "all-pay": "Everybody pays the own bid, the losers too.",
};

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Auction",
  about: ({ rule, rounds }) => [
    "One thing is sold, and it is worth something else to everybody; only you know what it is worth to you.",
    `All bid once, in secret. The highest bid wins. ${PAYS[/** @type {keyof typeof PAYS} */ (rule)]}`,
    "What you gain is what it is worth to you, if you get it, less what you pay.",
    `Who passes may bid in the next of ${rounds} rounds.`,
  ],

  draw(view, act, { rounds }) {
    const game = view.state?.game_state;
    const own = [];
    if (game.my_valuation !== undefined) {
      own.push(...fact("Worth to you", number(game.my_valuation)));
      own.push(...fact("Your bid", game.my_bid === null ? "—" : number(game.my_bid)));
    }
    own.push(...fact("Round", `${round(view)} of ${rounds}`));
    own.push(...fact("Bids in", `${game.num_bids_submitted} of ${game.num_bidders}`));
    const winner = view.state?.outcome?.winner;
    return [
      el("dl", { class: "facts" }, ...own),
      ...(typeof winner === "string" ? [el("p", { class: "big" }, nameTag(view, winner), " won.")] : []),
      ...outcome(view),
      el(
        "ol",
        { class: "history", tabindex: 0 },
        ...game.action_history.map((/** @type {any} */ row) =>
          el(
            "li",
            {},
            nameTag(view, row.agent_id),
            row.action === "pass" ? " passed" : " bid",
            nameOf(view, row.agent_id) === "You" && game.my_bid != null && row.action !== "pass"
              ? ` ${number(game.my_bid)}`
              : "",
          ),
        ),
      ),
    ];
  },

  label(action) {
    return action.action_type === "submit_bid" ? "Bid" : "Pass this round";
  },

  hint: () => "Once and for all, in secret. It may be more than it is worth to you.",

  range(action, field, view) {
    if (action.action_type !== "submit_bid") return null;
    const worth = view.state?.game_state.my_valuation;
    const high = Math.max(worth * 1.5, 1); // a bid may be higher; who wants that writes it
    const share = (/** @type {number} */ part) => Math.round(worth * part * 100) / 100;
    return {
      low: 0,
      high,
      step: 0.01,
      start: share(0.5),
      presets: [
        { label: "½", value: share(0.5) },
        { label: "¾", value: share(0.75) },
        { label: "all it is worth", value: share(1) },
      ],
    };
  },
};

/**
 * The round under way: who is to act has acted once in each before.
 * @param {View} view
 */
function round(view) {
  const history = view.state?.game_state.action_history ?? [];
  const turn = view.state?.current_turn_agent_id;
  if (turn == null) return history.at(-1)?.round ?? 1;
  return 1 + history.filter((/** @type {any} */ row) => row.agent_id === turn).length;
}

/**
 * @param {string} name
 * @param {string} value
 */
function fact(name, value) {
  return [el("dt", {}, name), el("dd", {}, value)];
}
