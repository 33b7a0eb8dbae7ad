// @ts-check
// Whether the server can be reached. Every request says what came of it, so that the page knows at once.

/** When the server last answered, by its clock, and why it doesn't now. */
export const contact = {
    /** @type {number | null} */
    since: null,
    /** @type {string | null} */
    problem: null,
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls back when contact is lost or there again.
 * @param {() => void} listener */
export function onContact(listener) {
    listeners.add(listener);
}

/** The server answered.
 * @param {number} instant  by its clock */
export function noteAnswer(instant) {
    contact.since = instant;
    change(null);
}

/** The server gave no answer.
 * @param {string} reason */
export function noteSilence(reason) {
    change(reason);
}

/** @param {string | null} problem */
function change(problem) {
    if (contact.problem === problem) return;
    contact.problem = problem;
    for (const listener of listeners) listener();
}
