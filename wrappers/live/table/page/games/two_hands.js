/** Small card games for two: in words what the picture shows, and the moves as poker players say them. */

import { el, number } from "../dom.js";
import { history, nameOf, outcome } from "../names.js";

/** What an action is called, and what is said of it: where nothing is owed, and where there was a bet. */
const FREE = { pass: ["Check", "checked"], call: ["Check", "checked"], bet: ["Bet", "bet"], raise: ["Bet", "bet"] };
/** @type {Record<string, [string, string]>} */
const OWED = {
  ...{ pass: ["Fold", "folded"], fold: ["Fold", "folded"] },
  ...{ bet: ["Call", "called"], call: ["Call", "called"], raise: ["Raise", "raised"] },
};

/**
 * The words of an action after others.
 * @param {string} action @param {any[]} before what was done in its round before
 */
function said(action, before) {
  const owed = before.some((row) => row.action === "bet" || row.action === "raise");
  return (owed ? OWED : FREE)[/** @type {keyof typeof FREE} */ (action)] ?? [action, action];
}

/**
 * A page from TurnState: `my_card`, `shown`, `pot`, `action_history`, and `board` where the game has one.
 * @param {string} title @returns {import("../types.d.ts").GamePage}
 */
export const twoHands = (title) => ({
  title,

  draw(view) {
    const game = view.state?.game_state;
    const shown = { ...game.shown, ...(game.my_card && { [view.state?.agent_id ?? ""]: game.my_card }) };
    const held = view.seats.map(({ agent_id }) => `${nameOf(view, agent_id)}: ${shown[agent_id] ?? "hidden card"}`);
    const board = game.board?.length ? [`Board: ${game.board.join(" ")}`] : [];
    const before = (/** @type {any} */ row, /** @type {number} */ i) =>
      game.action_history.slice(0, i).filter((/** @type {any} */ one) => one.round === row.round);
    return [
      el("p", { class: "unseen" }, [...held, ...board, `Pot: ${number(game.pot)}`].join(". ")), // the picture shows it
      ...outcome(view),
      history(view, (row, i) => said(row.action, before(row, i))[1]),
    ];
  },

  label({ action_type }, view) {
    const { action_history: rows, board } = view.state?.game_state ?? {};
    const round = board && board.length + 1; // undefined in a game of one round
    return said(action_type, rows.filter((/** @type {any} */ row) => row.round === round))[0];
  },
});
