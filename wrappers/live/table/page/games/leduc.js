/** Leduc hold'em. */

import { twoHands } from "./two_hands.js";

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Leduc hold'em",
  about: () => [
    "There are six cards: two jacks, two queens, two kings. Each of you has one, and has put one chip into the pot.",
    "After a round of bets a card is laid open for both, and there is another round.",
    "A raise is two chips, in the second round four. There are at most two raises in a round.",
    "Who has the rank of the open card wins, else who has the higher card.",
  ],

  draw: (view) => twoHands(view, { fold: "folded", call: "called", raise: "raised" }),

  label(action, view) {
    const chips = Object.values(view.state?.game_state.chips ?? {});
    const even = chips.every((one) => one === chips[0]);
    const words = { fold: "Fold", call: even ? "Check" : "Call", raise: even ? "Bet" : "Raise" };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },
};
