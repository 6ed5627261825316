/** Mafia: the village, what is known of everybody, what was said, the person's own secret, and what the person does. */

import { button, commas, el } from "../dom.js";
import { named, nameOf, nameTag, outcome, placeOf } from "../names.js";

/** @import { Act, AllowedAction, Schema, View } from "../types.d.ts" */

/** @type {Record<string, string>} */
const ROLES = {
  mafia: "Every night you and your mates choose whom to kill. By day, do not be found out.",
  doctor: "Every night you protect somebody, but nobody twice running; you may protect yourself.",
  sheriff: "Every night you learn of somebody whether they are mafia. Tell the village, if you dare.",
  villager: "You have nothing but your wits and your vote. Find the mafia.",
};
/** A phase's title, what it is about, and what a player does in it. @type {Record<string, [string, string, string]>} */
const PHASES = {
  NIGHT_ACTIONS: ["Night", "The village sleeps. Mafia, doctor and sheriff choose in secret.", "chooses"],
  DAY_DISCUSSION: ["Day", "Everybody speaks in turn. What is said may be a lie.", "speaks"],
  DAY_VOTING: ["Day", "All vote; the votes stay sealed until all are in. Most votes: out.", "votes"],
  END: ["The end", "All roles are open.", ""],
};
/** What a person can state: in words, what it needs, and its payload. */
const STATEMENTS = {
  talk: { says: "just talk", whom: false, payload: {} },
  accusation: { says: "accuse", whom: true, payload: { type: "accusation" } },
  defense: { says: "defend", whom: true, payload: { type: "defense" } },
  claim: { says: "say what I am", whom: false, payload: { type: "claim" } },
  found: { says: "as sheriff: is mafia", whom: true, payload: { type: "claim", role: "sheriff", isMafia: true } },
  cleared: { says: "as sheriff: is not mafia", whom: true, payload: { type: "claim", role: "sheriff", isMafia: false } },
};
const CHOICE = "choice"; // the form of a vote or of a choice at night; the players on the board belong to it

/** @type {import("../types.d.ts").GamePage} */
export default {
  title: "Mafia",
  players: true,

  draw(view) {
    const game = view.state?.game_state;
    const [title, text] = PHASES[game.phase] ?? [game.phase, ""];
    const asleep = game.phase === "NIGHT_ACTIONS";
    const number = { END: "", NIGHT_ACTIONS: ` ${game.roundNumber}` }[/** @type {string} */ (game.phase)];
    const sky = el(
      "div",
      { class: `sky ${asleep ? "night" : "day"}` },
      el("h2", {}, `${title}${number ?? ` ${game.dayNumber || game.roundNumber}`}`),
      el("p", { class: "explained" }, text),
    );
    return [
      el("div", { class: "known" }, sky, ...card(view, game)),
      el("div", { class: "told" }, ...outcome(view), ...story(view, game)),
      village(view, game),
    ];
  },

  controls(view, act) {
    const [allowed] = view.state?.allowed_actions ?? [];
    if (allowed === undefined) return [];
    return [allowed.action_type === "say" ? statement(view, allowed, act) : choice(view, allowed, act)];
  },

  /** A player that was clicked is whom the statement is about. */
  pick(agent, controls) {
    const [kind, whom] = ["what", "whom"].map((name) => controls.querySelector(`select[name="${name}"]`));
    if (!(kind instanceof HTMLSelectElement) || !(whom instanceof HTMLSelectElement)) return;
    if (whom.hidden) {
      kind.value = "accusation";
      kind.dispatchEvent(new Event("change"));
    }
    if (whom.querySelector(`option[value="${CSS.escape(agent)}"]`) !== null) whom.value = agent;
    whom.focus();
  },

  talk(view) {
    const game = view.state?.game_state;
    const mates = (game?.privateKnowledge?.mafiaTeammates ?? []).filter((/** @type {any} */ one) => one.alive);
    const open = game?.self?.alive && game.phase === "NIGHT_ACTIONS" && mates.length > 0;
    return {
      title: "Among the mafia",
      readers: open ? [{ label: "my mates", to: mates.map((/** @type {any} */ one) => one.id) }] : [],
      heard: (view.state?.messages ?? []).filter((one) => one.scope === "private"),
    };
  },
};

