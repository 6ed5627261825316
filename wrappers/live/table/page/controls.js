/** Buttons, sliders and fields made of the JSON schemas of what is allowed: every TurnState game can be played. */

import { button, el, number, words } from "./dom.js";
import { outlook } from "./forecast.js";
import { nameOf, placeOf } from "./names.js";

/** @import { Act, AllowedAction, GamePage, Range, Schema, View } from "./types.d.ts" */
/** @typedef {string | number | boolean | null | undefined} Value */
/** A node, and its value; undefined: left out. @typedef {{ node: HTMLElement, value: () => unknown }} Field */

const FEW = 12; // values that are all shown at once

/**
 * A form for each action. The digits that press their buttons are those in their labels if each has its own, else 1, 2,
 * 3, …
 * @param {AllowedAction[]} allowed @param {View} view @param {GamePage} game @param {Act} act
 */
export function controlsOf(allowed, view, game, act) {
  const labels = allowed.map((one) => game.label?.(one, view) ?? words(one.action_type));
  const digits = labels.map((one) => /^\D*(\d)\D*$/.exec(one)?.[1] ?? "");
  const apart = !digits.includes("") && new Set(digits).size === digits.length;
  return allowed.map((one, i) => control(one, labels[i] ?? "", (apart && digits[i]) || String(i + 1), view, game, act));
}

/**
 * A form that plays an action.
 * @param {AllowedAction} allowed @param {string} label
 * @param {string} key the digit that presses its button; longer texts are no keys @param {View} view
 * @param {GamePage} game @param {Act} act
 */
function control(allowed, label, key, view, game, act) {
  const { action_type, description, payload_schema } = allowed;
  const { properties = {}, required = [] } = payload_schema;
  const isAsked = (/** @type {[string, Schema]} */ [name, schema]) => required.includes(name) || kind(schema) !== "object";
  const fields = Object.entries(properties).filter(isAsked).map(([name, schema]) => {
    const range = game.range?.(allowed, name, view) ?? null;
    return { name, ...field(words(name), schema, required.includes(name), range, view) };
  });
  const play = button(label, key, undefined, { "data-action": action_type });
  const style = fields.length ? "move wide" : "move";
  const form = el("form", { class: style, title: description }, ...fields.map((one) => one.node), play);
  const hint = game.hint?.(allowed, view) ?? description;
  if (fields.length && hint) form.append(el("small", {}, hint));
  const forecast = view.forecasts?.find((one) => one.action_type === action_type);
  if (forecast !== undefined) {
    const numbers = [...form.querySelectorAll("input")].filter((one) => one.type === "number");
    const names = forecast.keys.length ? forecast.keys.map(words) : ["You"];
    const own = names.flatMap((name) => numbers.filter((one) => one.closest("label")?.firstChild?.textContent === name));
    play.before(outlook(forecast, own.length ? own : numbers.slice(0, 1)));
    if (!numbers.length) form.classList.add("wide");
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = fields.map(({ name, value }) => [name, value()]).filter(([, value]) => value !== undefined);
    act({ action_type, payload: Object.fromEntries(given) });
  });
  return form;
}

/**
 * @param {string} name as people write it @param {Schema} schema @param {boolean} required @param {Range | null} range
 * @param {View} view @returns {Field}
 */
function field(name, schema, required, range, view) {
  const label = el("span", {}, name);
  if (schema.enum !== undefined) return choice(label, schema.enum, required, view);
  switch (kind(schema)) {
    case "integer":
    case "number":
      return numeric(label, schema, required, range);
    case "boolean":
      return choice(label, [true, false], required, view);
    case "string": {
      const input = el("input", { required, minlength: schema.minLength, maxlength: schema.maxLength });
      const node = el("label", { class: "field" }, label, input);
      return { node, value: () => input.value || (required ? "" : undefined) };
    }
    default:
      return schema.properties === undefined ? json(label, required) : members(label, schema.properties, view);
  }
}

/** The type of what is written; null, where that is allowed too, is what is left out. @param {Schema} schema */
function kind(schema) {
  return Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
}

/**
 * One of some values; of a few, each has a button, and the first is chosen. What may be left out is, unless something
 * is chosen.
 * @param {HTMLElement} label @param {Value[]} values @param {boolean} required @param {View} view @returns {Field}
 */
function choice(label, values, required, view) {
  const open = required ? values : [undefined, ...values.filter((value) => value !== null)];
  const said = open.map((value) => {
    if (typeof value === "boolean") return value ? "yes" : "no";
    return typeof value === "string" ? nameOf(view, value) : String(value ?? "none");
  });
  if (open.length > FEW) {
    const select = el("select", {}, ...said.map((words, value) => el("option", { value }, words)));
    return { node: el("label", { class: "field" }, label, select), value: () => open[Number(select.value)] };
  }
  const name = label.textContent ?? "";
  const inputs = open.map((_, value) => el("input", { type: "radio", name, value, checked: value === 0 }));
  const labels = inputs.map((input, i) => el("label", {}, input, el("span", {}, said[i] ?? "")));
  const node = el("fieldset", { class: "field targets" }, el("legend", {}, label), ...labels);
  return { node, value: () => open[inputs.findIndex((input) => input.checked)] };
}

