/** Mafia: what the person does: a target at night, a statement by day, a vote. */

import { el } from "../dom.js";
import { nameOf } from "../names.js";
import { identified } from "./mafia_words.js";

/** @import { Act, AllowedAction, View } from "../types.d.ts" */

const DEEDS = { KILL: "Kill", PROTECT: "Protect", INVESTIGATE: "Investigate" };

const CHOICE = "choice"; // the form of a vote or of a choice at night; the players on the board belong to it

/**
 * Choose a player that was clicked as whom the statement is about.
 * @param {string} agent
 * @param {HTMLElement} controls
 */
export function pick(agent, controls) {
  const [kind, whom] = ["what", "whom"].map((name) => controls.querySelector(`select[name="${name}"]`));
  if (!(kind instanceof HTMLSelectElement) || !(whom instanceof HTMLSelectElement)) return;
  if (whom.hidden) {
    kind.value = "accusation";
    kind.dispatchEvent(new Event("change"));
  }
  if (whom.querySelector(`option[value="${CSS.escape(agent)}"]`) !== null) whom.value = agent;
  whom.focus();
}

/**
 * Whom the person can vote for, kill, protect or investigate now; "" for nobody.
 * @param {View} view
 * @returns {string[]}
 */
export function targets(view) {
  const state = view.state;
  const allowed = view.you !== null && state?.is_my_turn ? state.allowed_actions[0] : undefined;
  if (allowed === undefined || allowed.action_type === "say") return [];
  const ids = allowed.payload_schema.properties?.["targetId"]?.enum ?? [];
  return [...ids.filter((one) => one !== null).map(String), ...(ids.includes(null) ? [""] : [])];
}

/**
 * One of those who can be chosen.
 * @param {string} id
 * @param {number} number from 0
 * @param {(Node | string)[]} known what is shown of it
 */
export function target(id, number, ...known) {
  const key = number < 9 ? String(number + 1) : null;
  const input = el("input", { type: "radio", name: "target", value: id, required: true, form: CHOICE, "data-key": key });
  return el("label", {}, input, el("span", {}, ...known), key === null ? "" : el("kbd", { "aria-hidden": "true" }, key));
}

/**
 * The question and its button. The players are chosen on the board.
 * @param {View} view
 * @param {AllowedAction} allowed
 * @param {Act} act
 */
export function choice(view, allowed, act) {
  const kind = allowed.payload_schema.properties?.["actionType"]?.enum?.[0];
  const question = kind === undefined ? "Whom do you vote out?" : `Whom do you ${String(kind).toLowerCase()} tonight?`;
  const deed = kind === undefined ? "Vote" : (DEEDS[/** @type {keyof typeof DEEDS} */ (kind)] ?? String(kind));
  const open = targets(view);
  const form = el(
    "form",
    { class: "move targets", id: CHOICE },
    el("b", {}, question),
    ...(open.at(-1) === "" ? [target("", open.length - 1, "Nobody")] : []),
    el(
      "button",
      { type: "submit", "data-key": "d", "data-action": allowed.action_type },
      deed,
      " ",
      el("kbd", { "aria-hidden": "true" }, "D"),
    ),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const targetId = String(new FormData(form).get("target") ?? "") || null;
    act({ action_type: allowed.action_type, payload: kind === undefined ? { targetId } : { actionType: kind, targetId } });
  });
  return form;
}

/**
 * A statement: what it does, of whom, and the words.
 * @param {View} view
 * @param {AllowedAction} allowed
 * @param {Act} act
 */
export function statement(view, allowed, act) {
  const { targetId, role: roles } = allowed.payload_schema.properties ?? {};
  const ids = (targetId?.enum ?? []).filter((one) => one !== null).map(String);
  const others = ids.filter((id) => id !== view.state?.agent_id);
  const option = (/** @type {string} */ value, /** @type {string} */ label) => el("option", { value }, label);
  const kind = el(
    "select",
    { name: "what", "aria-label": "What you do" },
    option("talk", "just talk"),
    option("accusation", "accuse"),
    option("defense", "defend"),
    option("claim", "say what I am"),
    option("found", "as sheriff: is mafia"),
    option("cleared", "as sheriff: is not mafia"),
  );
  const whom = el("select", { name: "whom", "aria-label": "Whom" });
  const role = el(
    "select",
    { "aria-label": "Role" },
    ...(roles?.enum ?? []).filter((one) => one !== null).map((one) => option(String(one), String(one))),
  );
  const words = el("input", {
    "aria-label": "Your words",
    maxlength: 1000,
    autocomplete: "off",
    placeholder: "In your own words, or leave it empty",
  });
  const fit = () => {
    const open = kind.value === "defense" ? ids : others;
    whom.replaceChildren(...open.map((id) => option(id, nameOf(view, id))));
    whom.hidden = kind.value === "talk" || kind.value === "claim";
    role.hidden = kind.value !== "claim";
  };
  kind.addEventListener("change", fit);
  fit();
  const form = el(
    "form",
    { class: "move wide statement" },
    el("b", {}, "Your statement: I"),
    kind,
    whom,
    role,
    words,
    el(
      "button",
      { type: "submit", "data-key": "d", "data-action": "say" },
      "Say it ",
      el("kbd", { "aria-hidden": "true" }, "D"),
    ),
    el("small", {}, "All hear you, once today. Bots understand the choice, and plain words such as “I accuse …”."),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const own = identified(view, words.value.trim());
    const text = own ? { text: own } : {};
    /** @type {Record<string, Record<string, unknown>>} */
    const payloads = {
      talk: own ? {} : { type: "general" },
      accusation: { type: "accusation", targetId: whom.value },
      defense: { type: "defense", targetId: whom.value },
      claim: { type: "claim", role: role.value },
      found: { type: "claim", role: "sheriff", targetId: whom.value, isMafia: true },
      cleared: { type: "claim", role: "sheriff", targetId: whom.value, isMafia: false },
    };
    act({ action_type: "say", payload: { ...payloads[kind.value], ...text } });
  });
  return form;
}
