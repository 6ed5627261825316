/** Buttons, sliders and fields made of the JSON schemas of what is allowed: every TurnState game can be played. */

import { el, number, words } from "./dom.js";
import { outlook } from "./forecast.js";
import { nameOf } from "./names.js";

/** @import { Action, AllowedAction, GamePage, Range, Schema, View } from "./types.d.ts" */

/**
 * The digits that press the buttons of some actions: those in their labels if each has its own, else 1, 2, 3, …
 * @param {AllowedAction[]} allowed
 * @param {View} view
 * @param {GamePage} game
 * @returns {string[]} longer texts are no keys
 */
export function keys(allowed, view, game) {
  const digits = allowed.map((one) => /^\D*(\d)\D*$/.exec(labelOf(one, view, game))?.[1] ?? "");
  const apart = !digits.includes("") && new Set(digits).size === digits.length;
  return apart ? digits : allowed.map((_, i) => String(i + 1));
}

/**
 * @param {AllowedAction} allowed
 * @param {View} view
 * @param {GamePage} game
 * @returns {string}
 */
function labelOf(allowed, view, game) {
  return game.label?.(allowed, view) ?? words(allowed.action_type);
}

/**
 * A form that plays an action.
 * @param {AllowedAction} allowed
 * @param {string} key the digit that presses its button
 * @param {View} view
 * @param {GamePage} game
 * @param {(action: Action) => void} act
 * @returns {HTMLFormElement}
 */
export function control(allowed, key, view, game, act) {
  const { properties = {}, required = [] } = allowed.payload_schema;
  const fields = Object.entries(properties)
    .filter(([name, schema]) => required.includes(name) || kind(schema) !== "object")
    .map(([name, schema]) => {
      const range = game.range?.(allowed, name, view) ?? null;
      return { name, ...field(words(name), schema, required.includes(name), range, view) };
    });
  const named = { type: "submit", "data-key": key, "data-action": allowed.action_type };
  const button = el("button", named, labelOf(allowed, view, game));
  if (key.length === 1) button.append(" ", el("kbd", { "aria-hidden": "true" }, key));
  const form = el(
    "form",
    { class: fields.length ? "move wide" : "move", title: allowed.description },
    ...fields.map((one) => one.node),
    button,
  );
  const hint = game.hint?.(allowed, view) ?? allowed.description;
  if (fields.length && hint) form.append(el("small", {}, hint));
  const forecast = view.forecasts?.find((one) => one.action_type === allowed.action_type);
  if (forecast !== undefined) {
    const numbers = [...form.querySelectorAll("input")].filter((one) => one.type === "number");
    const names = forecast.keys.length ? forecast.keys.map((key) => words(key)) : ["You"];
    const own = names.flatMap((name) => numbers.filter((one) => one.closest("label")?.firstChild?.textContent === name));
    button.before(outlook(forecast, own.length ? own : numbers.slice(0, 1)));
    if (numbers.length === 0) form.classList.add("wide");
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    /** @type {Record<string, unknown>} */
    const payload = {};
    for (const one of fields) {
      const value = one.value();
      if (value !== undefined) payload[one.name] = value;
    }
    act({ action_type: allowed.action_type, payload });
  });
  return form;
}

/**
 * @typedef {object} Field
 * @property {HTMLElement} node
 * @property {() => unknown} value undefined: left out
 */

/**
 * @param {string} name as people write it
 * @param {Schema} schema
 * @param {boolean} required
 * @param {Range | null} range
 * @param {View} view
 * @returns {Field}
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
    case "object":
      if (schema.properties !== undefined) return members(label, schema.properties, view);
      return json(label, required);
    default:
      return json(label, required);
  }
}

/**
 * The type of what is written; null, where that is allowed too, is what is left out.
 * @param {Schema} schema
 */
function kind(schema) {
  return Array.isArray(schema.type) ? schema.type.find((one) => one !== "null") : schema.type;
}

const FEW = 12; // values that are all shown at once

/**
 * One of some values. Agents have their people's names; what may be left out is, unless something is chosen.
 * @param {HTMLElement} label
 * @param {(string | number | boolean | null)[]} values
 * @param {boolean} required
 * @param {View} view
 * @returns {Field}
 */
function choice(label, values, required, view) {
  const open = required ? values : [undefined, ...values.filter((value) => value !== null)];
  if (open.length <= FEW) return buttons(label, open, view);
  const options = open.map((value, index) => el("option", { value: index }, said(value, view)));
  const select = el("select", {}, ...options);
  return { node: el("label", { class: "field" }, label, select), value: () => open[Number(select.value)] };
}

/**
 * A button for each of a few values; the first is chosen.
 * @param {HTMLElement} label
 * @param {(string | number | boolean | null | undefined)[]} open
 * @param {View} view
 * @returns {Field}
 */
function buttons(label, open, view) {
  const name = label.textContent ?? "";
  const inputs = open.map((value, index) => el("input", { type: "radio", name, value: index, checked: index === 0 }));
  const labels = inputs.map((input, index) => el("label", {}, input, el("span", {}, said(open[index], view))));
  const node = el("fieldset", { class: "field targets" }, el("legend", {}, label), ...labels);
  return { node, value: () => open[inputs.findIndex((input) => input.checked)] };
}

