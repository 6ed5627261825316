/** No-limit hold'em: beside the server's picture, in words what the person holds and what has happened in the hand. */

import { el, number, table } from "../dom.js";
import { nameTag } from "../names.js";

/** @import { View } from "../types.d.ts" */

/** @type {Record<string, string>} */
const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

/** The latest hand that has ended. @type {{ match: string, hand: number, results: any[] }} */
let ended = { match: "", hand: 0, results: [] };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Hold'em",
  players: true,
  sitsOut: true,
  between: "The next hand is about to be dealt.",

  draw(view) {
    const { game_state: game, match_id: match = "", outcome } = view.state ?? {};
    if (outcome) ended = { match, hand: game.hand, results: outcome.results ?? [] };
    const stacks = view.status === "over" ? game.players : [];
    const chips = stacks.map((/** @type {any} */ row) => [[tag(view, row.seat)], number(row.stack)]);
    const end = [el("h2", {}, "The table has ended"), table("", "", ["Player", "Chips at the end"], chips)];
    return [
      el("p", { class: "word holding" }, ...words(view, game, outcome?.results ?? [])),
      ...(chips.length ? [el("section", { class: "outcome", "aria-label": "Outcome" }, ...end)] : []),
    ];
  },

  beside(view) {
    if (view.state === null) return null;
    const { hand, hands, smallBlind, bigBlind, history } = view.state.game_state;
    const blinds = el("p", {}, `Blinds ${number(smallBlind)} and ${number(bigBlind)}`);
    const rows = deeds(history, view.you).map(({ street, seat, deed }) =>
      el("li", {}, el("small", {}, street), " ", tag(view, seat), ` ${deed}`),
    );
    // The latest first, so that it is in sight.
    const list = el("ol", { class: "history", reversed: true, tabindex: 0, "aria-label": "Actions" }, ...rows.reverse());
    const won = ended.match === view.state.match_id && ended.hand !== hand ? winners(view, ended.results).flat() : [];
    const before = won.length ? [el("p", {}, `Hand ${number(ended.hand)}: `, ...won)] : [];
    const title = `Hand ${number(hand)}${hands > 1 ? ` of ${number(hands)}` : ""}`;
    return { title, nodes: [blinds, ...before, ...(rows.length ? [list] : [])] };
  },

  ahead(view) {
    const game = view.state?.game_state;
    const own = game?.players.find((/** @type {any} */ one) => one.seat === view.you);
    const waits = own?.cards !== undefined && !own.folded && !own.allIn && game.turn != null;
    return waits ? { label: "Check or fold when it is my turn", key: "c", actions: ["check", "fold"] } : null;
  },

  files({ state, key, status }) {
    const some = status === "over" || (state !== null && (state.game_over || state.game_state.hand > 1));
    return some ? [["Hands (PHH)", `hands.phhs?key=${encodeURIComponent(key)}`]] : [];
  },

  talk: () => ({ title: "", readers: [], heard: [] }),

  hint: () => "",

  label({ action_type }, view) {
    const { toCall = 0 } = view.state?.game_state ?? {};
    const call = toCall ? `Call ${number(toCall)}` : "Check";
    const words = { fold: "Fold", check: "Check", call, raiseTo: highest(view) > 0 ? "Raise to" : "Bet" };
    return words[/** @type {keyof typeof words} */ (action_type)] ?? action_type;
  },

  range(action, field, view) {
    const { minimum: low = 0, maximum: high = 0 } = action.payload_schema.properties?.[field] ?? {};
    const { pot, toCall = 0 } = view.state?.game_state ?? {};
    const sized = (/** @type {number} */ part) =>
      Math.min(high, Math.max(low, Math.round(highest(view) + part * (pot + toCall))));
    const presets = [
      { label: "min", value: low, key: "m" },
      { label: "½ pot", value: sized(0.5), key: "h" },
      { label: "pot", value: sized(1), key: "p" },
      { label: "all-in", value: high, key: "a" },
    ];
    return { low, high, start: low, step: 1, presets };
  },
};

/** The highest bet on this street. @param {View} view @returns {number} */
function highest(view) {
  return Math.max(...view.state?.game_state.players.map((/** @type {any} */ player) => player.bet));
}

/**
 * The actions of the hand in words; the first bet of a street is a bet, and later ones are raises.
 * @param {{ street: string, seat: number, kind: string, bet: number }[]} history @param {number | null} you
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
 * @param {View} view @param {any} game @param {any[]} results
 */
function words(view, game, results) {
  const won = winners(view, results);
  if (won.length) return won.map((one) => el("span", { class: "won" }, ...one));
  const own = game.players.find((/** @type {any} */ one) => one.seat === view.you);
  return own?.cards === undefined ? [""] : ["You hold ", ...own.cards.map(card), own.rank ? `: ${own.rank}.` : "."];
}

/** @param {View} view @param {any[]} results of a hand */
function winners(view, results) {
  const sums = results.filter(({ won }) => won > 0);
  const said = (/** @type {any} */ { won, rank }) => ` won ${number(won)}${rank ? ` with ${rank}` : ""}. `;
  return sums.map((row) => [tag(view, row.seat), said(row)]);
}

/** @param {View} view @param {number} seat */
function tag(view, seat) {
  return nameTag(view, view.seats[seat]?.agent_id ?? null);
}

/** @param {string} name */
function card(name) {
  const [rank = "", suit = ""] = name;
  const text = `${rank === "T" ? "10" : rank}${SUITS[suit] ?? ""}`;
  return el("span", { class: `card ${"hd".includes(suit) ? "red" : ""}`, role: "img", "aria-label": name }, text);
}
