// @ts-check
// The first and the last instant with pictures of some layers. The server refuses requests for other instants.
import { instantOf } from "./format.js";
import { getJSON, now } from "./server.js";

const KEPT_MILLISECONDS = 60_000;
/** @typedef {{ since: number, answer: Promise<Billow.TileJSON> }} Known */
/** @type {Map<string, Known>} */
const known = new Map();

/** The first and the last instant of some layers together; null if unknown.
 * @param {string} layers  separated by commas
 * @returns {Promise<[first: number, last: number] | null>} */
export async function extentOf(layers) {
    let found = known.get(layers);
    if (!found || now() - found.since > KEPT_MILLISECONDS) {
        found = { since: now(), answer: getJSON(`tiles/${layers}.json`) };
        known.set(layers, found);
    }
    try {
        const [first = null, last = null] = (await found.answer).time?.extent?.map(instantOf) ?? [];
        return first === null || last === null ? null : [first, last];
    } catch {
        known.delete(layers);
        return null;
    }
}

/** Whether some layers have no picture at an instant. Null is live, which always has one.
 * @param {string} layers
 * @param {number | null} time */
export async function isOutside(layers, time) {
    if (time === null) return false;
    const extent = await extentOf(layers);
    return extent !== null && (time < extent[0] || time > extent[1]);
}
