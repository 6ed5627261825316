/** No-limit hold'em: beside the server's picture, in words what the person holds and what has happened in the hand. */

import { el, number } from "../dom.js";
import { nameTag } from "../names.js";

/** @import { View } from "../types.d.ts" */

const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Hold'em",
  players: true,
  between: "The next hand is about to be dealt.",

  draw(view) {
    const game = view.state?.game_state;
    return [el("p", { class: "word holding" }, ...words(view, game)), ...ending(view, game)];
  },

  beside(view) {
    if (view.state === null || view.drawn === null) return null;
    const { hand, mostHands, smallBlind, bigBlind, history, ended } = view.drawn;
    const blinds = el("p", {}, `Blinds ${number(smallBlind)} and ${number(bigBlind)}`);
    const rows = deeds(history, view.you).map(({ street, seat, deed }) =>
      el("li", {}, el("small", {}, street), " ", nameTag(view, String(seat)), ` ${deed}`),
    );
    // The latest first, so that it is in sight.
    const list = el("ol", { class: "history", reversed: true, tabindex: 0, "aria-label": "Actions" }, ...rows.reverse());
    const won = (ended?.results ?? []).filter((/** @type {any} */ row) => row.won > 0);
    const winners = won.flatMap((/** @type {any} */ row) => winner(view, row));
    const before = ended?.hand < hand ? [el("p", {}, `Hand ${number(ended.hand)}: `, ...winners)] : [];
    const title = `Hand ${number(hand)}${mostHands === null ? "" : ` of ${number(mostHands)}`}`;
    return { title, nodes: [blinds, ...before, ...(rows.length ? [list] : [])] };
  },

  ahead(view) {
    const game = view.state?.game_state;
    const own = game?.players.find((/** @type {any} */ one) => one.seat === view.you);
    const waits = own?.cards !== undefined && !own.folded && !own.allIn && game.turn != null;
    return waits ? { label: "Check or fold when it is my turn", key: "c", actions: ["check", "fold"] } : null;
  },

  label(action, view) {
    const { toCall = 0 } = view.state?.game_state ?? {};
    const raise = highest(view) > 0 ? "Raise to" : "Bet";
    const words = { fold: "Fold", check: "Check", call: `Call ${number(toCall)}`, raiseTo: raise };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },

  range(action, field, view) {
    const { minimum: low = 0, maximum: high = 0 } = action.payload_schema.properties?.[field] ?? {};
    const game = view.state?.game_state;
    const sized = (/** @type {number} */ part) =>
      Math.min(high, Math.max(low, Math.round(highest(view) + part * (game.pot + (game.toCall ?? 0)))));
    const presets = [
      { label: "min", value: low, key: "m" },
      { label: "½ pot", value: sized(0.5), key: "h" },
      { label: "pot", value: sized(1), key: "p" },
      { label: "all-in", value: high, key: "a" },
    ];
    return { low, high, start: low, step: 1, presets };
  },
};

/**
 * The highest bet on this street.
 * @param {View} view
 * @returns {number}
 */
function highest(view) {
  return Math.max(...view.state?.game_state.players.map((/** @type {any} */ player) => player.bet));
}

/**
 * The actions of the hand in words; the first bet of a street is a bet, and later ones are raises.
 * @param {{ street: string, seat: number, kind: string, bet: number }[]} history
 * @param {number | null} you
 */
function deeds(history, you) {
  const opened = new Set(["preflop"]); // by the blinds
  return history.map(({ street, seat, kind, bet }) => {
    const verb = kind !== "raiseTo" ? kind : opened.has(street) ? "raise" : "bet";
    if (kind === "raiseTo") opened.add(street);
    const amount = { raise: ` to ${number(bet)}`, bet: ` ${number(bet)}`, call: ` ${number(bet)}` }[verb] ?? "";
    return { street, seat, deed: `${verb}${seat === you ? "" : "s"}${amount}` };
  });
}

/**
 * What the person holds; at the end of a hand, who has won it.
 * @param {View} view
 * @param {any} game
 * @returns {(Node | string)[]}
 */
function words(view, game) {
  const won = (game.results ?? []).filter((/** @type {any} */ row) => row.won > 0);
  if (won.length) return won.map((/** @type {any} */ row) => el("span", { class: "won" }, ...winner(view, row)));
  const own = game.players.find((/** @type {any} */ one) => one.seat === view.you);
  if (own?.cards === undefined) return [""];
  const rank = view.drawn?.rank;
  return ["You hold ", ...own.cards.map(card), rank ? `: ${rank}.` : "."];
}

/**
 * @param {View} view
 * @param {any} row
 */
function winner(view, row) {
  const rank = row.rank ? ` with ${row.rank}` : "";
  return [nameTag(view, String(row.seat)), ` won ${number(row.won)}${rank}. `];
}

/**
 * The chips at the end of the table.
 * @param {View} view
 * @param {any} game
 * @returns {Node[]}
 */
function ending(view, game) {
  const rows = (game.final_stacks ?? []).map((/** @type {any} */ row) =>
    el("tr", {}, el("th", { scope: "row" }, nameTag(view, String(row.seat_id))), el("td", {}, number(row.stack))),
  );
  if (!rows.length) return [];
  const heads = ["Player", "Chips at the end"].map((one) => el("th", { scope: "col" }, one));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...rows));
  return [el("section", { class: "outcome", "aria-label": "Outcome" }, el("h2", {}, "The table has ended"), table)];
}

/** @param {string} name */
function card(name) {
  const suit = SUITS[/** @type {keyof typeof SUITS} */ (name[1])] ?? "";
  const rank = name[0] === "T" ? "10" : (name[0] ?? "");
  const colour = "hd".includes(name[1] ?? "") ? "red" : "";
  return el("span", { class: `card ${colour}`, role: "img", "aria-label": name }, `${rank}${suit}`);
}
