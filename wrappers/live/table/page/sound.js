/** Short tones: off until a person turns them on. They are made by the browser; there are no files. */

import { byId } from "./dom.js";

/** @import { View } from "./types.d.ts" */

const KEPT = "parlour.sound";
const LENGTH = 0.14; // seconds of a tone
/** The tones of an event, in hertz. */
const TONES = { turn: [660, 880], late: [440, 440], message: [520], over: [660, 550, 440] };

const button = byId("sound", HTMLButtonElement);
/** @type {AudioContext | null} */
let audio = null;
/** What the page showed last. @type {{ turn: string, messages: number, status: string } | null} */
let before = null;
let warned = ""; // the turn for which the end of the time was told

function on() {
  return localStorage.getItem(KEPT) === "on";
}

function showSwitch() {
  button.setAttribute("aria-pressed", String(on()));
  button.title = on() ? "Sound is on" : "Sound is off";
}

/** @param {keyof typeof TONES} event */
function play(event) {
  // Browsers let a page sound only after a click or a key.
  if (!on() || !navigator.userActivation.hasBeenActive) return;
  audio ??= new AudioContext();
  const start = audio.currentTime;
  for (const [i, pitch] of TONES[event].entries()) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const begins = start + i * LENGTH;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.15, begins);
    volume.gain.exponentialRampToValueAtTime(0.001, begins + LENGTH); // without a click at the end
    tone.connect(volume).connect(audio.destination);
    tone.start(begins);
    tone.stop(begins + LENGTH);
  }
}

/**
 * Sound for what is new: the person's turn, a message of somebody else, the end of the match.
 * @param {View} view @param {boolean} mine whether it is the person's turn
 */
export function soundFor(view, mine) {
  const said = view.state?.messages ?? [];
  const now = { turn: mine ? view.turn : "", messages: said.length, status: view.status };
  const own = view.seats[view.you ?? -1]?.agent_id;
  if (before !== null) {
    if (now.status === "over" && before.status === "running") play("over");
    else if (now.turn !== "" && now.turn !== before.turn) play("turn");
    else if (now.messages > before.messages && said.at(-1)?.sender_id !== own) play("message");
  }
  before = now;
}

/** Sound once in a turn of the person when its time is nearly over. @param {string} turn */
export function soundLate(turn) {
  if (turn !== "" && turn !== warned) play("late");
  warned = turn;
}

button.addEventListener("click", () => {
  localStorage.setItem(KEPT, on() ? "off" : "on");
  showSwitch();
  play("message");
});
showSwitch();
