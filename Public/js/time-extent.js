// @ts-check
// The first and the last instant with pictures of some layers. The server refuses requests for other instants.
import { instantOf } from "./format.js";
import { getJSON, now } from "./server.js";

const CACHE_MILLISECONDS = 60_000;
/** @typedef {{ since: number, response: Promise<Billow.TileJSON> }} Entry */
/** @type {Map<string, Entry>} */
const cache = new Map();

/** The first and the last instant of some layers together; null if unknown.
 * @param {string} layers  separated by commas
 * @returns {Promise<[first: number, last: number] | null>} */
export async function extentOf(layers) {
    let entry = cache.get(layers);
    if (!entry || now() - entry.since > CACHE_MILLISECONDS) {
        entry = { since: now(), response: getJSON(`tiles/${layers}.json`) };
        cache.set(layers, entry);
    }
    try {
        const [first = null, last = null] = (await entry.response).time?.extent?.map(instantOf) ?? [];
        return first === null || last === null ? null : [first, last];
    } catch {
        cache.delete(layers);
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
