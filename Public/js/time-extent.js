// @ts-check
// The first and the last instant with pictures of some layers. The server refuses requests for other instants.
import { dateTime, instantOf } from "./format.js";
import { isField, LAYERS } from "./layers.js";
import { getJSON, now } from "./server.js";

const CACHE_MILLISECONDS = 60_000;
/** @typedef {{ since: number, response: Promise<Billow.TileJSON> }} Entry */
/** @type {Map<string, Entry>} */
const cache = new Map();

/** The first and the last instant of some layers together; null if unknown.
 * @param {string} layers  separated by commas
 * @param {number} [maxAge]  the greatest age of a response in milliseconds
 * @returns {Promise<[first: number, last: number] | null>} */
export async function extentOf(layers, maxAge = CACHE_MILLISECONDS) {
    let entry = cache.get(layers);
    if (!entry || now() - entry.since > maxAge) {
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

/** Whether some layers have pictures until now, whenever their extent was read. Only fields end.
 * @param {string} layers */
const reachNow = (layers) => layers.split(",").some((id) => !isField(id) && LAYERS.some((known) => known.id === id));

/** Whether an instant lies outside an extent of some layers. Null is live, which always has a picture.
 * @param {string} layers
 * @param {[first: number, last: number] | null} extent  from `extentOf`
 * @param {number | null} time */
export function isBeyond(layers, extent, time) {
    if (time === null || extent === null) return false;
    const last = reachNow(layers) ? Math.max(extent[1], now()) : extent[1];
    return time < extent[0] || time > last;
}

/** Whether some layers have no picture at an instant. Null is live, which always has one.
 * @param {string} layers
 * @param {number | null} time */
export async function isOutside(layers, time) {
    return time !== null && isBeyond(layers, await extentOf(layers), time);
}

/** Says why some layers have no picture at an instant. A server's own words have times of machines.
 * @param {string} layers
 * @param {number} time */
export async function outsideText(layers, time) {
    const [first, last] = await extentOf(layers) ?? [];
    const nothing = `Nothing is stored for ${dateTime(time)}`;
    if (first !== undefined && time < first) return `${nothing}. The data begins at ${dateTime(first)}.`;
    if (time <= now()) return `${nothing}.`;
    const end = last !== undefined && last > now() ? `Forecasts end at ${dateTime(last)}.` : "There is no forecast.";
    return `${nothing} yet. ${end}`;
}
