// @ts-check

import { button, byId, el, svg } from "./dom.js";
import { keepLegible } from "./legible.js";

/**
 * One decision, or the end of a match. What is missing is not known.
 * @typedef {{ agent?: string, action?: string, said?: string[], think?: string, chances?: [string, number][],
 *   value?: number, note?: string }} Moment
 *
 * Sent when, by whom, what, privately or not, and who can read it.
 * @typedef {[moment: number, sender: string, content: string, secret: 0 | 1, readers: string[]]} Message
 *
 * What the file holds. `frames[v]` is the film of view v: for every moment the number of lines of its picture (−1: it
 * has none), how many of them have changed, and for each of these its place and its number in `lines`.
 * `results` is what each player won in each match, in its unit of `units`, where the log tells it. `about` says how the page was made, and
 * `details` how each match was. If each match has a page of its own, these pages have a `place`: the number of the match,
 * from 0, and how many there are; and the page of all matches has `ends`: how each of them ended.
 * @typedef {{ title: string, note: string, views: string[], lines: string[], frames: number[][], moments: Moment[],
 *   messages: Message[], matches: [number: number, first: number, title: string][],
 *   results: Record<string, number>[], units: string[], about: Record<string, string>, details: Record<string, string>[],
 *   place?: [number: number, of: number], ends?: string[] }} Replay
 */

const ALL = "all";
const SEPARATOR = " · "; // of the parts of a title
const SPEEDS = [1, 2, 4, 10, 30];
const COLOURS = ["#3b76b5", "#d9534f", "#2c8a5a", "#e8a317", "#8a4a9e", "#20262e", "#1aa0a8", "#b5651d", "#c2559b", "#7a8a2b"];

/** @type {Replay} */
const replay = {
  ...{ note: "", views: [], lines: [], frames: [], moments: [], messages: [], details: [] },
  ...JSON.parse(/** @type {HTMLElement} */ (document.getElementById("replay")).textContent || ""),
};

const stage = byId("stage", HTMLElement);
const slider = byId("slider", HTMLInputElement);
const match = byId("match", HTMLSelectElement);
const speed = byId("speed", HTMLSelectElement);
const play = byId("play", HTMLButtonElement);

let now = 0;
let view = replay.views[0];
/** @type {number | undefined} */
let playing;

/** @type {Map<string, (Int32Array | null)[]>} */
const films = new Map();

/** Every picture of a view, as numbers of its lines. @param {string} name */
function film(name) {
  let pictures = films.get(name);
  if (pictures === undefined) {
    pictures = [];
    const stream = replay.frames[replay.views.indexOf(name)];
    let lines = new Int32Array(0);
    for (let i = 0; i < stream.length; ) {
      const count = stream[i++];
      if (count < 0) {
        pictures.push(null);
        continue;
      }
      const changed = stream[i++];
      if (changed > 0 || count !== lines.length) {
        const next = new Int32Array(count);
        next.set(lines.subarray(0, count));
        for (let k = 0; k < changed; k++) next[stream[i++]] = stream[i++];
        lines = next;
      }
      pictures.push(lines);
    }
    films.set(name, pictures);
  }
  return pictures;
}

