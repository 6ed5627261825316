/** A sealed-bid auction. */

import { el, number, words } from "../dom.js";
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
    const facts = [];
    if (game.my_valuation !== undefined) {
      facts.push([words(view.words.get("my_valuation") ?? "valuation"), number(game.my_valuation)]);
      facts.push(["Your bid", own || "none yet"]);
    }
    facts.push(["Round", `${round} of ${rounds}`]);
    return [
      el("dl", { class: "facts" }, ...facts.flatMap(([name = "", value = ""]) => [el("dt", {}, name), el("dd", {}, value)])),
      ...winners.map((/** @type {string} */ one) => el("p", { class: "big" }, nameTag(view, one), " won.")),
      ...outcome(view),
      history(view, (row) => (row.action === "pass" ? "passed" : `bid${row.agent_id === view.state?.agent_id ? own : ""}`)),
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