// What is seen.

/** What the person is, and what only it knows. @param {View} view @param {any} game @returns {Node[]} */
function card(view, game) {
  const { self, privateKnowledge: known } = game;
  if (self === undefined) return [];
  const mates = (known.mafiaTeammates ?? []).map((/** @type {any} */ one) => one.id);
  const tag = (/** @type {string} */ agent) => nameTag(view, agent);
  /** @type {[unknown, ...(Node | string)[]][]} */
  const rows = [
    [!self.alive, el("b", {}, "You are dead."), " You see what the village sees."],
    [mates.length, "Mafia with you: ", ...listed(view, mates), "."],
    [known.lastProtected, "Last night you protected ", tag(known.lastProtected), "."],
    [game.lastNightResult?.protected, "You saved a life."],
    ...known.investigationResults.map((/** @type {any} */ found) =>
      [true, `Night ${found.round}: `, tag(found.target.id), found.isMafia ? " is mafia." : " is not mafia."]),
    ...Object.entries(game.nightActions).map(([who, target]) => [true, "Tonight ", tag(who), " chose ", tag(target), "."]),
    [game.ownVote, "You voted against ", tag(game.ownVote), "."],
  ];
  const role = self.role === "mafia" ? "mafia" : `${self.role === "villager" ? "a" : "the"} ${self.role}`;
  return [
    el(
      "section",
      { class: `card-of ${self.role}`, "aria-label": "Your role" },
      el("h3", {}, "You are ", el("b", {}, role)),
      el("p", { class: "explained" }, ROLES[self.role] ?? ""),
      ...rows.flatMap(([is, ...words]) => (is ? [el("p", {}, ...words)] : [])),
    ),
  ];
}

let drawn = "";
let list = el("ul");

/**
 * All players, once: what is known of each, and in a vote or at night the choice. It stays the same node while nothing
 * in it changes, with what is chosen.
 * @param {View} view @param {any} game
 */
function village(view, game) {
  const open = targets(view);
  const { players, statements, votingHistory } = game;
  const turn = view.status === "running" ? view.state?.current_turn_agent_id : null;
  const wanted = JSON.stringify([players, statements, votingHistory, view.seats, view.you, open, turn]);
  if (wanted !== drawn) {
    const rows = players.map((/** @type {any} */ one) => villager(view, game, one, open, turn === one.id));
    list = el("ul", { class: "village", "aria-label": "The village" }, ...rows);
    drawn = wanted;
  }
  return list;
}

/** @param {View} view @param {any} game @param {any} one @param {string[]} open @param {boolean} turn */
function villager(view, game, one, open, turn) {
  const place = placeOf(view, one.id);
  const against = game.statements.filter((/** @type {any} */ said) =>
    said.round === game.dayNumber && said.targetId === one.id && hostile(said)).length;
  const voted = game.votingHistory.some((/** @type {any} */ row) => row.eliminated === one.id);
  const role = one.role === "unknown" ? "" : one.role;
  const notes = [
    one.alive ? "" : `${voted ? "voted out on day" : "killed in night"} ${one.eliminatedRound}`,
    against && game.phase.startsWith("DAY") ? `accused by ${against}` : "",
    turn ? PHASES[game.phase]?.[2] : "",
    place?.name === null ? "free" : place?.connected ? "" : "away",
    view.status === "over" && place?.ready && !place.program ? "ready" : "",
  ];
  const shown = [role ? el("span", { class: "role" }, role) : "", el("small", {}, notes.filter(Boolean).join(", "))];
  const number = open.indexOf(one.id);
  const known = [nameTag(view, one.id), ...shown];
  return el(
    "li",
    { class: [one.alive ? "" : "dead", turn ? "turn" : "", role].filter(Boolean).join(" "), "data-agent": one.id },
    number < 0 ? el("div", {}, ...known) : target(one.id, number, ...known),
  );
}

/** @param {any} said */
function hostile(said) {
  return said.type === "accusation" || said.isMafia === true;
}

