/** Liar's dice for two. */

import { el, number } from "../dom.js";
import { history, nameOf, outcome } from "../names.js";

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Liar's dice",
  draw(view) {
    const game = view.state?.game_state;
    const own = view.state?.agent_id;
    const dice = { ...game.shown, ...(game.my_dice === undefined ? {} : { [own ?? ""]: game.my_dice }) };
    const rolled = view.seats.map(
      ({ agent_id }) => `${nameOf(view, agent_id)}: ${dice[agent_id]?.join(" ") ?? `${number(game.dice)} hidden`}`,
    );
    const bid = game.current_bid === null ? "No bid yet" : `Bid: ${game.current_bid.quantity} × ${game.current_bid.face}`;
    return [
      el("p", { class: "unseen" }, [...rolled, bid].join(". ")), // the picture shows it
      ...outcome(view),
      history(view, (row) => (row.action === "bid" ? `bid ${row.quantity} × ${row.face}` : "said: liar!")),
    ];
  },

  label: (action) => (action.action_type === "bid" ? "Bid" : "Liar!"),

  range(action, field, view) {
    const { minimum: least = 1, maximum: high = 1 } = action.payload_schema.properties?.[field] ?? {};
    const bid = view.state?.game_state.current_bid ?? { quantity: least, face: 0 };
    const faces = view.state?.game_state.faces ?? high;
    const next = bid.face < faces ? bid.face + 1 : 1;
    return { low: least, high, step: 1, start: field === "face" ? next : least };
  },
};
