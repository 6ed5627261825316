/** A sealed-bid auction. */

import { el, facts, number, words } from "../dom.js";
import { history, nameTag, outcome } from "../names.js";

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Auction",
  aim: true,

  draw(view, _act, { rounds }) {
    const game = view.state?.game_state;
    const ended = view.state?.outcome;
    const winners = Array.isArray(ended?.winners) ? ended.winners : [ended?.winner].filter((one) => one != null);
    const turn = view.state?.current_turn_agent_id;
    const acted = game.action_history.filter((/** @type {any} */ row) => row.agent_id === turn).length;
    const round = turn == null ? (game.action_history.at(-1)?.round ?? 1) : 1 + acted;
    const own = game.my_bid == null ? "" : ` ${number(game.my_bid)}`;
    const worth = words(view.words.get("my_valuation") ?? "valuation");
    return [
      facts([
        ...(game.my_valuation === undefined ? [] : [[worth, number(game.my_valuation)], ["Your bid", own || "none yet"]]),
        ["Round", `${round} of ${rounds}`],
      ]),
      ...winners.map((/** @type {string} */ one) => el("p", { class: "big" }, nameTag(view, one), " won.")),
      ...outcome(view),
      history(view, (row) => (row.action === "pass" ? "passed" : `bid${row.agent_id === view.state?.agent_id ? own : ""}`)),
    ];
  },

  label: ({ action_type }) => (action_type === "submit_bid" ? "Bid" : "Pass this round"),

  hint: () => "Once and for all, in secret. It may be more than it is worth to you.",

  range(action, _field, view) {
    if (action.action_type !== "submit_bid") return null;
    const { my_valuation: worth, values } = view.state?.game_state;
    const share = (/** @type {number} */ part) => Math.round(worth * part * 100) / 100;
    const presets = { "½": 0.5, "¾": 0.75, [values === "common" ? "my estimate" : "all it is worth"]: 1 };
    return {
      ...{ low: 0, high: Math.max(worth * 1.5, 1), step: 0.01, start: share(0.5) }, // a higher bid is written
      presets: Object.entries(presets).map(([label, part]) => ({ label, value: share(part) })),
    };
  },
};
