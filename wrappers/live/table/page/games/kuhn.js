/** Kuhn poker. */

import { twoHands } from "./two_hands.js";

/** @import { View } from "../types.d.ts" */

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Kuhn poker",
  about: () => [
    "There are three cards: jack, queen, king. Each of you has one of them, and has put one chip into the pot.",
    "In turn, bet one chip or pass. Who passes after a bet has folded.",
    "After two passes or two bets the higher card wins the pot.",
  ],

  draw: (view) => twoHands(view, { pass: "passed", bet: "bet" }),

  label(action, view) {
    const words = facingBet(view) ? { pass: "Fold", bet: "Call" } : { pass: "Check", bet: "Bet" };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },
};

/** @param {View} view */
function facingBet(view) {
  return view.state?.game_state.action_history.at(-1)?.action === "bet";
}
