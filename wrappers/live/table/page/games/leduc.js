/** Leduc hold'em. */

import { twoHands } from "./two_hands.js";

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Leduc hold'em",
  draw: (view) => twoHands(view, { fold: "folded", call: "called", raise: "raised" }),

  label(action, view) {
    const chips = Object.values(view.state?.game_state.chips ?? {});
    const even = chips.every((one) => one === chips[0]);
    const words = { fold: "Fold", call: even ? "Check" : "Call", raise: even ? "Bet" : "Raise" };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },
};
