/** What the pages of small card games for two share: in words what the picture shows, and the moves. */

import { el, number } from "../dom.js";
import { history, nameOf, outcome } from "../names.js";

/** @import { View } from "../types.d.ts" */

/**
 * The words beside the picture, from TurnState: `my_card`, `shown`, `pot`, `action_history`, and `board` where the game has one.
 * @param {View} view
 * @param {Record<string, string>} words what to say of an action, by its type
 * @returns {Node[]}
 */
export function twoHands(view, words) {
  const game = view.state?.game_state;
  const own = view.state?.agent_id;
  const shown = { ...game.shown, ...(game.my_card === undefined ? {} : { [own ?? ""]: game.my_card }) };
  const held = view.seats.map(({ agent_id }) => `${nameOf(view, agent_id)}: ${shown[agent_id] ?? "hidden card"}`);
  const board = game.board?.length ? [`Board: ${game.board.join(" ")}`] : [];
  return [
    el("p", { class: "unseen" }, [...held, ...board, `Pot: ${number(game.pot)}`].join(". ")), // the picture shows it
    ...outcome(view),
    history(view, ({ action }) => words[action] ?? action),
  ];
}
