/** Who uses this browser in a lobby: the name, the token that proves it, and the key of a lobby that has one. */

const PERSON = "parlour.person";
const NEXT = "parlour.token";
const KEY = "parlour.key";

/** @typedef {{ name: string, token: string }} Person */

/** @returns {Person | null} */
export function person() {
  return JSON.parse(localStorage.getItem(PERSON) ?? "null");
}

/** A secret that nobody guesses. */
export function newToken() {
  const random = crypto.getRandomValues(new Uint8Array(24));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The token of the name that this browser asks for: the same until there is an answer. */
export function nextToken() {
  const token = localStorage.getItem(NEXT) ?? newToken();
  localStorage.setItem(NEXT, token);
  return token;
}

/** @param {Person | null} found */
export function keepPerson(found) {
  localStorage.removeItem(NEXT);
  if (found === null) localStorage.removeItem(PERSON);
  else localStorage.setItem(PERSON, JSON.stringify(found));
}

/** The lobby's key: from the link, which is kept, or an earlier one. */
export function lobbyKey() {
  if (location.hash.length > 1) localStorage.setItem(KEY, decodeURIComponent(location.hash.slice(1)));
  return localStorage.getItem(KEY);
}

/** The part of a link that holds the key. */
export function keyPart() {
  const key = lobbyKey();
  return key === null ? "" : `#${encodeURIComponent(key)}`;
}
