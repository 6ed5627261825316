/** What the pages of small card games for two share: a card each, a board, the pot, the moves. */

import { el, number } from "../dom.js";
import { nameTag, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

/**
 * The table from TurnState: `my_card`, `shown`, `pot`, `action_history`, and `board` where the game has one.
 * @param {View} view
 * @param {Record<string, string>} words what to say of an action, by its type
 * @returns {Node[]}
 */
export function twoHands(view, words) {
  const game = view.state?.game_state;
  const own = view.state?.agent_id;
  const shown = { ...game.shown, ...(game.my_card === undefined ? {} : { [own ?? ""]: game.my_card }) };
  const facts = view.seats.flatMap(({ agent_id }) => [
    el("dt", {}, nameTag(view, agent_id)),
    el("dd", {}, card(shown[agent_id])),
  ]);
  if (game.board !== undefined) facts.push(el("dt", {}, "Board"), el("dd", {}, ...game.board.map(card)));
  facts.push(el("dt", {}, "Pot"), el("dd", {}, number(game.pot)));
  return [
    el("dl", { class: "facts" }, ...facts),
    ...outcome(view, "chips"),
    el(
      "ol",
      { class: "history", tabindex: 0 },
      ...game.action_history.map((/** @type {any} */ row) =>
        el("li", {}, nameTag(view, row.agent_id), ` ${words[row.action] ?? row.action}`),
      ),
    ),
  ];
}

/** @param {string | undefined} rank */
function card(rank) {
  return rank === undefined
    ? el("span", { class: "card back", role: "img", "aria-label": "hidden card" })
    : el("span", { class: "card", role: "img", "aria-label": rank }, rank);
}
