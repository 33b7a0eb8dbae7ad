// @ts-check
// Records whether the server is reachable. Every request reports its outcome, so that the page reacts at once.

/** `since` is the time of the server's last response, by its clock. `problem` is the reason if contact is lost. */
export const contact = {
    /** @type {number | null} */
    since: null,
    /** @type {string | null} */
    problem: null,
};

/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls back when contact is lost or restored.
 * @param {() => void} listener */
export function onContact(listener) {
    listeners.add(listener);
}

/** The server answered.
 * @param {number} instant  by its clock */
export function recordResponse(instant) {
    contact.since = instant;
    setProblem(null);
}

/** The server gave no response.
 * @param {string} reason */
export function recordNoResponse(reason) {
    // Some responses are saved on the device and others are not, so the more detailed reason stays.
    if (!contact.problem?.startsWith(reason)) setProblem(reason);
}

/** @param {string | null} problem */
function setProblem(problem) {
    if (contact.problem === problem) return;
    contact.problem = problem;
    for (const listener of listeners) listener();
}