/** What has happened, the latest round first. @param {View} view @param {any} game @returns {Node[]} */
function story(view, game) {
  const words = (view.state?.messages ?? []).filter((one) => one.scope === "public");
  const said = game.statements.map((/** @type {any} */ one, /** @type {number} */ i) => ({
    ...one,
    words: words[i]?.sender_id === one.playerId ? words[i]?.content : one.content,
  }));
  const rounds = [];
  for (let round = game.roundNumber; round >= 1; round -= 1) {
    const spoken = said.filter((/** @type {any} */ one) => one.round === round).reverse();
    const speeches = spoken.map((/** @type {any} */ one) => speech(view, one));
    const lines = [...vote(view, game, round), ...speeches, ...night(view, game, round)];
    if (lines.length) rounds.push(el("li", {}, el("h3", {}, `Round ${round}`), el("ul", {}, ...lines)));
  }
  const label = "What has happened, the latest first";
  return rounds.length ? [el("ol", { class: "story", "aria-label": label }, ...rounds)] : [];
}

/** @param {(Node | string)[]} words */
function event(...words) {
  return el("li", { class: "event" }, ...words);
}

/** @param {View} view @param {any} game @param {number} round */
function night(view, game, round) {
  if (game.phase === "NIGHT_ACTIONS" && round === game.roundNumber) return [];
  const out = game.votingHistory.map((/** @type {any} */ row) => row.eliminated);
  const died = game.players.filter((/** @type {any} */ one) => one.eliminatedRound === round && !out.includes(one.id));
  if (!died.length) return [event(`Night ${round}: nobody died.`)];
  return died.map((/** @type {any} */ one) => event(`Night ${round}: `, nameTag(view, one.id), ` (${one.role}), killed.`));
}

/** @param {View} view @param {any} one a statement */
function speech(view, one) {
  const target = one.targetId === null ? [] : [" ", nameTag(view, one.targetId)];
  const verdict = one.isMafia === null ? "" : one.isMafia ? ": mafia" : ": not mafia";
  /** @type {Record<string, (Node | string)[]>} */
  const acts = {
    accusation: ["accuses", ...target],
    defense: ["defends", ...target],
    claim: [`claims ${one.role}`, ...target, verdict],
  };
  const act = /^I (accuse|defend) p\d+\.$/.test(one.words) ? undefined : acts[one.type]; // the words say it already
  return el(
    "li",
    { class: hostile(one) ? "bad" : one.type === "general" ? "" : "good" },
    nameTag(view, one.playerId),
    ": ",
    el("q", { dir: "auto" }, named(view, one.words)),
    act ? el("span", { class: "act" }, ...act) : "",
  );
}

/** The votes of a day, most first. @param {View} view @param {any} game @param {number} round */
function vote(view, game, round) {
  const found = game.votingHistory.find((/** @type {any} */ row) => row.round === round);
  if (found === undefined) return [];
  /** @type {Map<string, string[]>} */
  const tally = new Map();
  for (const [voter, target] of Object.entries(found.votes)) tally.set(target, [...(tally.get(target) ?? []), voter]);
  const role = game.players.find((/** @type {any} */ one) => one.id === found.eliminated)?.role;
  const end = found.eliminated ? [nameTag(view, found.eliminated), ` (${role}), voted out.`] : ["Nobody was voted out."];
  const rows = [...tally].sort((one, other) => other[1].length - one[1].length).map(([target, voters]) => {
    const against = [" against ", nameTag(view, target), ": ", ...listed(view, voters)];
    return el("li", { class: "tally" }, el("b", {}, String(voters.length)), ...against);
  });
  return [event(`Vote ${round}: `, ...end), ...rows];
}

/** @param {View} view @param {string[]} agents */
function listed(view, agents) {
  return commas(agents.map((one) => [nameTag(view, one)]));
}

// What the person does.

/** Whom the person can choose now; "" for nobody. @param {View} view @returns {string[]} */
function targets(view) {
  const state = view.state;
  const allowed = view.you !== null && state?.is_my_turn ? state.allowed_actions[0] : undefined;
  if (allowed === undefined || allowed.action_type === "say") return [];
  const ids = allowed.payload_schema.properties?.["targetId"]?.enum ?? [];
  return [...ids.filter((one) => one !== null).map(String), ...(ids.includes(null) ? [""] : [])];
}

