/** Liar's dice for two. */

import { el, number } from "../dom.js";
import { nameOf, nameTag, outcome } from "../names.js";

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Liar's dice",
  about: ({ dice, faces, wild }) => [
    `Each of you has rolled ${dice === 1 ? "a die" : `${dice} dice`}; you see only your own.`,
    "In turn, bid how many dice of a face there are at least, among all of both: more dice than the bid before, or as " +
      "many of a higher face.",
    "Instead of a bid you can call the other a liar. If the bid holds, who made it wins; else you do.",
    ...(wild ? [`Every ${faces} counts as any face.`] : []),
  ],

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
      el(
        "ol",
        { class: "history", tabindex: 0 },
        ...game.action_history.map((/** @type {any} */ row) => el("li", {}, nameTag(view, row.agent_id), said(row))),
      ),
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

/** @param {any} row */
function said(row) {
  return row.action === "bid" ? ` bid ${row.quantity} × ${row.face}` : " said: liar!";
}
