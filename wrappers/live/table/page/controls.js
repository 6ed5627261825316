/** Buttons, sliders and fields made of the JSON schemas of what is allowed: every TurnState game can be played. */

import { el, number } from "./dom.js";

/** @import { Action, AllowedAction, GamePage, Range, Schema, View } from "./types.d.ts" */

/**
 * A form that plays an action.
 * @param {AllowedAction} allowed
 * @param {number} key the digit that presses its button
 * @param {View} view
 * @param {GamePage} game
 * @param {(action: Action) => void} act
 * @returns {HTMLFormElement}
 */
export function control(allowed, key, view, game, act) {
  const fields = Object.entries(allowed.payload_schema.properties ?? {}).map(([name, schema]) => {
    const required = allowed.payload_schema.required?.includes(name) ?? false;
    return { name, ...field(name, schema, required, game.range?.(allowed, name, view) ?? null) };
  });
  const label = game.label?.(allowed, view) ?? allowed.action_type.replaceAll("_", " ");
  const button = el("button", { type: "submit", "data-key": key, "data-action": allowed.action_type }, label);
  if (key <= 9) button.append(" ", el("kbd", { "aria-hidden": "true" }, String(key)));
  const form = el(
    "form",
    { class: fields.length ? "move wide" : "move", title: allowed.description },
    ...fields.map((one) => one.node),
    button,
  );
  if (fields.length && allowed.description) form.append(el("small", {}, allowed.description));
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
 * @param {string} name
 * @param {Schema} schema
 * @param {boolean} required
 * @param {Range | null} range
 * @returns {Field}
 */
function field(name, schema, required, range) {
  const label = el("span", {}, name.replaceAll("_", " "));
  if (schema.enum !== undefined) return choice(label, schema.enum, required);
  switch (schema.type) {
    case "integer":
    case "number":
      return numeric(label, schema, required, range);
    case "boolean": {
      const box = el("input", { type: "checkbox" });
      return { node: el("label", { class: "field" }, label, box), value: () => box.checked };
    }
    case "string": {
      const input = el("input", { required, minlength: schema.minLength, maxlength: schema.maxLength });
      return {
        node: el("label", { class: "field" }, label, input),
        value: () => input.value || (required ? "" : undefined),
      };
    }
    default:
      return json(label, required);
  }
}

/**
 * @param {HTMLElement} label
 * @param {(string | number)[]} values
 * @param {boolean} required
 * @returns {Field}
 */
function choice(label, values, required) {
  const options = values.map((value, index) => el("option", { value: index }, String(value)));
  const select = el("select", {}, ...(required ? [] : [el("option", { value: "" }, "—")]), ...options);
  return {
    node: el("label", { class: "field" }, label, select),
    value: () => (select.value === "" ? undefined : values[Number(select.value)]),
  };
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
  const whole = schema.type === "integer";
  const { minimum: min, maximum: max } = schema;
  const exact = el("input", { type: "number", min, max, step: whole ? 1 : "any", required, inputmode: "decimal" });
  const node = el("div", { class: "field" }, el("label", {}, label, exact));
  if (range === null && min !== undefined && max !== undefined) range = plain(min, max, whole);
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
        const button = el("button", { type: "button", class: "preset" }, preset.label);
        button.addEventListener("click", () => (slider.value = exact.value = String(preset.value)));
        return button;
      });
      node.append(el("div", { class: "presets" }, ...buttons));
    }
    node.append(el("small", { class: "bounds" }, `${number(min ?? low)} to ${number(max ?? high)}`));
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