/** The match that a moment belongs to, by its place in the list. @param {number} moment */
function matchOf(moment) {
  let low = 0;
  let high = replay.matches.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (replay.matches[middle][1] <= moment) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The view that is shown of a moment: the chosen one, or the first that there is. @param {number} moment */
function viewAt(moment) {
  if (film(view)[moment]) return view;
  return replay.views.find((name) => film(name)[moment]) ?? view;
}

/** @param {number} value */
function signed(value) {
  const text = Math.abs(Number(value.toFixed(2))).toLocaleString("en");
  return value > 0 ? `+${text}` : value < 0 ? `−${text}` : text;
}

/** The last moment of a match. @param {number} place */
function endOf(place) {
  return (place + 1 < replay.matches.length ? replay.matches[place + 1][1] : replay.moments.length) - 1;
}

/** Draw what each player has won up to each match. Matches with different units have no sum. */
function drawResults() {
  const chart = /** @type {SVGElement} */ (/** @type {unknown} */ (document.getElementById("chart")));
  const width = chart.clientWidth;
  chart.replaceChildren();
  byId("legend", HTMLElement).replaceChildren();
  const units = new Set(replay.units.filter((_, place) => Object.keys(replay.results[place]).length));
  const names = units.size > 1 ? [] : [...new Set(replay.results.flatMap((result) => Object.keys(result)))];
  const sums = names.map((name) => {
    let sum = 0;
    return [0, ...replay.results.map((result) => (sum += result[name] ?? 0))];
  });
  byId("sums", HTMLElement).textContent = names.length ? `What each player has won, in ${[...units]}, summed up match by match.` : "";
  const all = sums.flat();
  const high = all.reduce((one, other) => Math.max(one, other), 0);
  const low = all.reduce((one, other) => Math.min(one, other), 0);
  chart.style.display = high > low ? "" : "none";
  /** @param {number} place @param {number} sum */
  const at = (place, sum) => [70 + ((width - 80) * place) / replay.matches.length, 225 - (210 * (sum - low)) / (high - low || 1)];
  for (const level of new Set([low, 0, high])) {
    const y = at(0, level)[1];
    chart.append(svg("line", { x1: 70, x2: width - 10, y1: y, y2: y }));
    chart.append(svg("text", { x: 64, y: y + 4, "text-anchor": "end" }, signed(level)));
  }
  sums.forEach((line, i) => {
    const points = line.map((sum, place) => at(place, sum).map((part) => part.toFixed(1)).join(","));
    chart.append(svg("polyline", { points: points.join(" "), stroke: COLOURS[i % COLOURS.length] }));
    const mark = el("i");
    mark.style.background = COLOURS[i % COLOURS.length];
    byId("legend", HTMLElement).append(el("span", {}, mark, `${names[i]} ${signed(line[line.length - 1])}`));
  });
}

/** Who has won or lost what in a match, as text. @param {number} place */
function wonIn(place) {
  const won = Object.entries(replay.results[place]).filter(([, sum]) => sum !== 0);
  won.sort((one, other) => other[1] - one[1]);
  return won.length ? `${won.map(([name, sum]) => `${name} ${signed(sum)}`).join(", ")} ${replay.units[place]}` : "";
}

/** The parts that are the same in all titles, such as a table's number; they say nothing. */
const SAME = (replay.matches[0]?.[2] ?? "")
  .split(SEPARATOR)
  .filter((part) => replay.matches.every(([, , title]) => title.split(SEPARATOR).includes(part)));

/** What a match is called. @param {number} number @param {string} title */
function label(number, title) {
  const own = title.split(SEPARATOR).filter((part) => !SAME.includes(part));
  return own.length ? `${number + 1}: ${own.join(SEPARATOR)}` : `Match ${number + 1}`;
}

/** The row of a match in the overview. @param {[number, number, string]} match @param {number} place */
function matchRow([number, first, title], place) {
  const open = button(label(number, title), undefined, () => (replay.ends ? location.assign(String(number)) : go(first)));
  const end = replay.moments[endOf(place)];
  const note = replay.ends ? replay.ends[place] : end.agent === undefined ? end.note ?? "" : "";
  return el("tr", {}, el("td", {}, open), el("td", {}, wonIn(place)), el("td", {}, note));
}

function overview() {
  if (replay.place) return location.assign(".");
  if (replay.matches.length < 2 && !replay.ends) return;
  pause();
  const rows = byId("matches", HTMLElement);
  if (rows.childElementCount === 0) rows.append(...replay.matches.map(matchRow));
  byId("ends", HTMLElement).hidden = [...rows.children].every((row) => row.lastElementChild?.textContent === "");
  document.body.classList.add("overview");
  drawResults();
  showAbout(replay.about);
}

/** List facts below the page. @param {Record<string, string>} facts */
function showAbout(facts) {
  const entries = Object.entries(facts).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  document.querySelector("#about dl")?.replaceChildren(...entries);
  byId("about", HTMLElement).hidden = entries.length === 0;
}

function show() {
  const shown = viewAt(now);
  const picture = film(shown)[now];
  stage.innerHTML = picture ? Array.from(picture, (line) => replay.lines[line]).join("\n") : "";
  keepLegible(stage.firstElementChild);
  const place = matchOf(now);
  slider.value = String(now);
  match.value = String(place);
  const [, first] = replay.matches[place];
  byId("place", HTMLOutputElement).value = `${now - first + 1} of ${endOf(place) + 1 - first}`;
  showAbout({ ...replay.about, ...replay.details[place] });
  showDecision(shown);
  showMessages(shown, first);
  for (const tab of byId("views", HTMLElement).querySelectorAll("button")) {
    tab.setAttribute("aria-selected", String(tab.dataset.view === shown));
    tab.hidden = !film(tab.dataset.view ?? ALL)[now];
  }
}

/** What is decided: for the eyes of the one who decides and of those who see everything. @param {string} shown */
function showDecision(shown) {
  const moment = replay.moments[now];
  const open = moment.agent === undefined || shown === ALL || shown === moment.agent;
  const told = open ? moment : {};
  byId("who", HTMLElement).textContent = told.agent ? `${told.agent}: ${told.action}` : open ? "The end" : "Another decides";
  byId("note", HTMLElement).textContent = told.note ?? (open && told.agent === undefined ? wonIn(matchOf(now)) : "");
  byId("value", HTMLElement).textContent =
    told.value === undefined ? "" : `expects ${told.value > 0 ? "+" : ""}${told.value.toLocaleString("en")}`;
  byId("said", HTMLElement).textContent = (told.said ?? []).join("\n");
  byId("think", HTMLElement).textContent = told.think ?? "";
  const chances = [...(told.chances ?? [])].sort((one, other) => other[1] - one[1]);
  const likely = chances.slice(0, 12);
  const chosen = chances.slice(12).find(([action]) => action === told.action);
  if (chosen) likely[11] = chosen;
  const rows = likely.map(([action, chance]) => {
    const bar = el("i");
    bar.style.width = `${100 * chance}%`;
    return chanceRow(action, chance, action === told.action ? "chosen" : null, bar);
  });
  if (chances.length > rows.length) {
    const rest = chances.filter((one) => !likely.includes(one)).reduce((sum, [, chance]) => sum + chance, 0);
    rows.push(chanceRow(`${chances.length - rows.length} others`, rest));
  }
  byId("chances", HTMLElement).replaceChildren(...rows);
}

/** @param {string} action @param {number} chance @param {string | null} [style] @param {HTMLElement[]} bar */
function chanceRow(action, chance, style = null, ...bar) {
  const share = el("td", { class: "share" }, `${(100 * chance).toFixed(1)} %`);
  return el("tr", { class: style }, el("td", {}, action), el("td", { class: "bar" }, ...bar), share);
}

/** What the view can read of the match so far. @param {string} shown @param {number} first */
function showMessages(shown, first) {
  const heard = replay.messages.filter(
    ([moment, , , , readers]) => moment >= first && moment <= now && (shown === ALL || readers.includes(shown)),
  );
  const list = byId("messages", HTMLElement);
  list.replaceChildren(
    ...heard.slice(-200).map(([, sender, content, secret]) => {
      const name = el("b", {}, secret ? `${sender} (privately)` : sender);
      return el("li", { class: secret ? "private" : null }, name, content);
    }),
  );
  byId("talk", HTMLElement).hidden = heard.length === 0;
  const section = byId("talk", HTMLElement);
  section.scrollTop = section.scrollHeight;
}

/** @param {number} moment */
function go(moment) {
  document.body.classList.remove("overview");
  now = Math.max(0, Math.min(replay.moments.length - 1, moment));
  show();
}

/** @param {number} by */
function goMatch(by) {
  if (replay.place) {
    const [number, of] = replay.place;
    if (number + by >= 0 && number + by < of) location.assign(String(number + by));
    return;
  }
  const place = Math.max(0, Math.min(replay.matches.length - 1, matchOf(now) + by));
  go(replay.matches[place][1]);
}

function pause() {
  clearInterval(playing);
  playing = undefined;
  play.textContent = "Play";
}

function toggle() {
  if (playing !== undefined) return pause();
  if (now === replay.moments.length - 1) go(0);
  play.textContent = "Pause";
  playing = setInterval(() => {
    go(now + 1);
    if (now === replay.moments.length - 1) pause();
  }, 1000 / Number(speed.value));
}

/** @param {string} name */
function look(name) {
  view = name;
  show();
}

/** @type {Record<string, () => void>} */
const KEYS = {
  ArrowLeft: () => go(now - 1),
  ArrowRight: () => go(now + 1),
  Home: () => go(0),
  End: () => go(replay.moments.length - 1),
  PageUp: () => goMatch(-1),
  PageDown: () => goMatch(1),
  " ": toggle,
  Escape: overview,
};

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target instanceof HTMLSelectElement) return;
  if (event.key === " " && event.target instanceof HTMLButtonElement) return; // presses that button
  if (document.body.classList.contains("overview")) return; // its keys scroll, and press buttons
  const players = replay.views.filter((name) => name !== ALL && film(name)[now]);
  const wanted = event.key === "0" ? ALL : players[Number(event.key) - 1];
  if (KEYS[event.key]) KEYS[event.key]();
  else if (/^[0-9]$/.test(event.key) && wanted && replay.views.includes(wanted)) look(wanted);
  else return;
  event.preventDefault();
});

