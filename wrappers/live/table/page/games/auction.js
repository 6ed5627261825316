/** A sealed-bid auction. */

import { el, number } from "../dom.js";
import { nameOf, nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

const PAYS = {
  "first-price": "The winner pays its own bid.",
  "second-price": "The winner pays the second-highest bid.",
  "all-pay": "Everybody pays the own bid, the losers too.",
};

const PAYS_OF_SEVERAL = {
  "first-price": "Each winner pays its own bid.",
  "second-price": "Each winner pays the highest bid that loses.",
  "all-pay": PAYS["all-pay"],
};

/** What the good is worth, by the option `values`. */
const WORTH = {
  private: "It is worth something else to everybody; only you know what it is worth to you.",
  average: "It is worth the same to everybody: the mean of all valuations. You know only yours.",
  common: "It is worth the same to everybody. You know an estimate, which may be too high or too low.",
  affiliated: "It is worth something else to everybody, but not far from what it is worth to the others.",
};

/** The name of the own valuation, by the field `values`. */
const VALUATION = { average: "Your valuation", common: "Your estimate" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Auction",
  about: ({ rule, rounds, reserve, entry_fee, units, values, noise, risk_aversion }) => [
    `${units > 1 ? `${units} equal things are sold, one to a winner.` : "One thing is sold."} ${WORTH[/** @type {keyof typeof WORTH} */ (values)]}`,
    `All bid once, in secret. ${
      units > 1
        ? `The ${units} highest bids win. ${PAYS_OF_SEVERAL[/** @type {keyof typeof PAYS} */ (rule)]}`
        : `The highest bid wins. ${PAYS[/** @type {keyof typeof PAYS} */ (rule)]}`
    }`,
    ...(noise > 0 ? [`Valuations are within ${number(noise)} of a hidden number.`] : []),
    ...(reserve > 0 ? [`A bid below ${number(reserve)} does not take part.`] : []),
    ...(entry_fee > 0 ? [`Who bids more than 0 pays ${number(entry_fee)} besides, and a bid of 0 does not take part.`] : []),
    "What you gain is what it is worth to you, if you get it, less what you pay.",
    ...(risk_aversion > 0 ? ["Of a larger gain each further part counts less; a loss counts in full."] : []),
    `Who passes may bid in the next of ${rounds} rounds.`,
  ],

  draw(view, act, { rounds }) {
    const game = view.state?.game_state;
    const own = [];
    if (game.my_valuation !== undefined) {
      const name = VALUATION[/** @type {keyof typeof VALUATION} */ (game.values)] ?? "Worth to you";
      own.push(...fact(name, number(game.my_valuation)));
      own.push(...fact("Your bid", game.my_bid === null ? "none yet" : number(game.my_bid)));
    }
    own.push(...fact("Round", `${round(view)} of ${rounds}`));
    own.push(...fact("Bids in", `${game.num_bids_submitted} of ${game.num_bidders}`));
    if (game.units !== undefined) own.push(...fact("For sale", number(game.units)));
    if (game.reserve_price !== undefined) own.push(...fact("Reserve price", number(game.reserve_price)));
    if (game.entry_fee !== undefined) own.push(...fact("Entry fee", number(game.entry_fee)));
    const ended = view.state?.outcome;
    const winners = Array.isArray(ended?.winners) ? ended.winners : [ended?.winner].filter((one) => one != null);
    return [
      el("dl", { class: "facts" }, ...own),
      ...winners.map((/** @type {string} */ one) => el("p", { class: "big" }, nameTag(view, one), " won.")),
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
        { label: view.state?.game_state.values === "common" ? "my estimate" : "all it is worth", value: share(1) },
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
