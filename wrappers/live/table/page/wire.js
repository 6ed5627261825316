/** How pages ask their server. */

const WAITS = [250, 500, 1000, 2000, 4000]; // after each failure in a row, and then always the last

/** How long to wait before the next try. @param {number} failures in a row */
export function waitAfter(failures) {
  return WAITS[Math.min(failures, WAITS.length - 1)];
}

/**
 * Ask until there is an answer.
 * @template Answer @param {() => Promise<Answer>} ask throws without one
 * @param {() => void} lost is called whenever it throws @returns {Promise<Answer>}
 */
export async function untilAnswered(ask, lost) {
  for (let failures = 0; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      console.warn(error); // it may be a fault in the page's own script
      lost();
      await new Promise((resolve) => window.setTimeout(resolve, waitAfter(failures)));
    }
  }
}

/** What the server says of itself. */
export async function askFacts() {
  const reply = await fetch("facts.json");
  if (!reply.ok) throw new Error(reply.statusText);
  return reply.json();
}

/** The key to the table, if the link holds one: what stands behind the # never travels by itself. */
export function accessToken() {
  return location.hash.length > 1 ? decodeURIComponent(location.hash.slice(1)) : null;
}

/** Shown while the server does not answer. */
export const UNREACHABLE = "The server cannot be reached.";