/**
 * A slider for the hand, a field for the exact value, and a button for each value of note.
 * @param {HTMLElement} label @param {Schema} schema @param {boolean} required @param {Range | null} range
 * @returns {Field}
 */
function numeric(label, schema, required, range) {
  const whole = kind(schema) === "integer";
  const { minimum: min, maximum: max } = schema;
  const value = min === max ? min : null; // no choice
  const exact = el("input", { type: "number", min, max, value, step: whole ? 1 : "any", required, inputmode: "decimal" });
  const line = el("label", {}, label, exact);
  const node = el("div", { class: "field" }, line);
  if (range === null && min !== undefined && max !== undefined && min < max) range = plain(min, max, whole);
  if (range !== null) {
    const { low, high, step, start, presets = [] } = range;
    const name = label.textContent;
    const slider = el("input", { type: "range", min: low, max: high, step, "aria-label": name, tabindex: 0 });
    slider.value = String(start);
    exact.value = slider.value;
    slider.addEventListener("input", () => (exact.value = slider.value));
    exact.addEventListener("input", () => (slider.value = exact.value));
    const buttons = presets.map(({ label, key, value }) => {
      const set = () => (slider.value = exact.value = String(value));
      return button(label, key, set, { class: "preset", "data-preset": label });
    });
    node.append(slider, ...(buttons.length ? [el("div", { class: "presets" }, ...buttons)] : []));
    line.append(el("small", { class: "bounds" }, `${number(min ?? low)} to ${number(max ?? high)}`));
  }
  return { node, value: () => (exact.value === "" ? undefined : Number(exact.value)) };
}

/** @param {number} low @param {number} high @param {boolean} whole @returns {Range} */
function plain(low, high, whole) {
  const step = whole ? 1 : Math.max(10 ** Math.floor(Math.log10(Math.max(high - low, 1e-9)) - 2), 1e-6);
  return { low, high, step, start: whole ? low : low + Math.round((high - low) / 2 / step) * step };
}

/**
 * A field for each value by name. Agents have their people's names.
 * @param {HTMLElement} label @param {Record<string, Schema>} properties @param {View} view @returns {Field}
 */
function members(label, properties, view) {
  const all = Object.entries(properties);
  const parts = all.map(([name, schema], i) => {
    return { name, ...field(nameOf(view, name), schema, true, share(schema, i, all.length), view) };
  });
  const sum = all[0]?.[1].maximum;
  const shares = all.every(([name, schema]) => schema.maximum === sum && placeOf(view, name));
  if (shares && sum !== undefined) together(parts, sum);
  return {
    node: el("div", { class: "field" }, label, ...parts.map((one) => one.node)),
    value: () => Object.fromEntries(parts.map((one) => [one.name, one.value()])),
  };
}

/**
 * Numbers by name begin as equal parts of the most, which they may have to sum to; the last one takes the rest.
 * @param {Schema} schema @param {number} i @param {number} count @returns {Range | null}
 */
function share({ minimum: min, maximum: max, ...schema }, i, count) {
  if (kind(schema) !== "number" || min === undefined || max === undefined) return null;
  const range = plain(min, max, false);
  const part = Math.floor(max / count / range.step) * range.step;
  return { ...range, start: i < count - 1 ? part : max - part * (count - 1) };
}

/**
 * Let fields keep their sum: where one is changed, the others share the rest as before.
 * @param {Field[]} parts @param {number} sum
 */
function together(parts, sum) {
  const fields = parts.map((one) => /** @type {HTMLInputElement} */ (one.node.querySelector("[type=number]")));
  const cents = (/** @type {number} */ value) => Math.round(100 * value) / 100;
  let changing = false;
  fields.forEach((own, i) => parts[i]?.node.addEventListener("input", () => {
    if (changing) return;
    changing = true; // a slider follows its field
    const others = fields.filter((field) => field !== own);
    let before = others.reduce((total, field) => total + Number(field.value), 0);
    let rest = Math.max(0, cents(sum - Number(own.value)));
    others.forEach((field, i) => {
      const part = before ? Number(field.value) / before : 1 / (others.length - i);
      before -= Number(field.value);
      field.value = String(i === others.length - 1 ? rest : cents(rest * part));
      rest = cents(rest - Number(field.value));
      field.dispatchEvent(new Event("input", { bubbles: true }));
    });
    changing = false;
  }));
}

/**
 * What no field is made for is written as JSON.
 * @param {HTMLElement} label @param {boolean} required @returns {Field}
 */
function json(label, required) {
  const area = el("textarea", { rows: 3, required, spellcheck: "false", placeholder: "JSON" });
  area.addEventListener("input", () => {
    try {
      JSON.parse(area.value || "null");
      area.setCustomValidity("");
    } catch (error) {
      area.setCustomValidity(String(error));
    }
  });
  const value = () => (area.value ? JSON.parse(area.value) : undefined);
  return { node: el("label", { class: "field" }, label, area), value };
}