/**
 * @param {string | number | boolean | null | undefined} value
 * @param {View} view
 */
function said(value, view) {
  if (value === undefined || value === null) return "none";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? nameOf(view, value) : String(value);
}

/**
 * A slider for the hand, a field for the exact value, and a button for each value of note.
 * @param {HTMLElement} label
 * @param {Schema} schema
 * @param {boolean} required
 * @param {Range | null} range
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
    const { low, high, step, start } = range;
    const slider = el("input", {
      type: "range",
      min: low,
      max: high,
      step,
      "aria-label": label.textContent,
      tabindex: 0,
    });
    slider.value = exact.value = String(start);
    exact.value = slider.value;
    slider.addEventListener("input", () => (exact.value = slider.value));
    exact.addEventListener("input", () => (slider.value = exact.value));
    node.append(slider);
    if (range.presets?.length) {
      const buttons = range.presets.map((preset) => {
        const { label, key } = preset;
        const button = el("button", { type: "button", class: "preset", "data-preset": label, "data-key": key }, label);
        if (key) button.append(" ", el("kbd", { "aria-hidden": "true" }, key.toUpperCase()));
        button.addEventListener("click", () => (slider.value = exact.value = String(preset.value)));
        return button;
      });
      node.append(el("div", { class: "presets" }, ...buttons));
    }
    line.append(el("small", { class: "bounds" }, `${number(min ?? low)} to ${number(max ?? high)}`));
  }
  return { node, value: () => (exact.value === "" ? undefined : Number(exact.value)) };
}

/**
 * @param {number} low
 * @param {number} high
 * @param {boolean} whole
 * @returns {Range}
 */
function plain(low, high, whole) {
  const step = whole ? 1 : Math.max(10 ** Math.floor(Math.log10(Math.max(high - low, 1e-9)) - 2), 1e-6);
  return { low, high, step, start: whole ? low : low + Math.round((high - low) / 2 / step) * step };
}

/**
 * A field for each value by name. Agents have their people's names.
 * @param {HTMLElement} label
 * @param {Record<string, Schema>} properties
 * @param {View} view
 * @returns {Field}
 */
function members(label, properties, view) {
  const all = Object.entries(properties);
  const parts = all.map(([name, schema], i) => {
    return { name, ...field(nameOf(view, name), schema, true, share(schema, i, all.length), view) };
  });
  const sum = all[0]?.[1].maximum;
  const shares = all.every(([name, schema]) => schema.maximum === sum && view.seats.some((one) => one.agent_id === name));
  if (shares && sum !== undefined) together(parts, sum);
  return {
    node: el("div", { class: "field" }, label, ...parts.map((one) => one.node)),
    value: () => Object.fromEntries(parts.map((one) => [one.name, one.value()])),
  };
}

/**
 * Numbers by name begin as equal parts of the most, which they may have to sum to; the last one takes the rest.
 * @param {Schema} schema
 * @param {number} i
 * @param {number} count
 * @returns {Range | null}
 */
function share({ minimum: min, maximum: max, ...schema }, i, count) {
  if (kind(schema) !== "number" || min === undefined || max === undefined) return null;
  const range = plain(min, max, false);
  const part = Math.floor(max / count / range.step) * range.step;
  return { ...range, start: i < count - 1 ? part : max - part * (count - 1) };
}

/**
 * Let fields keep their sum: where one is changed, the others share the rest as they did before.
 * @param {Field[]} parts
 * @param {number} sum
 */
function together(parts, sum) {
  const fields = parts.map((one) => /** @type {HTMLInputElement} */ (one.node.querySelector("[type=number]")));
  let changing = false;
  for (const one of parts) {
    const own = fields[parts.indexOf(one)];
    one.node.addEventListener("input", () => {
      if (changing || own === undefined) return;
      const others = fields.filter((field) => field !== own);
      const before = others.reduce((total, field) => total + Number(field.value), 0);
      let rest = Math.max(0, Math.round(100 * (sum - Number(own.value))) / 100);
      changing = true; // a slider follows its field
      others.forEach((field, i) => {
        const left = others.length - i;
        const part = left === 1 ? rest : Math.round(100 * rest * (before ? Number(field.value) / before : 1 / left)) / 100;
        field.value = String(Math.round(100 * Math.min(rest, part)) / 100);
        rest -= Number(field.value);
        field.dispatchEvent(new Event("input", { bubbles: true }));
      });
      changing = false;
    });
  }
}

/**
 * What no field is made for is written as JSON.
 * @param {HTMLElement} label
 * @param {boolean} required
 * @returns {Field}
 */
function json(label, required) {
  const area = el("textarea", { rows: 3, required, spellcheck: "false", placeholder: "JSON" });
  const check = () => {
    try {
      if (area.value) JSON.parse(area.value);
      area.setCustomValidity("");
    } catch (error) {
      area.setCustomValidity(String(error));
    }
  };
  area.addEventListener("input", check);
  return {
    node: el("label", { class: "field" }, label, area),
    value: () => (area.value ? JSON.parse(area.value) : undefined),
  };
}
