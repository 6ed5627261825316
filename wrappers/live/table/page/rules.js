/** The rules in words (facts.json has them as Markdown), for people: without what only programs need. */

import { el, words } from "./dom.js";

const FOR_PROGRAMS = "## Fields of"; // the rest is about `game_state`

/**
 * The heading of the rules, which is the game's name.
 * @param {string} rules
 */
export function heading(rules) {
  return /^# (.*)$/m.exec(rules)?.[1] ?? "";
}

/**
 * What the rules say first: what it is about; and of the end and the payoffs, without the sentence that this is what
 * programs learn from.
 * @param {string} rules
 * @returns {Node[]}
 */
export function inShort(rules) {
  const first = rules.replace(/^# .*$/m, "").trim().split("\n")[0] ?? "";
  const section = rules.split(/^## End and payoffs\n/m)[1]?.split(/\n\n|\n##/)[0] ?? "";
  if (!section) return []; // of somebody's own game all rules are below
  return written(`${first}\n\n${section}`.replace(/ (This is the reward|These are the rewards)\.|, which is the reward/, ""));
}

/**
 * @param {string} rules
 * @returns {Node[]}
 */
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

/**
 * A line with the names of actions as their buttons have them.
 * @param {string} line
 */
function inline(line) {
  return line.split(/`([^`]*)`/).map((part, i) => (i % 2 ? el("b", {}, words(part)) : part));
}
