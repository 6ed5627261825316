/** No-limit hold'em, drawn from the poker platform's game_state. */

import { el, number } from "../dom.js";
import { nameTag } from "../names.js";

/** @import { View } from "../types.d.ts" */

const SUITS = { s: "♠", h: "♥", d: "♦", c: "♣" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Hold'em",
  about: () => [
    "Everybody has two cards of their own; up to five more are laid open for all. The best five of the seven win the pot.",
    "When it is your turn, fold, check or call, or raise: the slider and the field say to how much in all.",
    "Who has won all chips, or most of them after the last hand, has won.",
  ],

  between: "The next hand is about to be dealt.",

  draw(view) {
    const game = view.state?.game_state;
    const own = game.players.findIndex((/** @type {any} */ one) => one.seat === view.you);
    const first = Math.max(0, own); // the person's own seat comes first, and below
    const players = [...game.players.slice(first), ...game.players.slice(0, first)];
    const around = players.map((player, i) => seat(view, game, player, i));
    const middle = el(
      "div",
      { class: "middle" },
      el("p", { class: "phase" }, `Hand ${game.hand}, ${game.phase}`),
      el("div", { class: "cards", "aria-label": "Board" }, ...game.board.map(card)),
      ...(game.results ? [] : [el("p", { class: "pot" }, "Pot ", el("b", {}, number(game.pot)))]),
      ...winners(view, game),
    );
    const stacks = game.final_stacks ?? [];
    const ending = stacks.length
      ? [
          el(
            "section",
            { class: "outcome", "aria-label": "Outcome" },
            el("h3", {}, "The table has ended"),
            el(
              "table",
              {},
              el(
                "tbody",
                {},
                ...stacks.map((/** @type {any} */ row) =>
                  el(
                    "tr",
                    {},
                    el("th", { scope: "row" }, nameTag(view, String(row.seat_id))),
                    el("td", {}, number(row.stack)),
                  ),
                ),
              ),
            ),
          ),
        ]
      : [];
    return [el("div", { class: around.length > 7 ? "felt many" : "felt" }, middle, ...around), ...ending];
  },

  label(action, view) {
    const { toCall } = view.state?.game_state ?? {};
    const words = { fold: "Fold", check: "Check", call: `Call ${number(toCall ?? 0)}`, raiseTo: "Raise to" };
    return words[/** @type {keyof typeof words} */ (action.action_type)] ?? action.action_type;
  },

  range(action, field, view) {
    const { minimum: low = 0, maximum: high = 0 } = action.payload_schema.properties?.[field] ?? {};
    const game = view.state?.game_state;
    const toCall = game.toCall ?? 0;
    const bet = Math.max(...game.players.map((/** @type {any} */ player) => player.bet));
    const sized = (/** @type {number} */ part) => Math.round(bet + part * (game.pot + toCall));
    const sizes = [
      { label: "½ pot", value: sized(0.5) },
      { label: "pot", value: sized(1) },
    ];
    const presets = [
      { label: "least", value: low },
      ...sizes.filter(({ value }) => low < value && value < high),
      { label: "all-in", value: high },
    ];
    return { low, high, start: low, step: 1, presets };
  },
};

/** @param {string} name */
function card(name) {
  const suit = SUITS[/** @type {keyof typeof SUITS} */ (name[1])] ?? "";
  const rank = name[0] === "T" ? "10" : (name[0] ?? "");
  return el(
    "span",
    { class: `card ${"hd".includes(name[1] ?? "") ? "red" : ""}`, "aria-label": name },
    `${rank}${suit}`,
  );
}

function back() {
  return el("span", { class: "card back", "aria-label": "hidden card" });
}

/**
 * @param {View} view
 * @param {any} game
 * @param {any} player
 * @param {number} i its place around the table, from below
 */
function seat(view, game, player, i) {
  const result = game.results?.find((/** @type {any} */ row) => row.seat === player.seat);
  const cards = player.cards ?? result?.cards;
  const count = game.players.length;
  const angle = Math.PI / 2 + (2 * Math.PI * i) / count;
  const last =
    game.last?.seat === player.seat
      ? `${game.last.kind === "raiseTo" ? "raises to" : `${game.last.kind}s`} ${game.last.amount ?? ""}`
      : "";
  const out = !player.stack && !player.bet && !player.allIn && !cards?.length;
  const shown = cards?.length ? cards.map(card) : player.folded || out ? [] : [back(), back()];
  const state = out ? "out" : player.folded ? "folded" : player.allIn ? "all-in" : "";
  const notes = [state, player.folded ? "" : last].filter(Boolean);
  const node = el(
    "div",
    { class: `seat ${game.turn === player.seat ? "turn" : ""} ${player.folded || out ? "folded" : ""}` },
    el("div", { class: "cards" }, ...shown),
    el(
      "div",
      { class: "who" },
      nameTag(view, String(player.seat)),
      game.dealer === player.seat ? el("span", { class: "button", title: "dealer" }, "D") : "",
    ),
    el(
      "div",
      { class: "stack" },
      number(player.stack),
      player.bet ? el("b", { class: "bet" }, `bet ${number(player.bet)}`) : "",
    ),
    el("div", { class: "note" }, notes.join(", ")),
  );
  node.style.left = `${50 + 40 * Math.cos(angle)}%`;
  node.style.top = `${50 + 38 * Math.sin(angle)}%`;
  return node;
}

/**
 * @param {View} view
 * @param {any} game
 */
function winners(view, game) {
  const won = (game.results ?? []).filter((/** @type {any} */ row) => row.won > 0);
  return won.map((/** @type {any} */ row) =>
    el(
      "p",
      { class: "won" },
      nameTag(view, String(row.seat)),
      ` won ${number(row.won)}`,
      row.rank ? ` with ${row.rank}` : "",
    ),
  );
}
