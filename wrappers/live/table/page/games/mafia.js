/** Mafia: the village, what is known of everybody, what was said, and the person's own secret. */

import { el } from "../dom.js";
import { named, nameTag, outcome } from "../names.js";
import { choice, pick, statement, target, targets } from "./mafia_moves.js";

/** @import { View } from "../types.d.ts" */
const ROLES = {
  mafia: "Every night you and your mates choose whom to kill. By day, do not be found out.",
  doctor: "Every night you protect somebody, but nobody twice running; you may protect yourself.",
  sheriff: "Every night you learn of somebody whether they are mafia. Tell the village, if you dare.",
  villager: "You have nothing but your wits and your vote. Find the mafia.",
  unknown: "",
};
/** @type {Record<string, [string, string]>} */
const PHASES = {
  NIGHT_ACTIONS: ["Night", "The village sleeps. Mafia, doctor and sheriff choose in secret."],
  DAY_DISCUSSION: ["Day", "Everybody speaks in turn. What is said may be a lie."],
  DAY_VOTING: ["Day", "All vote; the votes stay sealed until all are in. Most votes: out."],
  END: ["The end", "All roles are open."],
};
const DOES = { NIGHT_ACTIONS: "chooses", DAY_DISCUSSION: "speaks", DAY_VOTING: "votes" };

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Mafia",
  players: true,

  draw(view) {
    const game = view.state?.game_state;
    const [title, text] = PHASES[game.phase] ?? [game.phase, ""];
    const number = game.phase === "END" ? "" : ` ${game.dayNumber || game.roundNumber}`;
    const round = game.phase === "NIGHT_ACTIONS" ? ` ${game.roundNumber}` : number;
    return [
      el(
        "div",
        { class: "known" },
        el(
          "div",
          { class: `sky ${game.phase === "NIGHT_ACTIONS" ? "night" : "day"}` },
          el("h2", {}, `${title}${round}`),
          el("p", { class: "explained" }, text),
        ),
        ...card(view, game),
      ),
      el("div", { class: "told" }, ...outcome(view), ...story(view, game)),
      village(view, game),
    ];
  },

  controls(view, act) {
    const [allowed] = view.state?.allowed_actions ?? [];
    if (allowed === undefined) return [];
    return [allowed.action_type === "say" ? statement(view, allowed, act) : choice(view, allowed, act)];
  },

  pick,

  talk(view) {
    const game = view.state?.game_state;
    const self = game?.self;
    const mates = (game?.privateKnowledge?.mafiaTeammates ?? []).filter((/** @type {any} */ one) => one.alive);
    const open = self?.alive && game.phase === "NIGHT_ACTIONS" && mates.length > 0;
    return {
      title: "Among the mafia",
      readers: open ? [{ label: "my mates", to: mates.map((/** @type {any} */ one) => one.id) }] : [],
      heard: (view.state?.messages ?? []).filter((one) => one.scope === "private"),
    };
  },
};

// What is seen.

/**
 * What the person is, and what only it knows.
 * @param {View} view
 * @param {any} game
 * @returns {Node[]}
 */
function card(view, game) {
  const { self, privateKnowledge: known } = game;
  if (self === undefined) return [];
  const rows = [];
  const mates = (known.mafiaTeammates ?? []).map((/** @type {any} */ one) => one.id);
  if (mates.length) rows.push(el("p", {}, "Mafia with you: ", ...listed(view, mates), "."));
  if (known.lastProtected)
    rows.push(el("p", {}, "Last night you protected ", ...listed(view, [known.lastProtected]), "."));
  if (game.lastNightResult?.protected) rows.push(el("p", {}, "You saved a life."));
  for (const found of known.investigationResults) {
    const verdict = found.isMafia ? " is mafia." : " is not mafia.";
    rows.push(el("p", {}, `Night ${found.round}: `, nameTag(view, found.target.id), verdict));
  }
  for (const [who, target] of Object.entries(game.nightActions)) {
    rows.push(el("p", {}, "Tonight ", nameTag(view, who), " chose ", nameTag(view, target), "."));
  }
  if (game.ownVote) rows.push(el("p", {}, "You voted against ", nameTag(view, game.ownVote), "."));
  if (!self.alive) rows.unshift(el("p", {}, el("b", {}, "You are dead."), " You see what the village sees."));
  const explained = ROLES[/** @type {keyof typeof ROLES} */ (self.role)] ?? "";
  return [
    el(
      "section",
      { class: `card-of ${self.role}`, "aria-label": "Your role" },
      el(
        "h3",
        {},
        "You are ",
        el("b", {}, self.role === "mafia" ? "mafia" : `the ${self.role}`.replace("the v", "a v")),
      ),
      el("p", { class: "explained" }, explained),
      ...rows,
    ),
  ];
}

let drawn = "";
let list = el("ul");

/**
 * All players, once: what is known of each, and in a vote or at night the choice. It stays the same node while
 * nothing in it changes, with what is chosen.
 * @param {View} view
 * @param {any} game
 */
function village(view, game) {
  const open = targets(view);
  const { players, statements, votingHistory } = game;
  const wanted = JSON.stringify([players, statements, votingHistory, view.seats, view.you, open, view.state?.current_turn_agent_id]);
  if (wanted !== drawn) {
    const rows = players.map((/** @type {any} */ one) => villager(view, game, one, open));
    list = el("ul", { class: "village", "aria-label": "The village" }, ...rows);
    drawn = wanted;
  }
  return list;
}

/**
 * @param {View} view
 * @param {any} game
 * @param {any} one a player
 * @param {string[]} open who can be chosen
 */
