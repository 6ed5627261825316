/** The rules in words (facts.json has them as Markdown), for people: without what only programs need. */

import { el, words } from "./dom.js";

const FOR_PROGRAMS = /^## Fields\b/m; // the rest is about `game_state`

/** The heading of the rules, which is the game's name. @param {string} rules */
export function heading(rules) {
  return /^# (.*)$/m.exec(rules)?.[1] ?? "";
}

/**
 * In one paragraph what the rules say first, and of the end and the payoffs, without what programs learn from.
 * @param {string} rules @returns {Node[]}
 */
export function inShort(rules) {
  const first = rules.replace(/^# .*$/m, "").trim().split("\n")[0] ?? "";
  const section = rules.split(/^## End and payoffs\n/m)[1]?.split(/\n\n|\n##/)[0];
  if (!section) return []; // of somebody's own game all rules are below
  const said = `${first} ${section}`.replace(/\s(This is the reward|These are the rewards|The reward is this amount)\.|, which is the reward/, "");
  return [el("p", { class: "aim" }, ...inline(said))];
}

/**
 * What the fields of a game stand for, in the rules' words: "your cost per unit" is `my_marginal_cost`.
 * @param {string} rules
 */
export function fieldWords(rules) {
  return new Map([...rules.matchAll(/(?:^- |; )`(\w+)`: ([^,;`\n]+)/gm)].map(([, name = "", words = ""]) => [name, words]));
}

/** @param {string} rules @returns {Node[]} */
export function written(rules) {
  const blocks = rules.replace(/^# .*$/m, "").split(FOR_PROGRAMS)[0]?.split(/\n{2,}|\n(?=##)/) ?? [];
  return blocks
    .map((block) => block.trim())
    .filter((block) => block && !block.startsWith("`message_only`"))
    .flatMap((block) => {
      const lines = block.split("\n");
      const items = lines.filter((line) => line.startsWith("- ")).map((line) => el("li", {}, ...inline(line.slice(2))));
      const plain = lines.filter((line) => !/^(- |#)/.test(line));
      return [
        ...lines.filter((line) => line.startsWith("## ")).map((line) => el("h2", {}, line.slice(3))),
        ...plain.map((line) => el("p", {}, ...inline(line))),
        ...(items.length ? [el("ul", {}, ...items)] : []),
      ];
    });
}

/** A line with the names of actions as their buttons have them. @param {string} line */
function inline(line) {
  return line.split(/`([^`]*)`/).map((part, i) => (i % 2 ? el("b", {}, words(part)) : part));
}