/** One of those who can be chosen. @param {string} id @param {number} number @param {(Node | string)[]} known */
function target(id, number, ...known) {
  const key = number < 9 ? String(number + 1) : null;
  const input = el("input", { type: "radio", name: "target", value: id, required: true, form: CHOICE, "data-key": key });
  return el("label", {}, input, el("span", {}, ...known), key === null ? "" : el("kbd", { "aria-hidden": "true" }, key));
}

/** Players are chosen on the board. @param {View} view @param {AllowedAction} allowed @param {Act} act */
function choice(view, { action_type, payload_schema }, act) {
  const actionType = payload_schema.properties?.["actionType"]?.enum?.[0];
  const deed = actionType === undefined ? "vote" : String(actionType).toLowerCase();
  const question = actionType === undefined ? "Whom do you vote out?" : `Whom do you ${deed} tonight?`;
  const open = targets(view);
  const form = el(
    "form",
    { class: "move targets", id: CHOICE },
    el("b", {}, question),
    ...(open.at(-1) === "" ? [target("", open.length - 1, "Nobody")] : []),
    button(deed.charAt(0).toUpperCase() + deed.slice(1), "d", undefined, { "data-action": action_type }),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const targetId = String(new FormData(form).get("target") ?? "") || null;
    act({ action_type, payload: actionType === undefined ? { targetId } : { actionType, targetId } });
  });
  return form;
}

/** What is stated, of whom, and the words. @param {View} view @param {AllowedAction} allowed @param {Act} act */
function statement(view, { payload_schema }, act) {
  const { targetId, role: roles } = payload_schema.properties ?? {};
  const values = (/** @type {Schema | undefined} */ { enum: all = [] } = {}) => all.filter((one) => one !== null).map(String);
  const others = values(targetId).filter((id) => id !== view.state?.agent_id);
  const option = (/** @type {string} */ value, /** @type {string} */ label) => el("option", { value }, label);
  const kinds = Object.entries(STATEMENTS).map(([name, { says }]) => option(name, says));
  const kind = el("select", { name: "what", "aria-label": "What you do" }, ...kinds);
  const whom = el("select", { name: "whom", "aria-label": "Whom" });
  const role = el("select", { "aria-label": "Role" }, ...values(roles).map((one) => option(one, one)));
  const placeholder = "In your own words, or leave it empty";
  const words = el("input", { "aria-label": "Your words", maxlength: 1000, autocomplete: "off", placeholder });
  const chosen = () => STATEMENTS[/** @type {keyof typeof STATEMENTS} */ (kind.value)];
  const fit = () => {
    const open = kind.value === "defense" ? values(targetId) : others;
    whom.replaceChildren(...open.map((id) => option(id, nameOf(view, id))));
    whom.hidden = !chosen().whom;
    role.hidden = kind.value !== "claim";
  };
  kind.addEventListener("change", fit);
  fit();
  const form = el(
    "form",
    { class: "move wide statement" },
    ...[el("b", {}, "Your statement: I"), kind, whom, role, words],
    button("Say it", "d", undefined, { "data-action": "say" }),
    el("small", {}, "All hear you, once today. Bots understand the choice, and plain words such as “I accuse …”."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = identified(view, words.value.trim());
    /** @type {Record<string, unknown>} */
    const payload = { ...chosen().payload, ...(whom.hidden ? {} : { targetId: whom.value }) };
    if (!role.hidden) payload["role"] = role.value;
    if (text) payload["text"] = text;
    else if (kind.value === "talk") payload["type"] = "general";
    act({ action_type: "say", payload });
  });
  return form;
}

/** What people write, with ids such as p3 in place of names. @param {View} view @param {string} words */
function identified(view, words) {
  const known = view.seats.filter((place) => (place.name ?? "").length > 1);
  const longest = known.sort((a, b) => (b.name ?? "").length - (a.name ?? "").length);
  if (!longest.length) return words;
  const names = longest.map((place) => (place.name ?? "").replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])(?:${names.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  const agent = (/** @type {string} */ name) => longest.find((place) => place.name?.toLowerCase() === name.toLowerCase());
  return words.replace(pattern, (name) => agent(name)?.agent_id ?? name);
}