function villager(view, game, one, open) {
  const turn = view.status === "running" && view.state?.current_turn_agent_id === one.id;
  const place = view.seats.find(({ agent_id }) => agent_id === one.id);
  const today = game.statements.filter((/** @type {any} */ said) => said.round === game.dayNumber);
  const against = today.filter((/** @type {any} */ said) => said.targetId === one.id && hostile(said)).length;
  const role = one.role === "unknown" ? "" : one.role;
  const notes = [
    one.alive ? "" : fate(game, one),
    against && game.phase.startsWith("DAY") ? `accused by ${against}` : "",
    turn ? (DOES[/** @type {keyof typeof DOES} */ (game.phase)] ?? "") : "",
    place?.name === null ? "free" : place?.connected ? "" : "away",
    view.status === "over" && place?.ready && !place.program ? "ready" : "",
  ].filter(Boolean);
  const known = [
    nameTag(view, one.id),
    role ? el("span", { class: "role" }, role) : "",
    el("small", {}, notes.join(", ")),
  ];
  const number = open.indexOf(one.id);
  return el(
    "li",
    { class: [one.alive ? "" : "dead", turn ? "turn" : "", role].filter(Boolean).join(" "), "data-agent": one.id },
    ...(number < 0 ? [el("div", {}, ...known)] : [target(one.id, number, ...known)]),
  );
}

/** @param {any} said */
function hostile(said) {
  return said.type === "accusation" || said.isMafia === true;
}

/**
 * @param {any} game
 * @param {any} one a dead player
 */
function fate(game, one) {
  const voted = game.votingHistory.some((/** @type {any} */ row) => row.eliminated === one.id);
  return voted ? `voted out on day ${one.eliminatedRound}` : `killed in night ${one.eliminatedRound}`;
}

/**
 * What has happened, the latest round first.
 * @param {View} view
 * @param {any} game
 * @returns {Node[]}
 */
function story(view, game) {
  const words = (view.state?.messages ?? []).filter((one) => one.scope === "public");
  const said = game.statements.map((/** @type {any} */ one, /** @type {number} */ i) => ({
    ...one,
    words: words[i]?.sender_id === one.playerId ? words[i]?.content : one.content,
  }));
  const rounds = [];
  for (let round = game.roundNumber; round >= 1; round -= 1) {
    const lines = [
      ...vote(view, game, round),
      ...said
        .filter((/** @type {any} */ one) => one.round === round)
        .map((/** @type {any} */ one) => speech(view, one))
        .reverse(),
      ...night(view, game, round),
    ];
    if (lines.length) rounds.push(el("li", {}, el("h3", {}, `Round ${round}`), el("ul", {}, ...lines)));
  }
  return rounds.length
    ? [el("ol", { class: "story", "aria-label": "What has happened, the latest first" }, ...rounds)]
    : [];
}

/**
 * @param {View} view
 * @param {any} game
 * @param {number} round
 */
function night(view, game, round) {
  if (game.phase === "NIGHT_ACTIONS" && round === game.roundNumber) return [];
  const out = game.votingHistory.map((/** @type {any} */ row) => row.eliminated);
  const died = game.players.filter((/** @type {any} */ one) => one.eliminatedRound === round && !out.includes(one.id));
  if (!died.length) return [el("li", { class: "event" }, `Night ${round}: nobody died.`)];
  return died.map((/** @type {any} */ one) =>
    el("li", { class: "event" }, `Night ${round}: `, nameTag(view, one.id), ` (${one.role}), killed.`),
  );
}

/**
 * @param {View} view
 * @param {any} one a statement
 */
function speech(view, one) {
  const target = one.targetId === null ? [] : [" ", nameTag(view, one.targetId)];
  const verdict = one.isMafia === null ? "" : one.isMafia ? ": mafia" : ": not mafia";
  const acts = {
    accusation: ["accuses", ...target],
    defense: ["defends", ...target],
    claim: [`claims ${one.role}`, ...target, verdict],
  };
  const plain = /^I (accuse|defend) p\d+\.$/.test(one.words); // says it already
  const act = plain ? undefined : acts[/** @type {keyof typeof acts} */ (one.type)];
  return el(
    "li",
    { class: hostile(one) ? "bad" : one.type === "general" ? "" : "good" },
    nameTag(view, one.playerId),
    ": ",
    el("q", { dir: "auto" }, named(view, one.words)),
    act ? el("span", { class: "act" }, ...act) : "",
  );
}

/**
 * The votes of a day, by whom they are against, most first.
 * @param {View} view
 * @param {any} game
 * @param {number} round
 */
function vote(view, game, round) {
  const found = game.votingHistory.find((/** @type {any} */ row) => row.round === round);
  if (found === undefined) return [];
  /** @type {Map<string, string[]>} */
  const tally = new Map();
  for (const [voter, target] of Object.entries(found.votes)) tally.set(target, [...(tally.get(target) ?? []), voter]);
  const rows = [...tally].sort((a, b) => b[1].length - a[1].length);
  const role = game.players.find((/** @type {any} */ one) => one.id === found.eliminated)?.role;
  const end = found.eliminated
    ? [nameTag(view, found.eliminated), ` (${role}), voted out.`]
    : ["Nobody was voted out."];
  return [
    el("li", { class: "event" }, `Vote ${round}: `, ...end),
    ...rows.map(([target, voters]) =>
      el(
        "li",
        { class: "tally" },
        el("b", {}, String(voters.length)),
        " against ",
        nameTag(view, target),
        ": ",
        ...listed(view, voters),
      ),
    ),
  ];
}

/**
 * @param {View} view
 * @param {string[]} agents
 * @returns {(Node | string)[]}
 */
function listed(view, agents) {
  return agents.flatMap((one, i) => (i ? [", ", nameTag(view, one)] : [nameTag(view, one)]));
}
