/** Kuhn poker. */

import { twoHands } from "./two_hands.js";

/** @import { View } from "../types.d.ts" */

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Kuhn poker",
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
