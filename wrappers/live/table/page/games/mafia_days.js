/** Mafia: the days in a line each, from the first on: who died at night, and whom the vote put out. */

import { el } from "../dom.js";
import { nameTag } from "../names.js";

/** @import { View } from "../types.d.ts" */

/** @param {View} view */
export function days(view) {
  const game = view.state?.game_state;
  const asleep = game.phase === "NIGHT_ACTIONS";
  const rows = [];
  for (let round = 1; round <= game.roundNumber; round += 1) {
    if (round < game.roundNumber || !asleep) rows.push(night(view, game, round));
    const ballot = game.votingHistory.find((/** @type {any} */ one) => one.round === round);
    if (ballot !== undefined) rows.push(day(view, game, ballot));
  }
  if (!rows.length) rows.push(el("li", {}, "The first night."));
  return el("ol", { class: "days" }, ...rows);
}

/**
 * @param {View} view
 * @param {any} game
 * @param {number} round
 */
function night(view, game, round) {
  const out = game.votingHistory.map((/** @type {any} */ one) => one.eliminated);
  const died = game.players.filter((/** @type {any} */ one) => one.eliminatedRound === round && !out.includes(one.id));
  const told = died.flatMap((/** @type {any} */ one) => [nameTag(view, one.id), ` (${one.role}) killed`]);
  return el("li", {}, el("b", {}, `Night ${round}: `), ...(told.length ? told : ["nobody died"]));
}

/**
 * @param {View} view
 * @param {any} game
 * @param {any} ballot
 */
function day(view, game, ballot) {
  const label = el("b", {}, `Day ${ballot.round}: `);
  if (!ballot.eliminated) return el("li", {}, label, "nobody was voted out");
  const votes = Object.values(ballot.votes);
  const against = votes.filter((target) => target === ballot.eliminated).length;
  const role = game.players.find((/** @type {any} */ one) => one.id === ballot.eliminated)?.role;
  const count = `, ${against} of ${votes.length} votes`;
  return el("li", {}, label, nameTag(view, ballot.eliminated), ` (${role}) voted out${count}`);
}
