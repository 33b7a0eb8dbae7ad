// @ts-check
// Records whether the server is reachable. Every request reports its outcome, so that the page reacts at once.

/** `since` is the time of the server's last response, by its clock. `problem` is the reason if contact is lost.
 * `isSilent` is true while the server is silent and the page checks contact. */
export const contact = {
    /** @type {number | null} */
    since: null,
    /** @type {string | null} */
    problem: null,
    isSilent: false,
};
/** The time of the last response by the page's own clock, which no response changes. */
export let respondedAt = -Infinity;
/** Whether silence was the only sign of lost contact. Then a line of the events is a sign of contact. */
let isLostBySilence = false;

/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls back when contact is lost or restored, or when a silence begins or ends.
 * @param {() => void} listener */
export function onContact(listener) {
    listeners.add(listener);
}

/** The server answered.
 * @param {number} instant  by its clock */
export function recordResponse(instant) {
    contact.since = instant;
    respondedAt = performance.now();
    isLostBySilence = false;
    setProblem(null, false);
}

/** The page has sent its first requests. Without a response in time, the server is silent. Saved data is none.
 * @param {number} milliseconds */
export function expectResponse(milliseconds) {
    const sentAt = performance.now();
    setTimeout(() => {
        if (respondedAt < sentAt) recordLostBySilence("the server is silent");
    }, milliseconds);
}

/** A line of the events arrived. While requests fail, it does not mean contact: they are what the page needs.
 * @param {number} instant  by the server's clock */
export function recordLine(instant) {
    if (contact.problem === null || isLostBySilence) recordResponse(instant);
}

/** The events are silent, and the server has not answered a check so far. */
export function recordSilence() {
    setProblem(contact.problem, true);
}

/** The events are silent, and the server did not answer a check.
 * @param {string} reason */
export function recordLostBySilence(reason) {
    if (contact.problem !== null) return;
    isLostBySilence = true;
    setProblem(reason, false);
}

/** The server gave no response.
 * @param {string} reason */
export function recordNoResponse(reason) {
    // Some responses are saved on the device and others are not, so the more detailed reason stays.
    isLostBySilence = false;
    if (!contact.problem?.startsWith(reason)) setProblem(reason, false);
}

/** @param {string | null} problem
 * @param {boolean} isSilent */
function setProblem(problem, isSilent) {
    if (contact.problem === problem && contact.isSilent === isSilent) return;
    Object.assign(contact, { problem, isSilent });
    for (const listener of listeners) listener();
}