// A button that was clicked keeps no focus: space is for playing. One that was pressed by a key does (detail is 0).
document.addEventListener("click", (event) => {
  if (event.detail > 0 && document.activeElement instanceof HTMLButtonElement) document.activeElement.blur();
});

byId("title", HTMLElement).textContent = replay.title;
for (const name of replay.views) {
  const attributes = { role: "tab", "data-view": name };
  byId("views", HTMLElement).append(button(name === ALL ? "everything" : name, undefined, () => look(name), attributes));
}
replay.matches.forEach(([number, , title], place) => match.add(new Option(label(number, title), String(place))));
match.hidden = replay.matches.length < 2;
match.addEventListener("change", () => go(replay.matches[Number(match.value)][1]));
for (const rate of SPEEDS) speed.add(new Option(`${rate} a second`, String(rate), rate === 2, rate === 2));
speed.addEventListener("change", () => {
  if (playing !== undefined) {
    pause();
    toggle();
  }
});
slider.max = String(replay.moments.length - 1);
slider.addEventListener("input", () => go(Number(slider.value)));
byId("first", HTMLElement).addEventListener("click", () => go(0));
byId("back", HTMLElement).addEventListener("click", () => go(now - 1));
byId("forth", HTMLElement).addEventListener("click", () => go(now + 1));
byId("last", HTMLElement).addEventListener("click", () => go(replay.moments.length - 1));
play.addEventListener("click", toggle);
byId("left", HTMLElement).textContent = replay.note;
byId("all", HTMLElement).hidden = replay.matches.length < 2 && !replay.place;
byId("all", HTMLElement).addEventListener("click", overview);
addEventListener("resize", () => document.body.classList.contains("overview") && drawResults());
if (replay.moments.length > 0) show();
if (!replay.place) overview();
